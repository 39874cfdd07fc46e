//! Server requests: as requests up to 2025-11-25, as `input_required` since then,
//! with the same handler and the same client for both.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use sparring_peer::client::{Error, ServerRequest};
use sparring_peer::server::{Context, HandlerError, HandlerResult, InputRequired};
use sparring_peer::{Client, Handler, LinkKind, Server, memory};
use sparring_wire::types::{CallToolResult, ServerCapabilities};
use sparring_wire::{ErrorObject, Id, Json, Revision};

use crate::fixture::{TEST_TIMEOUT, TestConnection, TestServer, answering, within};

#[tokio::test]
async fn server_requests_are_answered_in_every_revision() {
    for revision in Revision::ALL {
        let builder = answering(Client::builder().revision(revision));
        let connection =
            TestConnection::with(builder, TestServer::default(), LinkKind::Shared).await;
        let response =
            within(connection.client.call_tool("ask", json!({})).into_future()).await.unwrap();
        // These two revisions have no elicitation.
        let too_early = revision < Revision::V2025_06_18;
        if too_early {
            assert_eq!(response.error_code(), Some(-32600), "{revision}");
        } else {
            assert_eq!(response.content(), "Ada has 2 roots", "{revision}: {:?}", response.error());
        }
        assert_eq!(
            connection.client.requests().total(),
            if too_early { 0 } else { 2 },
            "{revision}"
        );
        assert_eq!(connection.client.transcript().violations(), [], "{revision}");
    }
}

#[tokio::test]
async fn a_server_request_is_cancelled_with_the_request_that_caused_it() {
    let (sender, mut events) = tokio::sync::mpsc::unbounded_channel();
    let never = move |_| {
        let sender = sender.clone();
        async move {
            let _ = sender.send(());
            std::future::pending().await
        }
    };
    let builder =
        Client::builder().revision(Revision::V2025_11_25).answer(ServerRequest::Elicitation, never);
    let connection = TestConnection::with(builder, TestServer::default(), LinkKind::Shared).await;
    let call = connection.client.call_tool("ask", json!({})).start();
    within(events.recv()).await.unwrap();
    drop(call);
    let withdrawn = connection
        .client
        .notifications()
        .wait_for("notifications/cancelled", 1, TEST_TIMEOUT)
        .await;
    let asked = connection.client.requests().all();
    let named = withdrawn.unwrap()[0].params().unwrap().get("requestId").and_then(Id::from_json);
    assert_eq!(named.as_ref(), asked[0].id());
    assert_eq!(connection.client.transcript().violations(), []);
}

#[tokio::test]
async fn a_retry_has_a_new_id_and_returns_the_state_unchanged() {
    const STATE: &str = "st.ate/with+special=chars \"quotes\"\n\t\u{e9}";
    struct AskingOnceServer;
    impl Handler for AskingOnceServer {
        fn capabilities(&self) -> ServerCapabilities {
            ServerCapabilities::none().tools()
        }
        async fn call_tool(&self, _: &str, arguments: Json<'_>, cx: &Context) -> HandlerResult {
            assert_eq!(arguments.text(), r#"{"n":1.0}"#, "the arguments come again as they were");
            match cx.request_state() {
                None => Err(HandlerError::InputRequired(InputRequired {
                    state: Some(STATE.to_owned()),
                    ..InputRequired::default()
                })),
                Some(state) => Ok(CallToolResult::text(state).into()),
            }
        }
    }
    let (here, there) = memory(LinkKind::Shared);
    let _running = Server::new(AskingOnceServer).spawn(there);
    let client = within(Client::connect(here)).await.unwrap();
    let arguments = sparring_wire::RawJson::parse(r#"{"n":1.0}"#).unwrap();
    let response = within(client.call_tool("x", arguments).into_future()).await.unwrap();
    assert_eq!(response.content(), STATE);
    let entries = client.transcript().entries();
    let calls: Vec<_> =
        entries.iter().filter(|entry| entry.frame.method() == Some("tools/call")).collect();
    assert_eq!(calls.len(), 2);
    assert_ne!(calls[0].frame.id(), calls[1].frame.id());
    assert_eq!(client.transcript().violations(), []);
}

#[tokio::test]
async fn a_server_request_without_a_handler_is_an_error_that_names_it() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let builder = Client::builder().revision(revision).capability("elicitation", json!({}));
        let connection =
            TestConnection::with(builder, TestServer::default(), LinkKind::Shared).await;
        let outcome = within(connection.client.call_tool("ask", json!({})).into_future()).await;
        if revision.is_modern() {
            let message = outcome.unwrap_err().to_string();
            assert!(
                message.contains("tools/call") && message.contains("elicitation/create"),
                "{message}"
            );
        } else {
            assert_eq!(
                outcome.unwrap().error_code(),
                Some(-32601),
                "the client's own refusal comes back"
            );
        }
    }
}

