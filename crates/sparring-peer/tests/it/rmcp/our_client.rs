//! Our client uses all features of an rmcp server, in every revision.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};

use serde_json::json;
use sparring_peer::client::{Error, Progress};
use sparring_wire::types::{Content, LogLevel};
use sparring_wire::{Revision, Rule, Side};

use super::our_client_fixture::OurClient;
use super::their_server::{MEET_CALLS, TOOLS};
use super::{TEST_TIMEOUT, within};

#[tokio::test]
async fn our_client_connects_to_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let ours = OurClient::in_revision(revision).await;
        let session = ours.client.session().expect("a session");
        assert_eq!(session.revision, revision);
        let info = session.server_info.as_ref().expect("server info");
        assert_eq!((&*info.name, &*info.version), ("library", "3.8"), "{revision}");
        assert_eq!(session.instructions.as_deref(), Some("read slowly"), "{revision}");
        for capability in
            ["tools.listChanged", "resources.subscribe", "prompts", "completions", "logging"]
        {
            assert!(session.capabilities.has(capability), "{revision}: {capability}");
        }
        // rmcp starts to serve with the first request after the discovery.
        within(ours.client.ping()).await.unwrap_or_else(|error| panic!("{revision}: {error}"));
        ours.end().await;
    }
}

#[tokio::test]
async fn our_client_lists_all_pages_of_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let ours = OurClient::in_revision(revision).await;
        let client = &ours.client;
        let tools = within(client.list_tools()).await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, TOOLS, "{revision}");
        assert_eq!(tools[0].description.as_deref(), Some("a tool"), "{revision}");
        assert_eq!(tools[0].input_schema, json!({"type": "object"}), "{revision}");
        let asked = sent(&ours, "tools/list");
        assert_eq!(asked, TOOLS.len().div_ceil(2), "{revision}: a request for each page");

        let resources = within(client.list_resources()).await.unwrap();
        let uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(uris, ["lib://a", "lib://b", "lib://c"], "{revision}");
        let templates = within(client.list_resource_templates()).await.unwrap();
        assert_eq!(templates[0].uri_template, "lib://{shelf}", "{revision}");
        let prompts = within(client.list_prompts()).await.unwrap();
        assert_eq!(prompts[0].name, "greet", "{revision}");
        assert!(prompts[0].arguments[0].required, "{revision}");
        ours.end().await;
    }
}

#[tokio::test]
async fn our_client_calls_tools_of_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let ours = OurClient::in_revision(revision).await;
        assert_eq!(ours.call("echo", json!({"message": "a\n\"b\" 😀"})).await, "a\n\"b\" 😀");

        let failed = within(ours.client.call_tool("fail", json!({})).into_future()).await.unwrap();
        assert!(failed.is_error() && !failed.success(), "{revision}");
        assert_eq!((failed.content(), failed.error()), ("no luck".to_owned(), None), "{revision}");

        let unknown = within(ours.client.call_tool("fly", json!({})).into_future()).await.unwrap();
        assert_eq!(unknown.error_code(), Some(-32602), "{revision}");
        assert_eq!(unknown.error_message().as_deref(), Some("no tool \"fly\""), "{revision}");
        assert!(!unknown.is_error() && !unknown.success(), "{revision}");

        let unknown = within(ours.client.request("no/such", None).into_future()).await.unwrap();
        assert_eq!(unknown.error_code(), Some(-32601), "{revision}");
        ours.end().await;
    }
}

#[tokio::test]
async fn our_client_reads_resources_of_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let ours = OurClient::in_revision(revision).await;
        let text = within(ours.client.read_resource("lib://a")).await.unwrap();
        assert_eq!(text.contents[0].text.as_deref(), Some("a text"), "{revision}");
        let blob = within(ours.client.read_resource("lib://b")).await.unwrap();
        assert_eq!(blob.contents[0].blob.as_deref(), Some("AAEC"), "{revision}");
        let missing = within(ours.client.read_resource("lib://z")).await;
        let Err(Error::ErrorResponse { error, .. }) = missing else {
            panic!("{revision}: {missing:?}")
        };
        assert_eq!(error.code, revision.resource_not_found_code(), "{revision}");
        ours.end().await;
    }
}

#[tokio::test]
async fn our_client_gets_prompts_and_completions_of_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let ours = OurClient::in_revision(revision).await;
        let prompt = within(ours.client.get_prompt("greet", json!({"tone": "low"}))).await.unwrap();
        assert_eq!(prompt.messages[0].role, "user", "{revision}");
        assert_eq!(prompt.messages[0].content, Content::text("hello in a low tone"), "{revision}");
        let missing = within(ours.client.get_prompt("fly", json!({}))).await;
        let Err(Error::ErrorResponse { error, .. }) = missing else {
            panic!("{revision}: {missing:?}")
        };
        assert_eq!(error.code, -32602, "{revision}");

        for reference in [
            json!({"type": "ref/prompt", "name": "greet"}),
            json!({"type": "ref/resource", "uri": "lib://{shelf}"}),
        ] {
            let values = within(ours.client.complete(reference, "tone", "r")).await.unwrap();
            assert_eq!(values.values, ["red", "rose"], "{revision}");
        }
        ours.end().await;
    }
}

