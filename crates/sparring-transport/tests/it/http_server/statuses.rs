//! HTTP statuses outside of the protocol.

use http::{Method, Request, StatusCode};
use serde_json::json;
use sparring_wire::Revision;

use super::fixture::{TestServer, options};
use super::requests::{bare, get_in, initialize, modern, post, post_builder, request, with};

#[tokio::test]
async fn an_invalid_request_gets_the_status_of_its_problem() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let body = initialize(Revision::LATEST_LEGACY).to_string();
    let plain = || Request::post("/mcp").header("host", "localhost");
    let both = "application/json, text/event-stream";
    for (what, request, status) in [
        ("another path", bare(Request::get("/other").header("host", "localhost")), 404),
        ("no Accept", with(plain().header("content-type", "application/json"), body.clone()), 406),
        (
            "Accept without events",
            with(
                plain()
                    .header("content-type", "application/json")
                    .header("accept", "application/json"),
                body.clone(),
            ),
            406,
        ),
        (
            "GET without events",
            bare(Request::get("/mcp").header("host", "localhost").header("accept", "text/html")),
            406,
        ),
        ("no Content-Type", with(plain().header("accept", both), body.clone()), 415),
        (
            "text",
            with(plain().header("accept", both).header("content-type", "text/plain"), body.clone()),
            415,
        ),
        ("gzip", with(post_builder().header("content-encoding", "gzip"), body.clone()), 415),
        ("HEAD", bare(Request::head("/mcp").header("host", "localhost")), 405),
        ("PUT", bare(Request::put("/mcp").header("host", "localhost")), 405),
        ("POST to /sse", bare(Request::post("/sse").header("host", "localhost")), 405),
        ("GET of /messages", bare(Request::get("/messages").header("host", "localhost")), 405),
        ("no session", post(&request("tools/list", json!({}))), 400),
        ("unknown session", bare(get_in("nobody")), 404),
        (
            "GET in a revision without",
            bare(get_in("nobody").header("mcp-protocol-version", "2026-07-28")),
            405,
        ),
        (
            "another's version",
            with(
                post_builder().header("mcp-protocol-version", "1999-01-01"),
                request("ping", json!({})).to_string(),
            ),
            400,
        ),
    ] {
        let answer = connection.ask(request).await;
        assert_eq!(answer.status.as_u16(), status, "{what}: {answer:?}");
        if status == 405 {
            assert!(answer.header("allow").contains("OPTIONS"), "{what}: {answer:?}");
        } else {
            assert!(answer.code() < 0 && answer.json().get("id").is_none(), "{what}");
        }
    }
    let charset = with(
        plain().header("accept", both).header("content-type", "application/json; charset=utf-8"),
        body,
    );
    assert_eq!(connection.ask(charset).await.status, StatusCode::OK);
}

#[tokio::test]
async fn options_returns_the_methods_and_the_cors_headers() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    let plain = Request::options("/mcp").header("host", "localhost");
    let answer = connection.ask(bare(plain)).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert_eq!(answer.header("allow"), "GET, POST, DELETE, OPTIONS");
    assert_eq!(answer.header("access-control-allow-origin"), "");

    let preflight = Request::options("/mcp")
        .header("host", "localhost")
        .header("origin", "http://localhost:6274")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "mcp-session-id, content-type");
    let answer = connection.ask(bare(preflight)).await;
    assert_eq!(answer.header("access-control-allow-origin"), "http://localhost:6274");
    assert_eq!(answer.header("access-control-allow-headers"), "mcp-session-id, content-type");
    assert!(answer.header("access-control-expose-headers").contains("mcp-session-id"));
}

#[tokio::test]
async fn a_server_of_one_era_refuses_requests_of_the_other() {
    let modern_only = TestServer::with_revisions(&[Revision::LATEST], options()).await;
    let mut connection = modern_only.connect().await;
    for method in [Method::GET, Method::DELETE] {
        let request = Request::builder().method(method).uri("/mcp").header("host", "localhost");
        let answer = connection.ask(bare(request)).await;
        assert_eq!(answer.status, StatusCode::METHOD_NOT_ALLOWED);
        assert_eq!(answer.header("allow"), "POST, OPTIONS");
    }
    let answer = connection.ask(post(&initialize(Revision::LATEST_LEGACY))).await;
    assert_eq!((answer.status, answer.code()), (StatusCode::BAD_REQUEST, -32020));
    let sse = Request::get("/sse").header("host", "localhost");
    assert_eq!(connection.ask(bare(sse)).await.status, StatusCode::NOT_FOUND);

    let legacy_only = TestServer::with_revisions(&[Revision::LATEST_LEGACY], options()).await;
    let mut connection = legacy_only.connect().await;
    let answer = connection.ask(modern(request("server/discover", json!({})))).await;
    // With a modern error it would look like a modern server.
    assert_eq!((answer.status, answer.code()), (StatusCode::BAD_REQUEST, -32600));
}
