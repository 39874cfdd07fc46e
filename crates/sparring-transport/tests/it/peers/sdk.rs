//! Our client on a server made with the official Python SDK, which speaks all
//! revisions.

use serde_json::json;
use sparring_wire::Revision;

use super::peer::Peer;
use super::place;
use super::visit::{Visit, finds, within};

async fn peers() -> Vec<Peer> {
    let Some(target) = place::python(&[&place::script("servers/sdk.py")]) else {
        return Vec::new();
    };
    vec![
        Peer::http(target.clone().args(["streamable-http", "{port}"])).await,
        Peer::sse(target.clone().args(["sse", "{port}"])).await,
        Peer::Stdio(target),
    ]
}

#[tokio::test]
async fn our_client_uses_a_server_of_the_python_sdk_in_every_revision() {
    for peer in peers().await {
        for revision in peer.having(Revision::ALL) {
            let visit = Visit::of(&peer, revision).await;
            let tools: Vec<_> = visit.tools().await.into_iter().collect();
            assert_eq!(tools, ["add", "ask", "fail", "progress"], "{revision}");
            assert_eq!(visit.resources().await, ["desk://note"], "{revision}");
            assert_eq!(visit.prompts().await, ["greet"], "{revision}");

            assert_eq!(visit.text("add", json!({"a": 2, "b": 3})).await, "5", "{revision}");
            let steps = visit.progress("progress", json!({})).await;
            assert_eq!(steps, [1.0, 2.0, 3.0], "{revision}");
            let note = within(visit.client.read_resource("desk://note")).await.unwrap();
            assert_eq!(note.contents[0].text.as_deref(), Some("water the plants"), "{revision}");
            let prompt = within(visit.client.get_prompt("greet", json!({"tone": "low"})));
            let prompt = prompt.await.unwrap();
            let text = prompt.messages[0].content.as_text();
            assert_eq!(text, Some("Say hello in a low tone."), "{revision}");

            let failed = visit.call("fail", json!({})).await;
            assert!(failed.is_error() && failed.content().contains("no luck"), "{revision}");
            let missing = within(visit.client.read_resource("desk://z")).await.unwrap_err();
            assert!(missing.to_string().contains("desk://z"), "{revision}: {missing}");
            visit.end().await;
        }
    }
}

#[tokio::test]
async fn our_client_answers_what_a_server_of_the_python_sdk_asks() {
    for peer in peers().await {
        // Elicitation came with 2025-06-18.
        for revision in
            peer.having([Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28])
        {
            let visit = Visit::of(&peer, revision).await;
            assert_eq!(visit.text("ask", json!({})).await, "hello Ferris", "{revision}");
            visit.end().await;
        }
    }
}

#[tokio::test]
async fn our_client_finds_the_newest_revision_of_a_server_of_the_python_sdk() {
    for peer in peers().await {
        finds(&peer, Revision::V2026_07_28).await.end().await;
    }
}
