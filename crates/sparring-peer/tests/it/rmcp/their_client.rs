//! rmcp's client uses all features of our server, in every revision.
#![expect(deprecated, reason = "rmcp deprecates what only older revisions have")]

use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, GetPromptRequestParams, LoggingLevel,
    PingRequest, ReadResourceRequestParams, RequestMetaObject, ResourceContents,
    SetLevelRequestParams,
};
use rmcp::service::{PeerRequestOptions, ServiceError};
use serde_json::json;
use sparring_wire::{Revision, Rule};

use super::our_server::{MEET_CALLS, TOOLS};
use super::their_client_fixture::{RmcpClient, code_of, text_of};
use super::{TEST_TIMEOUT, legacy, within};

#[tokio::test]
async fn rmcp_lists_all_pages_of_our_server_in_every_revision() {
    for revision in Revision::ALL {
        let peer = RmcpClient::in_revision(revision).await;
        let tools = within(peer.client.list_all_tools()).await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, TOOLS, "{revision}");
        let resources = within(peer.client.list_all_resources()).await.unwrap();
        let uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(uris, ["handler://a", "handler://b", "handler://c"], "{revision}");
        let templates = within(peer.client.list_all_resource_templates()).await.unwrap();
        assert_eq!(templates[0].uri_template, "handler://{shelf}", "{revision}");
        let prompts = within(peer.client.list_all_prompts()).await.unwrap();
        assert_eq!(prompts[0].name, "greet", "{revision}");
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_calls_tools_of_our_server_in_every_revision() {
    for revision in Revision::ALL {
        let peer = RmcpClient::in_revision(revision).await;
        let echoed = peer.call("echo", json!({"message": "a\n\"b\" 😀"})).await.unwrap();
        assert_eq!(text_of(&echoed), "a\n\"b\" 😀", "{revision}");
        assert_ne!(echoed.is_error, Some(true), "{revision}");
        let failed = peer.call("fail", json!({})).await.unwrap();
        assert_eq!((text_of(&failed), failed.is_error), ("no luck", Some(true)), "{revision}");
        assert_eq!(code_of(peer.call("fly", json!({})).await), -32602, "{revision}");
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_reads_resources_of_our_server_in_every_revision() {
    for revision in Revision::ALL {
        let peer = RmcpClient::in_revision(revision).await;
        let read = ReadResourceRequestParams::new("handler://a");
        let read = within(peer.client.read_resource(read)).await.unwrap();
        let ResourceContents::TextResourceContents { uri, text, .. } = &read.contents[0] else {
            panic!("{revision}: {read:?}")
        };
        assert_eq!((&**uri, &**text), ("handler://a", "a text"), "{revision}");
        let missing = ReadResourceRequestParams::new("handler://z");
        let code = code_of(within(peer.client.read_resource(missing)).await);
        assert_eq!(i64::from(code), revision.resource_not_found_code(), "{revision}");
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_gets_prompts_and_completions_of_our_server_in_every_revision() {
    for revision in Revision::ALL {
        let peer = RmcpClient::in_revision(revision).await;
        let arguments = json!({"tone": "low"}).as_object().cloned().unwrap();
        let greet = GetPromptRequestParams::new("greet").with_arguments(arguments);
        let prompt = within(peer.client.get_prompt(greet)).await.unwrap();
        let text = prompt.messages[0].content.as_text().map(|text| &*text.text);
        assert_eq!(text, Some("hello in a low tone"), "{revision}");
        let missing = within(peer.client.get_prompt(GetPromptRequestParams::new("fly"))).await;
        assert_eq!(code_of(missing), -32602, "{revision}");
        let values = within(peer.client.complete_prompt_simple("greet", "tone", "r")).await;
        assert_eq!(values.unwrap(), ["red", "rose"], "{revision}");
        let values = peer.client.complete_resource_simple("handler://{shelf}", "shelf", "g");
        assert_eq!(within(values).await.unwrap(), ["green"], "{revision}");
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_pings_our_server_in_every_revision_that_has_pings() {
    for revision in Revision::ALL {
        let peer = RmcpClient::in_revision(revision).await;
        let ping = ClientRequest::PingRequest(PingRequest::default());
        let outcome = within(peer.client.send_request(ping)).await;
        if revision.is_modern() {
            assert_eq!(code_of(outcome), -32601, "{revision}");
            // The only violation is the request, which this revision does not
            // have.
            let wrong = peer.transcript.violations();
            let rules: Vec<_> = wrong.iter().map(|violation| violation.rule).collect();
            assert_eq!(rules, [Rule::NotInRevision], "{wrong:?}");
            continue;
        }
        assert!(outcome.is_ok(), "{revision}: {outcome:?}");
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_gets_progress_of_our_server_in_every_revision() {
    for revision in Revision::ALL {
        let peer = RmcpClient::in_revision(revision).await;
        let counted = peer.call("count", json!({})).await.unwrap();
        assert_eq!(text_of(&counted), "counted", "{revision}");
        for step in 1..=3 {
            peer.log.until(&format!("{step} of 3: step {step}")).await;
        }
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_sets_the_log_level_of_our_server_in_every_legacy_revision() {
    for revision in legacy() {
        let peer = RmcpClient::in_revision(revision).await;
        let level = SetLevelRequestParams::new(LoggingLevel::Info);
        within(peer.client.set_level(level)).await.unwrap();
        peer.call("log", json!({})).await.unwrap();
        peer.log.until(r#"logged Info {"said":"info"}"#).await;
        peer.log.until(r#"logged Error {"said":"error"}"#).await;
        assert_eq!(peer.sent_count("notifications/message"), 2, "{revision}");
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_asks_our_server_for_log_messages_with_each_modern_request() {
    let peer = RmcpClient::in_revision(Revision::V2026_07_28).await;
    peer.call("log", json!({})).await.unwrap();
    assert_eq!(peer.sent_count("notifications/message"), 0, "none was asked for");
    let mut meta = RequestMetaObject::new();
    meta.set_log_level(LoggingLevel::Error);
    let request = CallToolRequest::new(CallToolRequestParams::new("log"));
    let options = PeerRequestOptions::no_options().with_meta(meta);
    let request = ClientRequest::CallToolRequest(request);
    let handle = within(peer.client.send_request_with_option(request, options)).await.unwrap();
    within(handle.await_response()).await.unwrap();
    peer.log.until(r#"logged Error {"said":"error"}"#).await;
    assert_eq!(peer.sent_count("notifications/message"), 1);
    peer.end().await;
}

#[tokio::test]
async fn rmcp_cancels_a_call_and_our_handler_is_dropped_in_every_revision() {
    for revision in Revision::ALL {
        let peer = RmcpClient::in_revision(revision).await;
        let log = &peer.server.handler().log;
        let request = CallToolRequest::new(CallToolRequestParams::new("wait"));
        let request = ClientRequest::CallToolRequest(request);
        let options = PeerRequestOptions::no_options();
        let handle = peer.client.send_cancellable_request(request, options);
        let handle = within(handle).await.unwrap();
        log.until("wait began").await;
        within(handle.cancel(Some("enough".to_owned()))).await.unwrap();
        log.until("wait was given up").await;
        log.until("notifications/cancelled enough").await;
        // The connection stays open, and no more frames arrive for the call.
        peer.call("echo", json!({})).await.unwrap();
        assert_eq!(peer.server.counts().errors, 0, "{revision}");
        peer.end().await;
    }
}

#[tokio::test(start_paused = true)]
async fn rmcp_cancels_a_call_after_its_timeout_and_our_handler_is_dropped() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let peer = RmcpClient::in_revision(revision).await;
        let request = CallToolRequest::new(CallToolRequestParams::new("wait"));
        let request = ClientRequest::CallToolRequest(request);
        let options = PeerRequestOptions::with_timeout(TEST_TIMEOUT / 2);
        let handle = within(peer.client.send_cancellable_request(request, options)).await.unwrap();
        let outcome = within(handle.await_response()).await;
        assert!(matches!(outcome, Err(ServiceError::Timeout { .. })), "{revision}: {outcome:?}");
        peer.server.handler().log.until("wait was given up").await;
        peer.end().await;
    }
}

#[tokio::test]
async fn rmcp_has_64_calls_in_flight_on_our_server_in_every_revision() {
    for revision in Revision::ALL {
        let peer = RmcpClient::in_revision(revision).await;
        // No call is answered before all have arrived.
        let calls: Vec<_> = (0..MEET_CALLS)
            .map(|number| {
                let peer = peer.client.peer().clone();
                let message = format!("call {number}");
                let arguments = json!({"message": message}).as_object().cloned().unwrap();
                let params = CallToolRequestParams::new("meet").with_arguments(arguments);
                tokio::spawn(async move { (message, peer.call_tool(params).await) })
            })
            .collect();
        for call in calls {
            let (message, answer) = within(call).await.unwrap();
            assert_eq!(text_of(&answer.unwrap()), message, "{revision}");
        }
        peer.end().await;
    }
}
