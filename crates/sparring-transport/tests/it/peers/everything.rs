//! Our client against npm's `server-everything`, which uses the official TypeScript SDK and
//! supports the revisions that start with `initialize`.

use serde_json::json;
use sparring_transport::ChildTarget;
use sparring_wire::Revision;

use super::peer::Peer;
use super::peer_connection::{
    NO_DISCOVERY, PeerConnection, check_negotiates, check_refuses, within,
};
use super::{installed, legacy};

fn target() -> Option<ChildTarget> {
    installed::npm("server-everything")
}

async fn peers() -> Vec<Peer> {
    let Some(target) = target() else { return Vec::new() };
    let mut behind_a_port = target.clone();
    behind_a_port.env.insert("PORT".to_owned(), "{port}".to_owned());
    vec![
        Peer::Stdio(target),
        Peer::http(behind_a_port.clone().args(["streamableHttp"])).await,
        Peer::sse(behind_a_port.args(["sse"])).await,
    ]
}

#[tokio::test]
async fn our_client_uses_server_everything_in_every_revision_it_has() {
    for peer in peers().await {
        for revision in peer.supported_revisions(legacy()) {
            let connection = PeerConnection::in_revision(&peer, revision).await;
            let tools = connection.tools().await;
            for tool in ["echo", "get-sum", "trigger-long-running-operation"] {
                assert!(tools.contains(tool), "{revision}: {tools:?}");
            }
            let sum = connection.text("get-sum", json!({"a": 2, "b": 3})).await;
            assert_eq!(sum, "The sum of 2 and 3 is 5.", "{revision}");
            let slow = json!({"duration": 0.03, "steps": 3});
            let steps = connection.progress("trigger-long-running-operation", slow).await;
            assert_eq!(steps, [1.0, 2.0, 3.0], "{revision}");
            let image = connection.call("get-tiny-image", json!({})).await;
            assert!(image.success() && image.raw().text().contains("image/png"), "{revision}");

            let wrong = connection.call("get-sum", json!({"a": "two"})).await;
            assert!(wrong.is_error() && wrong.content().contains("-32602"), "{revision}");
            let missing = within(connection.client.read_resource("demo://nowhere")).await;
            assert!(missing.unwrap_err().to_string().contains("demo://nowhere"), "{revision}");
            connection.end().await;
        }
    }
}

#[tokio::test]
async fn our_client_reads_resources_and_prompts_of_server_everything() {
    for peer in peers().await {
        for revision in peer.supported_revisions(legacy()) {
            let connection = PeerConnection::in_revision(&peer, revision).await;
            let resources = connection.resources().await;
            assert!(!resources.is_empty(), "{revision}");
            let read = within(connection.client.read_resource(&resources[0])).await.unwrap();
            assert!(read.contents[0].text.is_some(), "{revision}");
            let templates = within(connection.client.list_resource_templates()).await.unwrap();
            assert!(!templates.is_empty(), "{revision}");
            assert!(connection.prompts().await.contains(&"args-prompt".to_owned()), "{revision}");
            let prompt = connection.client.get_prompt("args-prompt", json!({"city": "Graz"}));
            let prompt = within(prompt).await.unwrap();
            let text = prompt.messages[0].content.as_text();
            assert_eq!(text, Some("What's weather in Graz?"), "{revision}");
            connection.end().await;
        }
    }
}

#[tokio::test]
async fn our_client_answers_requests_of_server_everything() {
    for peer in peers().await {
        // Elicitation came with 2025-06-18.
        for revision in peer.supported_revisions([Revision::V2025_06_18, Revision::V2025_11_25]) {
            let connection = PeerConnection::in_revision(&peer, revision).await;
            let answer = connection.text("trigger-elicitation-request", json!({})).await;
            assert!(answer.contains("- Name: Ferris"), "{revision}: {answer}");
            // Forms have single values only, up to 2025-06-18 ("Requested Schema").
            // The server shows the multiple choice of 2025-11-25 to everyone.
            let section = "2025-06-18/client/elicitation#creating-elicitation-requests";
            let field = |name| format!("$.params.requestedSchema.properties.{name}.type");
            let fields = ["untitledMultipleSelectEnum", "titledMultipleSelectEnum"].map(field);
            let wrong = fields.each_ref().map(|path| ("schema/wrong-value", &**path, section));
            let is_wrong = revision == Revision::V2025_06_18;
            connection.end_with(if is_wrong { &wrong } else { &[] }).await;
        }
    }
}

#[tokio::test]
async fn our_client_finds_the_newest_revision_of_server_everything() {
    for peer in peers().await {
        check_negotiates(&peer, Revision::V2025_11_25).await.end().await;
    }
}

#[tokio::test]
async fn our_client_reports_that_server_everything_lacks_the_latest_revision() {
    let Some(target) = target() else { return };
    check_refuses(&Peer::Stdio(target), Revision::V2026_07_28, NO_DISCOVERY).await;
}
