//! Questions of a server go to the client whose call they belong to, and to no
//! other.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_host::config::ServerConfig;
use sparring_host::manager::Manager;
use sparring_mock::MockServer;
use sparring_peer::client::{Error, ServerRequest};
use sparring_peer::link::Recorder;
use sparring_peer::{
    ClientBuilder, Incoming, Link, LinkInfo, MemoryLink, MemoryTransport, Outgoing, Protocol,
};
use sparring_transport::Target;
use sparring_transport::http::HttpTarget;
use sparring_wire::{RawJson, Revision};

use super::{
    DESK_SCRIPT, ERAS, GatewayFixture, answering, call, over_http, plain, start_desk, until,
};
use crate::manager::fixture::{TEST_TIMEOUT, TestConnector, entry, server_config, within};

#[tokio::test]
async fn elicitation_sampling_and_roots_reach_the_client_in_both_eras() {
    for (outer, inner) in ERAS.into_iter().flat_map(|outer| ERAS.map(|inner| (outer, inner))) {
        let (connector, mock, servers) = start_desk(inner);
        let fixture = GatewayFixture::open(&connector, &servers).await;
        let (serving, target) = fixture.listen().await;
        let in_memory = fixture.connect(answering(outer, "Ada")).await;
        let over_http = over_http(&target, answering(outer, "Ada")).await;
        for client in [in_memory, over_http] {
            for (tool, expected) in [
                ("mcp__desk__ask", "hello Ada"),
                ("mcp__desk__sample", "the model says fjord for Ada"),
                ("mcp__desk__look", "you have file:///srv"),
                ("mcp__desk__twice", "Ada and Ada"),
            ] {
                assert_eq!(call(&client, tool).await, expected, "{outer} to {inner}");
            }
            assert!(client.transcript().violations().is_empty());
        }
        if inner == ERAS[0] {
            // The client repeats its request, but the call is made once.
            assert_eq!(mock.received_for("twice").len(), 2, "{outer}");
        }
        serving.stop(Duration::from_secs(1)).await;
    }
}

#[tokio::test]
async fn a_client_that_does_not_declare_it_is_not_asked() {
    for (outer, inner) in ERAS.into_iter().flat_map(|outer| ERAS.map(|inner| (outer, inner))) {
        let (connector, _, servers) = start_desk(inner);
        let fixture = GatewayFixture::open(&connector, &servers).await;
        let client = fixture.connect(plain(outer)).await;
        let answer = client.call_tool("mcp__desk__sample", json!({}));
        let answer = within(answer.into_future()).await.unwrap();
        let message = answer.raw().text().into_owned();
        // A server of 2026-07-28 knows the capabilities of the client, and does not ask.
        let expected = match inner.is_modern() {
            true => "answers has no key `word`",
            false => "the client does not declare sampling",
        };
        assert!(message.contains(expected), "{outer} to {inner}: {message}");
        // A tool that can do without the answer does.
        assert_eq!(call(&client, "mcp__desk__ask").await, "hello nobody", "{outer} to {inner}");
        assert_eq!(client.requests().total(), 0);
    }
}

#[tokio::test]
async fn a_question_without_a_call_is_never_answered_by_another_client() {
    let (connector, mock, servers) = start_desk(Revision::V2025_06_18);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let (asked, client) = counting_client(Revision::V2025_06_18, "Ada");
    let ada = fixture.connect(client).await;
    let waiting = ada.call_tool("mcp__desk__slow", json!({})).start();
    until(|| mock.received_for("slow").len() == 1).await;
    // Ada gets the questions of her own calls.
    assert_eq!(call(&ada, "mcp__desk__ask").await, "hello Ada");
    let bob = fixture.connect(answering(Revision::V2025_06_18, "Bob")).await;
    let answer = bob.call_tool("mcp__desk__ask", json!({}));
    let answer = within(answer.into_future()).await.unwrap().raw().text().into_owned();
    assert!(answer.contains("cannot tell which of several clients"), "{answer}");
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    drop(waiting);
    until(|| {
        fixture.manager.get("desk").is_some_and(|it| it.client().notifications().total() == 0)
    })
    .await;
    let again = within(bob.call_tool("mcp__desk__ask", json!({})).into_future()).await.unwrap();
    assert_eq!(again.content(), "hello Bob");
}

