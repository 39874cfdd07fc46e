//! Our client uses what an rmcp server offers, in every revision.

use std::future::IntoFuture;
use std::sync::{Arc, Mutex};

use serde_json::json;
use sparring_peer::client::{Error, Progress};
use sparring_wire::types::{Content, LogLevel};
use sparring_wire::{Revision, Rule, Side};

use super::conversation::Conversation;
use super::servers::{MEETING, TOOLS};
use super::{PATIENCE, within};

#[tokio::test]
async fn our_client_connects_to_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let talk = Conversation::in_revision(revision).await;
        let session = talk.client.session().expect("a session");
        assert_eq!(session.revision, revision);
        let info = session.server_info.as_ref().expect("server info");
        assert_eq!((&*info.name, &*info.version), ("library", "3.8"), "{revision}");
        assert_eq!(session.instructions.as_deref(), Some("read slowly"), "{revision}");
        for capability in
            ["tools.listChanged", "resources.subscribe", "prompts", "completions", "logging"]
        {
            assert!(session.capabilities.has(capability), "{revision}: {capability}");
        }
        // rmcp begins to serve with the first request after the discovery.
        within(talk.client.ping()).await.unwrap_or_else(|error| panic!("{revision}: {error}"));
        talk.end().await;
    }
}

#[tokio::test]
async fn our_client_lists_all_pages_of_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let talk = Conversation::in_revision(revision).await;
        let client = &talk.client;
        let tools = within(client.list_tools()).await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, TOOLS, "{revision}");
        assert_eq!(tools[0].description.as_deref(), Some("a tool"), "{revision}");
        assert_eq!(tools[0].input_schema, json!({"type": "object"}), "{revision}");
        let asked = sent(&talk, "tools/list");
        assert_eq!(asked, TOOLS.len().div_ceil(2), "{revision}: a request for each page");

        let resources = within(client.list_resources()).await.unwrap();
        let uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(uris, ["lib://a", "lib://b", "lib://c"], "{revision}");
        let templates = within(client.list_resource_templates()).await.unwrap();
        assert_eq!(templates[0].uri_template, "lib://{shelf}", "{revision}");
        let prompts = within(client.list_prompts()).await.unwrap();
        assert_eq!(prompts[0].name, "greet", "{revision}");
        assert!(prompts[0].arguments[0].required, "{revision}");
        talk.end().await;
    }
}

#[tokio::test]
async fn our_client_calls_tools_of_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let talk = Conversation::in_revision(revision).await;
        assert_eq!(talk.call("echo", json!({"message": "a\n\"b\" 😀"})).await, "a\n\"b\" 😀");

        let failed = within(talk.client.call_tool("fail", json!({})).into_future()).await.unwrap();
        assert!(failed.is_error() && !failed.success(), "{revision}");
        assert_eq!((failed.content(), failed.error()), ("no luck".to_owned(), None), "{revision}");

        let unknown = within(talk.client.call_tool("fly", json!({})).into_future()).await.unwrap();
        assert_eq!(unknown.error_code(), Some(-32602), "{revision}");
        assert_eq!(unknown.error_message().as_deref(), Some("no tool \"fly\""), "{revision}");
        assert!(!unknown.is_error() && !unknown.success(), "{revision}");

        let unknown = within(talk.client.request("no/such", None).into_future()).await.unwrap();
        assert_eq!(unknown.error_code(), Some(-32601), "{revision}");
        talk.end().await;
    }
}

#[tokio::test]
async fn our_client_reads_resources_of_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let talk = Conversation::in_revision(revision).await;
        let text = within(talk.client.read_resource("lib://a")).await.unwrap();
        assert_eq!(text.contents[0].text.as_deref(), Some("a text"), "{revision}");
        let blob = within(talk.client.read_resource("lib://b")).await.unwrap();
        assert_eq!(blob.contents[0].blob.as_deref(), Some("AAEC"), "{revision}");
        let missing = within(talk.client.read_resource("lib://z")).await;
        let Err(Error::Refused { error, .. }) = missing else { panic!("{revision}: {missing:?}") };
        assert_eq!(error.code, revision.resource_not_found_code(), "{revision}");
        talk.end().await;
    }
}

#[tokio::test]
async fn our_client_gets_prompts_and_completions_of_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let talk = Conversation::in_revision(revision).await;
        let prompt = within(talk.client.get_prompt("greet", json!({"tone": "low"}))).await.unwrap();
        assert_eq!(prompt.messages[0].role, "user", "{revision}");
        assert_eq!(prompt.messages[0].content, Content::text("hello in a low tone"), "{revision}");
        let missing = within(talk.client.get_prompt("fly", json!({}))).await;
        let Err(Error::Refused { error, .. }) = missing else { panic!("{revision}: {missing:?}") };
        assert_eq!(error.code, -32602, "{revision}");

        for reference in [
            json!({"type": "ref/prompt", "name": "greet"}),
            json!({"type": "ref/resource", "uri": "lib://{shelf}"}),
        ] {
            let values = within(talk.client.complete(reference, "tone", "r")).await.unwrap();
            assert_eq!(values.values, ["red", "rose"], "{revision}");
        }
        talk.end().await;
    }
}

