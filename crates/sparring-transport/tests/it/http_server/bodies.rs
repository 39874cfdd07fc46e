//! Bodies that are large, slow, chunked, incomplete or not text, and connections with several
//! requests.

use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use serde_json::json;
use sparring_transport::http::HttpOptions;
use sparring_wire::Revision;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use super::fixture::{TestServer, options};
use super::requests::{
    call, initialize, modern, modern_body, modern_post, post_builder, post_in, raw, read_all, with,
    within,
};

const POST_HEAD: &str =
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: */*\r\n";

#[tokio::test]
async fn the_server_refuses_a_large_body_with_any_framing() {
    let test_server = TestServer::with(HttpOptions { body_limit: 1_000, ..options() }).await;
    let address = test_server.serving.address().unwrap();
    let large = "x".repeat(100_000);
    let sized = format!("{POST_HEAD}Content-Length: {}\r\n\r\n{large}", large.len());
    let chunked =
        format!("{POST_HEAD}Transfer-Encoding: chunked\r\n\r\n186a0\r\n{large}\r\n0\r\n\r\n");
    let announced = format!("{POST_HEAD}Content-Length: 100000\r\nExpect: 100-continue\r\n\r\n");
    for bytes in [sized, chunked, announced] {
        let answer = raw(address, bytes.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 413 "), "{answer}");
        assert!(answer.contains("the body is larger than 1000 bytes"), "{answer}");
    }
    let mut connection = test_server.connect().await;
    assert_eq!(connection.ask(modern(call(1, "echo"))).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_large_body_within_the_limit_is_served() {
    let test_server = TestServer::open().await;
    let mut body = modern_body(call(1, "echo"));
    let message = "ü".repeat(3_000_000);
    body["params"]["arguments"]["message"] = message.clone().into();
    let answer = test_server.connect().await.ask(with(modern_post(&body), body.to_string())).await;
    assert_eq!(answer.json()["result"]["content"][0]["text"], message);
}

#[tokio::test]
async fn the_server_refuses_a_body_that_does_not_arrive_in_time() {
    let test_server =
        TestServer::with(HttpOptions { body_timeout: Duration::from_millis(20), ..options() })
            .await;
    let answer = raw(
        test_server.serving.address().unwrap(),
        format!("{POST_HEAD}Content-Length: 100\r\n\r\n{{\"jsonrpc\"").as_bytes(),
    )
    .await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
}

#[tokio::test]
async fn the_server_reads_a_body_in_pieces() {
    let test_server = TestServer::open().await;
    let mut stream = TcpStream::connect(test_server.serving.address().unwrap()).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let body = initialize(Revision::LATEST_LEGACY).to_string();
    let head = format!("{POST_HEAD}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    for piece in body.as_bytes().chunks(7) {
        let chunk = [format!("{:x};x=y\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        stream.write_all(&chunk).await.unwrap();
        stream.flush().await.unwrap();
        tokio::task::yield_now().await;
    }
    stream.write_all(b"0\r\nTrailer: x\r\n\r\n").await.unwrap();
    let answer = read_all(&mut stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn half_a_body_does_not_affect_other_connections() {
    let test_server = TestServer::open().await;
    let address = test_server.serving.address().unwrap();
    for bytes in ["POST /mcp HT", "POST /mcp HTTP/1.1\r\nHost: loc"] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(bytes.as_bytes()).await.unwrap();
        stream.shutdown().await.unwrap();
        read_all(&mut stream).await;
    }
    let mut stream = TcpStream::connect(address).await.unwrap();
    let half = format!("{POST_HEAD}Content-Length: 100\r\n\r\n{{\"jsonrpc\"");
    stream.write_all(half.as_bytes()).await.unwrap();
    stream.shutdown().await.unwrap();
    read_all(&mut stream).await;
    let bad_chunk = format!("{POST_HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\n");
    let answer = raw(address, bad_chunk.as_bytes()).await;
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 400 "), "{answer}");
    let mut connection = test_server.connect().await;
    assert_eq!(connection.ask(modern(call(1, "echo"))).await.status, StatusCode::OK);
}

#[tokio::test]
async fn a_client_reads_a_refusal_after_it_has_sent_a_large_body() {
    let test_server = TestServer::open().await;
    let address = test_server.serving.address().unwrap();
    let large = "x".repeat(6_000_000);
    for (head, status) in [
        ("POST /nowhere HTTP/1.1\r\nHost: localhost\r\n", "404"),
        ("POST /mcp HTTP/1.1\r\nHost: evil.com\r\n", "403"),
        ("POST /mcp HTTP/1.1\r\nHost: localhost\r\n", "406"),
        ("PUT /mcp HTTP/1.1\r\nHost: localhost\r\n", "405"),
    ] {
        let length = format!("Connection: close\r\nContent-Length: {}\r\n\r\n", large.len());
        // Writing all of it fails if the server closes the connection early.
        let answer = raw(address, format!("{head}{length}{large}").as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    }
}

#[tokio::test]
async fn a_body_that_is_not_json_is_a_parse_error() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let deep = format!("{}{}", "[".repeat(5_000), "]".repeat(5_000));
    for body in
        [&b"{"[..], b"", b"hello", b"{\"jsonrpc\": \"2.0\"} x", b"\"\xff\xfe\"", deep.as_bytes()]
    {
        let answer = connection.ask(with(post_builder(), body.to_vec())).await;
        let shown = String::from_utf8_lossy(&body[..body.len().min(20)]);
        assert_eq!((answer.status, answer.code()), (StatusCode::BAD_REQUEST, -32700), "{shown}");
        assert_eq!(answer.json().get("id"), None);
    }
}

#[tokio::test]
async fn a_connection_serves_pipelined_and_consecutive_requests() {
    let test_server = TestServer::open().await;
    let address = test_server.serving.address().unwrap();
    let one = |id: u64, close: &str| {
        let body = modern_body(call(id, "echo")).to_string();
        format!(
            "{POST_HEAD}MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n{close}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
    };
    let all = [one(1, ""), one(2, ""), one(3, "Connection: close\r\n")].concat();
    let answers = raw(address, all.as_bytes()).await;
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
    let places: Vec<_> =
        (1..=3).map(|id| answers.find(&format!("\"id\":{id},")).unwrap()).collect();
    assert!(places.is_sorted());

    let mut connection = test_server.connect().await;
    for id in 0..100 {
        let answer = connection.ask(modern(call(id, "echo"))).await;
        assert_eq!(answer.json()["id"], json!(id));
    }
}

#[tokio::test]
async fn a_refusal_keeps_the_connection_for_the_next_request() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    for _ in 0..3 {
        let refused = post_builder().header("origin", "http://evil.com");
        let refused = with(refused, modern_body(call(1, "echo")).to_string());
        assert_eq!(within(connection.ask(refused)).await.status, StatusCode::FORBIDDEN);
        assert_eq!(connection.ask(modern(call(1, "echo"))).await.status, StatusCode::OK);
    }
}

/// Returns a call of a modern client whose argument has that many bytes.
fn large_call(tool: &str, bytes: usize) -> Request<Full<Bytes>> {
    let mut body = modern_body(call(1, tool));
    body["params"]["arguments"]["message"] = "x".repeat(bytes).into();
    with(modern_post(&body), body.to_string())
}

#[tokio::test]
async fn large_requests_share_the_memory_of_the_server_until_they_are_answered() {
    let request_bytes_limit = 2_000_000;
    let mut test_server = TestServer::with(HttpOptions { request_bytes_limit, ..options() }).await;
    let mut waiting = test_server.connect().await;
    let waits = tokio::spawn(async move { waiting.ask(large_call("wait", 1_500_000)).await });
    assert_eq!(test_server.next().await, "begun");
    let answer = test_server.connect().await.ask(large_call("echo", 600_000)).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    assert!(answer.json().to_string().contains("too many large requests at once"), "{answer:?}");
    assert_eq!((answer.header("retry-after"), answer.header("connection")), ("1", "close"));
    // Small requests have room.
    let answer = test_server.connect().await.ask(large_call("echo", 10_000)).await;
    assert_eq!(answer.status, StatusCode::OK);
    test_server.release_call();
    assert_eq!(waits.await.unwrap().status, StatusCode::OK);
    ask_until(&test_server, &|| large_call("echo", 1_900_000), StatusCode::OK).await;
}

/// Repeats a request until it gets that status.
async fn ask_until(
    test_server: &TestServer,
    request: &dyn Fn() -> Request<Full<Bytes>>,
    status: StatusCode,
) {
    within(async { while test_server.connect().await.ask(request()).await.status != status {} })
        .await;
}

#[tokio::test]
async fn incomplete_bodies_take_memory_until_their_connections_end() {
    let options = HttpOptions { request_bytes_limit: 2_000_000, ..options() };
    let test_server = TestServer::with(options).await;
    let mut incomplete = Vec::new();
    for _ in 0..3 {
        let address = test_server.serving.address().unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let part = format!("{POST_HEAD}Content-Length: 700000\r\n\r\n{}", "x".repeat(600_000));
        stream.write_all(part.as_bytes()).await.unwrap();
        incomplete.push(stream);
    }
    let large = || large_call("echo", 600_000);
    ask_until(&test_server, &large, StatusCode::SERVICE_UNAVAILABLE).await;
    drop(incomplete);
    ask_until(&test_server, &large, StatusCode::OK).await;
}

#[tokio::test]
async fn a_request_of_a_session_takes_memory_after_its_client_has_left() {
    let request_bytes_limit = 1_000_000;
    let mut test_server = TestServer::with(HttpOptions { request_bytes_limit, ..options() }).await;
    let mut connection = test_server.connect().await;
    let id = connection.begin(Revision::LATEST_LEGACY).await;
    let large = |number: u64, tool: &str| {
        let mut body = call(number, tool);
        body["params"]["arguments"]["message"] = "x".repeat(800_000).into();
        post_in(&id, &body)
    };
    let request = large(1, "wait");
    let waits = tokio::spawn(async move { connection.send(request).await });
    assert_eq!(test_server.next().await, "begun");
    waits.abort();
    let _ = waits.await;
    let answer = test_server.connect().await.ask(large(2, "echo")).await;
    assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE);
    test_server.release_call();
    ask_until(&test_server, &|| large(3, "echo"), StatusCode::OK).await;
}

#[tokio::test]
async fn an_announced_body_takes_no_memory() {
    let options = HttpOptions { request_bytes_limit: 500_000, ..options() };
    let test_server = TestServer::with(options).await;
    let mut announcing = Vec::new();
    for _ in 0..20 {
        let address = test_server.serving.address().unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!("{POST_HEAD}Content-Length: 400000\r\n\r\n{{");
        stream.write_all(head.as_bytes()).await.unwrap();
        announcing.push(stream);
    }
    let answer = test_server.connect().await.ask(large_call("echo", 400_000)).await;
    assert_eq!(answer.status, StatusCode::OK);
}