#[tokio::test]
async fn a_question_on_the_stream_of_a_call_goes_to_its_caller() {
    let mock = MockServer::from_yaml(DESK_SCRIPT, ".").unwrap();
    let serving = mock.listen(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
    let url = mock.urls(serving.address().unwrap()).mcp;
    let protocol = Protocol::Only(Revision::V2025_11_25);
    let server =
        ServerConfig { protocol, ..server_config("desk", Target::Http(HttpTarget::new(url))) };
    let fixture =
        GatewayFixture::with_manager(Manager::builder(), &[server], &[], &["mcp__desk"]).await;
    let (asked, client) = counting_client(ERAS[0], "Ada");
    let ada = fixture.connect(client).await;
    let waiting = ada.call_tool("mcp__desk__slow", json!({})).start();
    wait_until_served(&mock, "slow").await;
    let bob = fixture.connect(answering(ERAS[1], "Bob")).await;
    assert_eq!(call(&bob, "mcp__desk__ask").await, "hello Bob");
    assert_eq!(asked.load(Ordering::Relaxed), 0);
    drop(waiting);
    within(fixture.manager.shut_down(Duration::from_secs(5))).await;
}

#[tokio::test]
async fn a_late_answer_does_not_repeat_the_call() {
    let (connector, mock, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let client = fixture.connect(answering(ERAS[1], "Ada")).await;
    let params = |state: &str| {
        json!({
            "name": "mcp__desk__ask",
            "arguments": {},
            "requestState": state,
            "inputResponses": {"question-1": {"action": "accept", "content": {"name": "Eve"}}},
        })
    };
    let guess = client.request("tools/call", Some(params("00").into()));
    let error = within(guess.into_future()).await.unwrap().error().unwrap();
    assert_eq!(error.message, "requestState: unknown or expired");
    assert!(mock.received_for("ask").is_empty());
}

#[tokio::test]
async fn a_request_state_is_valid_for_its_own_call_only() {
    let (connector, mock, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let client = fixture.connect(plain(ERAS[1]).capability("elicitation", json!({}))).await;
    // As bytes, so that the client does not repeat it automatically.
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": ERAS[1].name(),
        "io.modelcontextprotocol/clientInfo": {"name": "a", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
    });
    let request = |id: &str, tool: &str, more: Value| {
        let mut params = json!({"name": tool, "arguments": {}, "_meta": meta});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}).to_string()
    };
    let asked = client.request_bytes(request("a", "mcp__desk__ask", json!({})));
    let asked: Value = within(asked.into_future()).await.unwrap().to().unwrap();
    assert_eq!(asked["resultType"], "input_required");
    let state = asked["requestState"].clone();
    assert_eq!(asked["inputRequests"]["question-1"]["method"], "elicitation/create");
    let other = request("b", "mcp__desk__sample", json!({"requestState": state}));
    let other = within(client.request_bytes(other).into_future()).await.unwrap();
    assert_eq!(other.error_message().unwrap(), "requestState: unknown or expired");
    let late = request("c", "mcp__desk__ask", json!({"requestState": state}));
    let late = within(client.request_bytes(late).into_future()).await.unwrap();
    assert!(late.error().is_some());
    assert_eq!(mock.received_for("ask").len(), 1);
}

#[tokio::test]
async fn a_question_outside_of_a_call_is_an_error() {
    let (connector, _, servers) = start_desk(ERAS[0]);
    let fixture = GatewayFixture::open(&connector, &servers).await;
    let client = fixture.manager.get("desk").unwrap().client();
    let asked = within(client.call_tool("ask", json!({})).into_future()).await;
    let message = match asked {
        Ok(answer) => answer.raw().text().into_owned(),
        Err(error @ Error::InputNotProvided { .. }) => error.to_string(),
        Err(error) => panic!("{error}"),
    };
    assert!(message.contains("no client request is open"), "{message}");
}

/// A client that counts its questions.
fn counting_client(revision: Revision, name: &'static str) -> (Arc<AtomicUsize>, ClientBuilder) {
    let asked = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&asked);
    let client = plain(revision).answer(ServerRequest::Elicitation, move |_| {
        counts.fetch_add(1, Ordering::Relaxed);
        async move { Ok(json!({"action": "accept", "content": {"name": name}})) }
    });
    (asked, client)
}

async fn wait_until_served(mock: &MockServer, tool: &str) {
    until(|| mock.received_for(tool).len() == 1).await;
}