#[tokio::test]
async fn our_client_gets_log_messages_of_an_rmcp_server_at_its_level_in_every_revision() {
    for revision in Revision::ALL {
        let talk = Conversation::in_revision(revision).await;
        talk.call("log", json!({})).await;
        assert_eq!(talk.client.notifications().total(), 0, "{revision}: none was asked for");
        within(talk.client.set_log_level(LogLevel::Info)).await.unwrap();
        talk.call("log", json!({})).await;
        let inbox = talk.client.notifications();
        let messages = inbox.wait_for("notifications/message", 2, PATIENCE).await.unwrap();
        let levels: Vec<_> = messages
            .iter()
            .map(|message| message.params().and_then(|params| params.get("level")).unwrap().text())
            .collect();
        assert_eq!(levels, ["\"info\"", "\"error\""], "{revision}");
        // The level is set by a request, or since 2026-07-28 with each request.
        let by_request = usize::from(!revision.is_modern());
        assert_eq!(sent(&talk, "logging/setLevel"), by_request, "{revision}");
        talk.end().await;
    }
}

#[tokio::test]
async fn our_client_hears_of_progress_on_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let talk = Conversation::in_revision(revision).await;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let hear = Arc::clone(&heard);
        let counting = talk.client.call_tool("count", json!({}));
        let counting = counting.on_progress(move |progress| hear.lock().unwrap().push(progress));
        assert_eq!(within(counting.into_future()).await.unwrap().content(), "counted");
        // 2024-11-05 has no messages, and a receiver gets what is sent.
        let step = |step: u8| Progress {
            progress: f64::from(step),
            total: Some(3.0),
            message: Some(format!("step {step}")),
        };
        assert_eq!(*heard.lock().unwrap(), [step(1), step(2), step(3)], "{revision}");
        talk.end().await;
    }
}

#[tokio::test]
async fn our_client_cancels_a_call_and_the_rmcp_server_sees_it_in_every_revision() {
    for revision in Revision::ALL {
        let talk = Conversation::in_revision(revision).await;
        let seen = &talk.library.seen;
        let waiting = talk.client.call_tool("wait", json!({})).start();
        seen.until("wait began").await;
        waiting.cancel(Some("enough"));
        let outcome = within(waiting).await;
        assert!(matches!(outcome, Err(Error::Cancelled { .. })), "{revision}: {outcome:?}");
        seen.until("wait was cancelled").await;
        seen.until("cancelled: enough").await;
        // The connection lives on, and no answer comes for what was given up.
        assert_eq!(talk.call("echo", json!({"message": "still there"})).await, "still there");
        assert_eq!(talk.client.unclaimed().total(), 0, "{revision}");
        talk.end().await;
    }
}

#[tokio::test]
async fn our_client_has_64_calls_in_flight_on_an_rmcp_server_in_every_revision() {
    for revision in Revision::ALL {
        let talk = Conversation::in_revision(revision).await;
        // No call is answered before all have come.
        let call = |number: usize| {
            let client = talk.client.clone();
            let message = format!("call {number}");
            tokio::spawn(async move {
                let response = client.call_tool("meet", json!({"message": message})).await;
                (message, response.map(|response| response.content()))
            })
        };
        let calls: Vec<_> = (0..MEETING).map(call).collect();
        for call in calls {
            let (message, answer) = within(call).await.unwrap();
            assert_eq!(answer.unwrap(), message, "{revision}");
        }
        talk.end().await;
    }
}

#[tokio::test]
async fn what_is_wrong_in_a_conversation_with_rmcp_is_found_in_every_revision() {
    for revision in Revision::ALL {
        let talk = Conversation::in_revision(revision).await;
        let nameless = talk.client.request("tools/call", Some(json!({"arguments": {}}).into()));
        let refused = within(nameless.into_future()).await.unwrap();
        assert!(refused.error().is_some(), "{revision}: {}", refused.raw().text());
        let wrong = talk.client.transcript().violations();
        let found: Vec<_> = wrong.iter().map(|it| (it.rule, &*it.path)).collect();
        assert_eq!(found, [(Rule::MissingField, "$.params.name")], "{revision}: {wrong:?}");
        within(talk.client.close()).await;
    }
}

/// How many requests of a method our client has sent.
fn sent(talk: &Conversation, method: &str) -> usize {
    let entries = talk.client.transcript().entries().into_iter();
    entries
        .filter(|entry| entry.from == Side::Client && entry.frame.method() == Some(method))
        .count()
}
