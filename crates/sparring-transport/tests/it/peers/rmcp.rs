//! Our client against a server with the official Rust SDK, which supports all revisions.
//! `sparring-peer` tests more of it, without a process.

use serde_json::json;
use sparring_transport::ChildTarget;
use sparring_wire::Revision;

use super::installed;
use super::peer::Peer;
use super::peer_connection::{PeerConnection, check_negotiates};

async fn peers() -> Vec<Peer> {
    let target = ChildTarget::new(installed::example("rmcp_server"));
    vec![Peer::http(target.clone().args(["{port}"])).await, Peer::Stdio(target)]
}

#[tokio::test]
async fn our_client_uses_an_rmcp_server_in_every_revision() {
    for peer in peers().await {
        for revision in peer.supported_revisions(Revision::ALL) {
            let connection = PeerConnection::in_revision(&peer, revision).await;
            connection.use_rust().await;
            assert_eq!(
                connection.call("fly", json!({})).await.error_code(),
                Some(-32602),
                "{revision}"
            );
            connection.end().await;
        }
    }
}

#[tokio::test]
async fn our_client_finds_the_newest_revision_of_an_rmcp_server() {
    for peer in peers().await {
        check_negotiates(&peer, Revision::V2026_07_28).await.end().await;
    }
}