#[tokio::test(start_paused = true)]
async fn the_servers_timeout_is_paused_while_a_client_answers() {
    for (outer, inner) in ERAS.into_iter().flat_map(|outer| ERAS.map(|inner| (outer, inner))) {
        let (connector, _, mut servers) = start_desk(inner);
        servers[0].timeout = Duration::from_secs(2);
        let fixture = GatewayFixture::open(&connector, &servers).await;
        let thoughtful = plain(outer).timeout(Duration::from_secs(3_000));
        let thoughtful = thoughtful.answer(ServerRequest::Elicitation, |_| async {
            tokio::time::advance(Duration::from_secs(50)).await;
            Ok(json!({"action": "accept", "content": {"name": "Ada"}}))
        });
        let client = fixture.connect(thoughtful).await;
        let answer = client.call_tool("mcp__desk__ask", json!({})).await.unwrap();
        assert_eq!(answer.content(), "hello Ada", "{outer} to {inner}");
        // A server that does not wait for a client keeps its timeout.
        let start = tokio::time::Instant::now();
        let late = client.call_tool("mcp__desk__slow", json!({})).await.unwrap();
        let message = late.raw().text().into_owned();
        assert!(
            message.contains("no answer to tools/call within 2s"),
            "{outer} to {inner}: {message}"
        );
        assert_eq!(start.elapsed().as_secs(), 2, "{outer} to {inner}");
    }
}

/// Waits for a message to the server and returns its id.
async fn sent(server: &MemoryTransport, method: &str) -> RawJson {
    loop {
        let frame = server.wait_sent(TEST_TIMEOUT).await.expect(method);
        if frame.method() == Some(method) {
            return frame.id().map_or_else(RawJson::empty_object, RawJson::from);
        }
    }
}

fn answer(server: &MemoryTransport, id: &RawJson, result: &str) {
    let id = id.text();
    server.queue_incoming(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#));
}

/// A link that gives one frame at a time, so that each is handled before the
/// next.
struct OneByOne {
    link: MemoryLink,
    turn: bool,
}

impl Link for OneByOne {
    fn info(&self) -> LinkInfo {
        self.link.info()
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.link.set_recorder(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        self.link.send(outgoing);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.poll_flush(cx)
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if std::mem::take(&mut self.turn) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        let received = self.link.poll_receive(cx);
        self.turn = received.is_ready();
        received
    }
}

#[tokio::test]
async fn a_question_beside_the_response_of_another_call_is_asked() {
    let (server, link) = MemoryTransport::new();
    let (connector, mut link) = (TestConnector::default(), Some(OneByOne { link, turn: false }));
    connector.put("desk", move || link.take().expect("one connection"));
    let protocol = Protocol::Only(ERAS[0]);
    let servers = [ServerConfig { protocol, ..entry("desk") }];
    let shaking_hands = async {
        let id = sent(&server, "initialize").await;
        let about = r#""capabilities":{"tools":{}},"serverInfo":{"name":"desk","version":"1"}"#;
        answer(&server, &id, &format!(r#"{{"protocolVersion":"2025-11-25",{about}}}"#));
        let id = sent(&server, "tools/list").await;
        let tool = |name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}}}}"#);
        answer(&server, &id, &format!(r#"{{"tools":[{},{}]}}"#, tool("older"), tool("newer")));
    };
    let (fixture, ()) = tokio::join!(GatewayFixture::open(&connector, &servers), shaking_hands);
    let client = fixture.connect(answering(ERAS[1], "Ada")).await;

    let older = client.call_tool("mcp__desk__older", json!({})).start();
    let older_id = sent(&server, "tools/call").await;
    let newer = client.call_tool("mcp__desk__newer", json!({})).start();
    let newer_id = sent(&server, "tools/call").await;
    // The question does not name its call, so it goes to the newer one.
    server.queue_incoming(
        r#"{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"Who?",
            "requestedSchema":{"type":"object","properties":{}}}}"#,
    );
    answer(&server, &newer_id, r#"{"content":[{"type":"text","text":"new"}]}"#);
    let sent = server.wait_sent(TEST_TIMEOUT).await.expect("an answer").text().into_owned();
    assert!(sent.contains(r#""id":"q""#) && sent.contains("Ada"), "{sent}");
    answer(&server, &older_id, r#"{"content":[{"type":"text","text":"old"}]}"#);
    assert_eq!(within(newer).await.unwrap().content(), "new");
    assert_eq!(within(older).await.unwrap().content(), "old");
}
