//! Our client against a server with FastMCP 4, which supports all revisions.

use serde_json::json;
use sparring_wire::Revision;

use super::peer::Peer;
use super::peer_connection::{PeerConnection, check_negotiates};

async fn peers() -> Vec<Peer> {
    Peer::python("fastmcp4.py").await
}

#[tokio::test]
async fn our_client_uses_a_fastmcp_server_in_every_revision() {
    for peer in peers().await {
        for revision in peer.supported_revisions(Revision::ALL) {
            let connection = PeerConnection::in_revision(&peer, revision).await;
            connection.use_python(&["add", "ask", "fail", "need", "progress"]).await;
            connection.end().await;
        }
    }
}

#[tokio::test]
async fn our_client_answers_requests_of_a_fastmcp_server() {
    for peer in peers().await {
        // Elicitation came with 2025-06-18.
        for revision in peer.supported_revisions([Revision::V2025_06_18, Revision::V2025_11_25]) {
            let connection = PeerConnection::in_revision(&peer, revision).await;
            assert_eq!(connection.text("ask", json!({})).await, "hello Ferris", "{revision}");
            connection.end().await;
        }
    }
}

#[tokio::test]
async fn our_client_gives_a_fastmcp_server_the_input_it_needs_in_2026_07_28() {
    for peer in peers().await {
        let connection = PeerConnection::in_revision(&peer, Revision::V2026_07_28).await;
        assert_eq!(connection.text("need", json!({})).await, "hello Ferris");
        // Servers cannot send requests to clients any more, and FastMCP reports
        // that.
        let asked = connection.call("ask", json!({})).await;
        assert!(asked.is_error(), "{}", asked.raw().text());
        connection.end().await;
    }
}

#[tokio::test]
async fn our_client_finds_the_newest_revision_of_a_fastmcp_server() {
    for peer in peers().await {
        check_negotiates(&peer, Revision::V2026_07_28).await.end().await;
    }
}
