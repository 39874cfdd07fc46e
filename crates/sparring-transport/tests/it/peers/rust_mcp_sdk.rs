//! The crate `rust-mcp-sdk` over HTTP+SSE, which the official Rust SDK has dropped: our client
//! against its server, and its client against ours.

use std::process::Stdio;

use serde_json::{Value, json};
use sparring_transport::ChildTarget;
use sparring_wire::Revision;
use tokio::process::Command;

use super::example_server::ExampleServer;
use super::peer::Peer;
use super::peer_connection::{PeerConnection, check_negotiates, within};
use super::their_clients::expected_results;
use super::{installed, legacy};

async fn server() -> Peer {
    Peer::sse(ChildTarget::new(installed::example("rust_mcp_sdk_server")).args(["{port}"])).await
}

#[tokio::test]
async fn our_client_uses_a_server_of_rust_mcp_sdk_in_every_revision() {
    let peer = server().await;
    for revision in legacy() {
        let connection = PeerConnection::in_revision(&peer, revision).await;
        connection.use_rust().await;
        let missing = connection.call("fly", json!({})).await;
        assert!(missing.is_error() && missing.content().contains("fly"), "{revision}");
        connection.end().await;
    }
}

#[tokio::test]
async fn our_client_finds_the_newest_revision_of_a_server_of_rust_mcp_sdk() {
    check_negotiates(&server().await, Revision::LATEST_LEGACY).await.end().await;
}

#[tokio::test]
async fn rust_mcp_sdks_client_uses_our_server_in_every_revision() {
    for revision in legacy() {
        let server = ExampleServer::with_revisions(&Revision::ALL).await;
        let mut command = Command::new(installed::example("rust_mcp_sdk_client"));
        command.args([revision.name(), &server.url("/sse")]);
        command.stdin(Stdio::null()).kill_on_drop(true);
        let output = within(command.output()).await.unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{revision}: {stderr}");
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found, expected_results(revision, "Ali"), "{revision}");
        server.close().await;
    }
}