#[tokio::test]
async fn a_client_without_the_capability_is_not_asked() {
    for (revision, code) in [(Revision::V2025_11_25, -32600), (Revision::V2026_07_28, -32021)] {
        let connection = TestConnection::start(revision).await;
        let response =
            within(connection.client.call_tool("ask", json!({})).into_future()).await.unwrap();
        assert_eq!(response.error_code(), Some(code), "{revision}");
        assert_eq!(connection.client.requests().total(), 0);
        assert_eq!(connection.client.transcript().violations(), [], "{revision}");
    }
}

#[tokio::test]
async fn a_request_fails_after_too_many_input_rounds() {
    struct EndlessAskingServer;
    impl Handler for EndlessAskingServer {
        fn capabilities(&self) -> ServerCapabilities {
            ServerCapabilities::none().tools()
        }
        async fn call_tool(&self, _: &str, _: Json<'_>, _: &Context) -> HandlerResult {
            Err(HandlerError::InputRequired(InputRequired {
                state: Some("more".to_owned()),
                ..InputRequired::default()
            }))
        }
    }
    let (here, there) = memory(LinkKind::Shared);
    let server = Server::new(EndlessAskingServer);
    let _running = server.spawn(there);
    let client = within(Client::connect(here)).await.unwrap();
    let error = within(client.call_tool("x", json!({})).into_future()).await.unwrap_err();
    assert!(matches!(error, Error::TooManyRounds { rounds: 16, .. }), "{error}");
    assert_eq!(server.counts().requests, 18);
}

#[tokio::test]
async fn sampling_is_answered_by_its_handler_with_the_params_as_sent() {
    struct Sampler;
    impl Handler for Sampler {
        fn capabilities(&self) -> ServerCapabilities {
            ServerCapabilities::none().tools()
        }
        async fn call_tool(&self, _: &str, _: Json<'_>, cx: &Context) -> HandlerResult {
            let message =
                json!({"role": "user", "content": {"type": "text", "text": "capital of France?"}});
            let answer = cx
                .ask("s", ServerRequest::Sampling, json!({"messages": [message], "maxTokens": 5}))
                .await?;
            let text = answer
                .view()
                .get_path(&["content", "text"])
                .and_then(Json::as_str)
                .unwrap_or_default()
                .into_owned();
            Ok(CallToolResult::text(text).into())
        }
    }
    for revision in Revision::ALL {
        let asked = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&asked);
        let answer = move |params: sparring_wire::RawJson| {
            count.fetch_add(1, Ordering::Relaxed);
            let tokens = params.view().get("maxTokens").and_then(Json::as_i64);
            async move {
                match tokens {
                    Some(5) => Ok(
                        json!({"role": "assistant", "content": {"type": "text", "text": "Paris"}, "model": "m"}),
                    ),
                    _ => Err(ErrorObject::invalid_params("maxTokens")),
                }
            }
        };
        let (here, there) = memory(LinkKind::Shared);
        let _running = Server::new(Sampler).spawn(there);
        let builder = Client::builder().revision(revision).answer(ServerRequest::Sampling, answer);
        let client = within(builder.connect(here)).await.unwrap();
        let response = within(client.call_tool("x", json!({})).into_future()).await.unwrap();
        assert_eq!(response.content(), "Paris", "{revision}");
        assert_eq!(asked.load(Ordering::Relaxed), 1);
        assert_eq!(client.transcript().violations(), [], "{revision}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_times_out_if_its_input_never_arrives() {
    let builder = Client::builder()
        .revision(Revision::V2026_07_28)
        .answer(ServerRequest::Elicitation, |_| std::future::pending());
    let connection = TestConnection::with(builder, TestServer::default(), LinkKind::Shared).await;
    let call =
        connection.client.call_tool("ask", json!({})).timeout(std::time::Duration::from_secs(1));
    let error = call.await.unwrap_err();
    assert_eq!(error.to_string(), "no answer to the input for tools/call within 1s");
}

#[tokio::test]
async fn raw_requests_get_input_required_unchanged() {
    let builder = answering(Client::builder().revision(Revision::V2026_07_28));
    let connection = TestConnection::with(builder, TestServer::default(), LinkKind::Shared).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let params = json!({"name": "ask", "_meta": meta});
    let bytes = json!({"jsonrpc": "2.0", "id": "mine", "method": "tools/call", "params": params});
    let response =
        within(connection.client.request_bytes(bytes.to_string()).into_future()).await.unwrap();
    let kind = response.result().unwrap().get("resultType").unwrap();
    assert_eq!(kind.as_str().unwrap(), "input_required");
}
