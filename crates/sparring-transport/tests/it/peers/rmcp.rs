//! Our client on a server made with the official Rust SDK, which speaks all
//! revisions. `sparring-peer` tests more of it, without a process.

use serde_json::json;
use sparring_transport::ChildTarget;
use sparring_wire::Revision;

use super::peer::Peer;
use super::place;
use super::visit::{Visit, finds, within};

async fn peers() -> Vec<Peer> {
    let target = ChildTarget::new(place::example("rmcp_server"));
    vec![Peer::http(target.clone().args(["{port}"])).await, Peer::Stdio(target)]
}

#[tokio::test]
async fn our_client_uses_an_rmcp_server_in_every_revision() {
    for peer in peers().await {
        for revision in peer.having(Revision::ALL) {
            let visit = Visit::of(&peer, revision).await;
            let tools: Vec<_> = visit.tools().await.into_iter().collect();
            assert_eq!(tools, ["ask", "echo", "progress"], "{revision}");
            assert_eq!(visit.resources().await, ["desk://note"], "{revision}");
            assert_eq!(visit.prompts().await, ["greet"], "{revision}");

            let echoed = visit.text("echo", json!({"message": "a\n😀"})).await;
            assert_eq!(echoed, "a\n😀", "{revision}");
            let steps = visit.progress("progress", json!({})).await;
            assert_eq!(steps, [1.0, 2.0, 3.0], "{revision}");
            let note = within(visit.client.read_resource("desk://note")).await.unwrap();
            assert_eq!(note.contents[0].text.as_deref(), Some("water the plants"), "{revision}");
            let prompt = within(visit.client.get_prompt("greet", json!({}))).await.unwrap();
            assert_eq!(prompt.messages[0].content.as_text(), Some("Say hello."), "{revision}");
            if revision >= Revision::V2025_06_18 {
                assert_eq!(visit.text("ask", json!({})).await, "hello Ferris", "{revision}");
            }

            assert_eq!(visit.call("fly", json!({})).await.error_code(), Some(-32602), "{revision}");
            visit.end().await;
        }
    }
}

#[tokio::test]
async fn our_client_finds_the_newest_revision_of_an_rmcp_server() {
    for peer in peers().await {
        finds(&peer, Revision::V2026_07_28).await.end().await;
    }
}
