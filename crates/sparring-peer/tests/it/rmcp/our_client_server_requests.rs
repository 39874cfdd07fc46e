//! Our client answers requests of an rmcp server: as requests before 2026-07-28,
//! as `input_required` since then.

use serde_json::json;
use sparring_peer::client::{Error, ServerRequest};
use sparring_peer::{Client, ClientBuilder};
use sparring_wire::types::Content;
use sparring_wire::{Json, Revision, Side};

use super::our_client_fixture::OurClient;
use super::their_server_requests::TRICKY;
use super::within;

const STATE: &str = "requestState";

fn answering() -> ClientBuilder {
    Client::builder()
        .roots(["file:///home"])
        .answer(ServerRequest::Elicitation, |_| async {
            Ok(json!({"action": "accept", "content": {"name": "Ferris"}}))
        })
        .answer(ServerRequest::Sampling, |params| async move {
            let asked = params.view().get("messages").into_iter().flat_map(Json::items).count();
            let content = json!({"type": "text", "text": format!("{asked} of Paris")});
            Ok(json!({"role": "assistant", "model": "m", "content": content}))
        })
}

async fn meet(client: ClientBuilder, revision: Revision) -> OurClient {
    OurClient::connect(client.revision(revision), &Revision::ALL).await.expect("a connection")
}

#[tokio::test]
async fn our_client_answers_requests_of_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let ours = meet(answering(), revision).await;
        let mut questions = vec![
            (ServerRequest::Roots, "roots", "file:///home"),
            (ServerRequest::Sampling, "sampling", "1 of Paris"),
        ];
        // Elicitation came with 2025-06-18.
        if revision >= Revision::V2025_06_18 {
            questions.push((ServerRequest::Elicitation, "elicitation", "Ferris"));
        }
        for (question, what, answer) in questions {
            assert_eq!(ours.call("ask", json!({"what": what})).await, answer, "{revision}");
            assert_eq!(ours.client.requests().count(question.method()), 1, "{revision}");
        }
        if !revision.is_modern() {
            assert_eq!(ours.call("ask", json!({"what": "ping"})).await, "pong", "{revision}");
        }
        // In the modern era they are inputs, not requests on the wire.
        let entries = ours.client.transcript().entries().into_iter();
        let requests = entries.filter(|entry| {
            entry.from == Side::Server
                && entry.frame.method().is_some()
                && entry.frame.id().is_some()
        });
        assert_eq!(requests.count() == 0, revision.is_modern(), "{revision}");
        ours.end().await;
    }
}

#[tokio::test]
async fn our_client_goes_through_several_rounds_of_an_rmcp_server() {
    let ours = meet(answering(), Revision::V2026_07_28).await;
    let text = ours.call("interview", json!({"of": "Ferris"})).await;
    assert_eq!(text, "Ferrisfile:///home1 of Paris");

    let frames: Vec<_> = ours.client.transcript().entries().into_iter().collect();
    let states = |from: Side| -> Vec<String> {
        let own = frames.iter().filter(|entry| entry.from == from);
        let parts = own.filter_map(|entry| entry.frame.params().or(entry.frame.result()));
        parts.filter_map(|part| Some(part.get(STATE)?.text().into_owned())).collect()
    };
    let given = states(Side::Server);
    assert_eq!(given.len(), 3);
    assert_eq!(given, states(Side::Client), "echoed byte for byte");
    assert_eq!(serde_json::from_str::<String>(&given[0]).unwrap(), TRICKY);

    let calls = frames.iter().filter(|entry| entry.frame.method() == Some("tools/call"));
    let calls: Vec<_> = calls.collect();
    assert_eq!(calls.len(), 4);
    for (index, call) in calls.iter().enumerate() {
        let params = call.frame.params().unwrap();
        assert_eq!(
            params.get_path(&["arguments", "of"]).unwrap().text(),
            "\"Ferris\"",
            "call {index}"
        );
        let keys = params.get("inputResponses").into_iter().flat_map(Json::members);
        let keys: Vec<_> = keys.map(|(key, _)| key.name().into_owned()).collect();
        let expected: [&[&str]; 4] = [&[], &["ro\"ots", "who"], &["sample"], &[]];
        assert_eq!(keys, expected[index], "call {index}");
        let same = calls[..index].iter().any(|other| other.frame.id() == call.frame.id());
        assert!(!same, "call {index} has an id of its own");
    }
    ours.end().await;
}

#[tokio::test]
async fn our_client_gives_input_to_prompts_and_resources_of_an_rmcp_server() {
    let ours = meet(answering(), Revision::V2026_07_28).await;
    let prompt = within(ours.client.get_prompt("ask", json!({}))).await.unwrap();
    assert_eq!(prompt.messages[0].content, Content::text("Ferris"));
    let resource = within(ours.client.read_resource("lib://ask")).await.unwrap();
    assert_eq!(resource.contents[0].text.as_deref(), Some("Ferris"));
    assert_eq!(ours.client.requests().count("elicitation/create"), 2);
    ours.end().await;
}

#[tokio::test]
async fn our_client_reports_a_server_request_that_it_could_not_answer() {
    // It declares elicitation, and its handler refuses.
    let refusing = Client::builder().answer(ServerRequest::Elicitation, |_| async {
        Err(sparring_wire::ErrorObject::internal("nobody there"))
    });
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let ours = meet(refusing.clone(), revision).await;
        let outcome = ours.client.call_tool("ask", json!({"what": "elicitation"}));
        let outcome = within(std::future::IntoFuture::into_future(outcome)).await;
        if revision.is_modern() {
            let Err(Error::InputNotProvided { request, key, error, .. }) = outcome else {
                panic!("{revision}: {outcome:?}")
            };
            assert_eq!((&*request, &*key), ("elicitation/create", "elicitation"));
            assert_eq!(error.message, "nobody there");
        } else {
            let message = outcome.unwrap().error_message().expect("an error of the server's");
            assert!(message.contains("nobody there"), "{message}");
        }
        ours.end().await;
    }
}
