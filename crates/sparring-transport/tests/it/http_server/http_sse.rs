//! HTTP+SSE of 2024-11-05: one event stream and posted messages.

use http::{Request, StatusCode};
use serde_json::json;
use sparring_wire::Revision;

use super::fixture::{TestServer, until};
use super::requests::{Connection, Events, bare, call, frame, initialize, request, with};

async fn open(connection: &mut Connection) -> (Events, String) {
    let get =
        Request::get("/sse").header("host", "localhost").header("accept", "text/event-stream");
    let mut events = connection.listen(bare(get)).await;
    let endpoint = events.next().await.unwrap();
    assert_eq!(endpoint.name.as_deref(), Some("endpoint"));
    (events, String::from_utf8(endpoint.data.unwrap()).unwrap())
}

fn post(url: &str, body: &serde_json::Value) -> Request<http_body_util::Full<bytes::Bytes>> {
    let post = Request::post(url).header("host", "localhost");
    with(post.header("content-type", "application/json"), body.to_string())
}

#[tokio::test]
async fn messages_are_posted_and_answered_on_the_stream() {
    let test_server = TestServer::open().await;
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let (mut events, url) = open(&mut connection).await;
    assert!(url.starts_with("/messages?sessionId=") && url.len() >= 20 + 22, "{url}");
    let sent = other.ask(post(&url, &initialize(Revision::V2024_11_05))).await;
    assert_eq!((sent.status, sent.bytes.len()), (StatusCode::ACCEPTED, 0));
    let answer = events.next().await.unwrap();
    assert_eq!((answer.name.as_deref(), answer.id.as_deref()), (Some("message"), None));
    assert_eq!(frame(&answer)["result"]["protocolVersion"], "2024-11-05");
    let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
    assert_eq!(other.ask(post(&url, &ready)).await.status, StatusCode::ACCEPTED);
    for id in 2..5 {
        assert_eq!(other.ask(post(&url, &call(id, "many"))).await.status, StatusCode::ACCEPTED);
        for _ in 0..50 {
            assert_eq!(events.frame().await["method"], "notifications/said");
        }
        assert_eq!(events.frame().await["id"], id);
    }
    test_server.http.server().tools_changed();
    assert_eq!(events.frame().await["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn http_sse_does_not_support_modern_revisions() {
    let test_server = TestServer::open().await;
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let (mut events, url) = open(&mut connection).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discover = request("server/discover", json!({"_meta": meta}));
    assert_eq!(other.ask(post(&url, &discover)).await.status, StatusCode::ACCEPTED);
    let answer = events.frame().await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("before initialize"), "{answer}");
}

#[tokio::test]
async fn the_server_refuses_invalid_messages_and_unknown_sessions() {
    let test_server = TestServer::open().await;
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let (_events, url) = open(&mut connection).await;
    let ping = request("ping", json!({}));
    for (target, status) in [("/messages", 400), ("/messages?sessionId=x", 404)] {
        assert_eq!(other.ask(post(target, &ping)).await.status.as_u16(), status, "{target}");
    }
    let text = with(Request::post(&url).header("host", "localhost"), "{}");
    assert_eq!(other.ask(text).await.status, StatusCode::UNSUPPORTED_MEDIA_TYPE);
    let broken = Request::post(&url).header("host", "localhost");
    let broken = with(broken.header("content-type", "application/json"), "{");
    assert_eq!(other.ask(broken).await.code(), -32700);
    // The two kinds of session are independent.
    let id = url.split_once('=').unwrap().1;
    let get = Request::get("/mcp").header("host", "localhost").header("mcp-session-id", id);
    let get = bare(get.header("accept", "text/event-stream"));
    assert_eq!(other.ask(get).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_session_ends_with_its_stream() {
    let mut test_server = TestServer::open().await;
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let (events, url) = open(&mut connection).await;
    other.ask(post(&url, &initialize(Revision::V2024_11_05))).await;
    other.ask(post(&url, &call(2, "wait"))).await;
    assert_eq!(test_server.next().await, "begun");
    assert_eq!(test_server.http.session_count(), 1);
    drop((events, connection));
    assert_eq!(test_server.next().await, "dropped");
    until("the session ends", || test_server.http.session_count() == 0).await;
    assert_eq!(other.ask(post(&url, &call(3, "echo"))).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn a_shutdown_finishes_running_requests() {
    let mut test_server = TestServer::open().await;
    let (mut connection, mut other) = (test_server.connect().await, test_server.connect().await);
    let (mut events, url) = open(&mut connection).await;
    other.ask(post(&url, &initialize(Revision::V2024_11_05))).await;
    other.ask(post(&url, &call(2, "wait"))).await;
    assert_eq!(test_server.next().await, "begun");
    events.next().await.unwrap();
    let TestServer { http, serving, .. } = test_server;
    let stopped = tokio::spawn(serving.stop(std::time::Duration::from_secs(20)));
    until("it hears of the end", || http.session_count() == 1).await;
    http.server().handler().release_call();
    let rest = events.rest().await;
    assert_eq!(rest[0]["result"]["content"][0]["text"], "waited");
    super::requests::within(stopped).await.unwrap();
}
