//! rmcp's client answers requests of our server: as requests before 2026-07-28,
//! as inputs since then.

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, GetPromptRequestParams, ReadResourceRequestParams,
    ResourceContents,
};
use serde_json::json;
use sparring_wire::Revision;

use super::their_client_fixture::{RmcpClient, text_of};
use super::within;

#[tokio::test]
async fn rmcp_answers_requests_of_our_server_in_every_revision() {
    for revision in Revision::ALL {
        let peer = RmcpClient::in_revision(revision).await;
        let answer = peer.call("ask", json!({})).await.unwrap();
        // Elicitation came with 2025-06-18.
        let name = if revision >= Revision::V2025_06_18 { "Ferris" } else { "nobody" };
        assert_eq!(text_of(&answer), format!("file:///home 1 of Paris {name}"), "{revision}");
        let requests = ["roots/list", "sampling/createMessage", "elicitation/create"];
        let requests: usize = requests.iter().map(|method| peer.sent_count(method)).sum();
        let expected = match revision {
            Revision::V2024_11_05 | Revision::V2025_03_26 => 2,
            Revision::V2025_06_18 | Revision::V2025_11_25 => 3,
            // A modern server sends no requests.
            Revision::V2026_07_28 => 0,
        };
        assert_eq!(requests, expected, "{revision}");
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_gives_input_to_prompts_and_resources_of_our_server() {
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25, Revision::V2026_07_28] {
        let peer = RmcpClient::in_revision(revision).await;
        let prompt = within(peer.client.get_prompt(GetPromptRequestParams::new("ask"))).await;
        let text = prompt.unwrap().messages[0].content.as_text().map(|text| text.text.clone());
        assert_eq!(text.as_deref(), Some("Ferris"), "{revision}");
        let read = ReadResourceRequestParams::new("handler://ask");
        let read = within(peer.client.read_resource(read)).await.unwrap();
        let ResourceContents::TextResourceContents { text, .. } = &read.contents[0] else {
            panic!("{revision}: {read:?}")
        };
        assert_eq!(text, "Ferris", "{revision}");
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_sees_each_round_of_our_server() {
    let peer = RmcpClient::in_revision(Revision::V2026_07_28).await;
    let mut params = CallToolRequestParams::new("ask");
    let answers = [
        ("roots", json!({"roots": [{"uri": "file:///a"}]})),
        (
            "sample",
            json!({"role": "assistant", "model": "m", "content": {"type": "text", "text": "b"}}),
        ),
        ("who", json!({"action": "accept", "content": {"name": "c"}})),
    ];
    for (key, answer) in answers {
        let response = within(peer.client.call_tool_once(params.clone())).await.unwrap();
        let CallToolResponse::InputRequired(input) = response else {
            panic!("{key}: {response:?}")
        };
        let requests = input.input_requests.expect("questions");
        assert_eq!(requests.keys().collect::<Vec<_>>(), [key]);
        params.request_state = input.request_state;
        params.input_responses = Some([(key.to_owned(), answer)].into());
    }
    let response = within(peer.client.call_tool_once(params)).await.unwrap();
    let CallToolResponse::Complete(result) = response else { panic!("{response:?}") };
    assert_eq!(text_of(&result), "file:///a b c");
    peer.end().await;
}