#[tokio::test]
async fn our_client_gets_log_messages_of_an_rmcp_server_at_its_level_in_every_revision() {
    for revision in Revision::ALL {
        let ours = OurClient::in_revision(revision).await;
        ours.call("log", json!({})).await;
        assert_eq!(ours.client.notifications().total(), 0, "{revision}: none was asked for");
        within(ours.client.set_log_level(LogLevel::Info)).await.unwrap();
        ours.call("log", json!({})).await;
        let inbox = ours.client.notifications();
        let messages = inbox.wait_for("notifications/message", 2, TEST_TIMEOUT).await.unwrap();
        let levels: Vec<_> = messages
            .iter()
            .map(|message| message.params().and_then(|params| params.get("level")).unwrap().text())
            .collect();
        assert_eq!(levels, ["\"info\"", "\"error\""], "{revision}");
        // A request sets the level, or since 2026-07-28 the metadata of each
        // request.
        let by_request = usize::from(!revision.is_modern());
        assert_eq!(sent(&ours, "logging/setLevel"), by_request, "{revision}");
        ours.end().await;
    }
}

#[tokio::test]
async fn our_client_gets_progress_of_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let ours = OurClient::in_revision(revision).await;
        let received = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&received);
        let counting = ours.client.call_tool("count", json!({}));
        let counting = counting.on_progress(move |progress| log.lock().unwrap().push(progress));
        assert_eq!(within(counting.into_future()).await.unwrap().content(), "counted");
        // 2024-11-05 has no messages in progress, but a receiver gets them if
        // they are sent.
        let step = |step: u8| Progress {
            progress: f64::from(step),
            total: Some(3.0),
            message: Some(format!("step {step}")),
        };
        assert_eq!(*received.lock().unwrap(), [step(1), step(2), step(3)], "{revision}");
        ours.end().await;
    }
}

#[tokio::test]
async fn our_client_cancels_a_call_and_the_rmcp_server_sees_it_in_every_revision() {
    for revision in Revision::ALL {
        let ours = OurClient::in_revision(revision).await;
        let log = &ours.library.log;
        let waiting = ours.client.call_tool("wait", json!({})).start();
        log.until("wait began").await;
        waiting.cancel(Some("enough"));
        let outcome = within(waiting).await;
        assert!(matches!(outcome, Err(Error::Cancelled { .. })), "{revision}: {outcome:?}");
        log.until("wait was cancelled").await;
        log.until("cancelled: enough").await;
        // The connection stays open, and no response arrives for the cancelled
        // call.
        assert_eq!(ours.call("echo", json!({"message": "still there"})).await, "still there");
        assert_eq!(ours.client.unclaimed().total(), 0, "{revision}");
        ours.end().await;
    }
}

#[tokio::test]
async fn our_client_has_64_calls_in_flight_on_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let ours = OurClient::in_revision(revision).await;
        // No call is answered before all have arrived.
        let call = |number: usize| {
            let client = ours.client.clone();
            let message = format!("call {number}");
            tokio::spawn(async move {
                let response = client.call_tool("meet", json!({"message": message})).await;
                (message, response.map(|response| response.content()))
            })
        };
        let calls: Vec<_> = (0..MEET_CALLS).map(call).collect();
        for call in calls {
            let (message, answer) = within(call).await.unwrap();
            assert_eq!(answer.unwrap(), message, "{revision}");
        }
        ours.end().await;
    }
}

#[tokio::test]
async fn violations_in_traffic_with_rmcp_are_found_in_every_revision() {
    for revision in Revision::ALL {
        let ours = OurClient::in_revision(revision).await;
        let nameless = ours.client.request("tools/call", Some(json!({"arguments": {}}).into()));
        let refused = within(nameless.into_future()).await.unwrap();
        assert!(refused.error().is_some(), "{revision}: {}", refused.raw().text());
        let wrong = ours.client.transcript().violations();
        let found: Vec<_> = wrong.iter().map(|it| (it.rule, &*it.path)).collect();
        assert_eq!(found, [(Rule::MissingField, "$.params.name")], "{revision}: {wrong:?}");
        within(ours.client.close()).await;
    }
}

/// Returns the number of requests with a method that our client has sent.
fn sent(ours: &OurClient, method: &str) -> usize {
    let entries = ours.client.transcript().entries().into_iter();
    entries
        .filter(|entry| entry.from == Side::Client && entry.frame.method() == Some(method))
        .count()
}
