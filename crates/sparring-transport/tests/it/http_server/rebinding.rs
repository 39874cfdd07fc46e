//! DNS rebinding: the allowed values of Host and Origin.

use http::{Request, StatusCode};
use serde_json::json;
use sparring_transport::http::HttpOptions;
use sparring_wire::Revision;
use tokio::net::TcpListener;

use super::fixture::{TestServer, controlled_server, options};
use super::requests::{Connection, initialize, raw, request, with};

fn post_from(host: &str, origin: Option<&str>) -> http::request::Builder {
    let builder = Request::post("/mcp")
        .header("host", host)
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    match origin {
        Some(origin) => builder.header("origin", origin),
        None => builder,
    }
}

async fn check(test_server: &TestServer, cases: &[(&str, Option<&str>, StatusCode)]) {
    let body = initialize(Revision::LATEST_LEGACY).to_string();
    let mut connection = test_server.connect().await;
    for (host, origin, status) in cases {
        let answer = connection.ask(with(post_from(host, *origin), body.clone())).await;
        assert_eq!(answer.status, *status, "{host} {origin:?}");
        let allowed = answer.header("access-control-allow-origin");
        let expected = origin.filter(|_| status.is_success()).unwrap_or_default();
        assert_eq!(allowed, expected, "{host} {origin:?}");
    }
}

#[tokio::test]
async fn on_loopback_only_names_of_this_machine_are_served() {
    use StatusCode as S;
    let test_server = TestServer::open().await;
    let port = test_server.serving.address().unwrap().port();
    let with_port = format!("localhost:{port}");
    let origin = format!("http://127.0.0.1:{port}");
    check(
        &test_server,
        &[
            (&with_port, None, S::OK),
            ("127.0.0.1", None, S::OK),
            ("[::1]:80", None, S::OK),
            ("LocalHost", Some(&origin), S::OK),
            ("localhost", Some("https://localhost"), S::OK),
            ("evil.example.com", None, S::FORBIDDEN),
            ("evil.example.com", Some("http://evil.example.com"), S::FORBIDDEN),
            ("localhost.evil.example.com", None, S::FORBIDDEN),
            ("192.168.0.1", None, S::FORBIDDEN),
            ("localhost", Some("http://evil.example.com"), S::FORBIDDEN),
            ("localhost", Some("null"), S::FORBIDDEN),
            ("localhost", Some("http://localhost.evil.example.com"), S::FORBIDDEN),
        ],
    )
    .await;
}

#[tokio::test]
async fn every_route_checks_the_host() {
    let test_server = TestServer::open().await;
    let mut connection = test_server.connect().await;
    for (method, path) in [
        ("GET", "/mcp"),
        ("DELETE", "/mcp"),
        ("OPTIONS", "/mcp"),
        ("GET", "/sse"),
        ("POST", "/messages"),
        ("GET", "/nowhere"),
    ] {
        let request = Request::builder().method(method).uri(path).header("host", "evil.com");
        let answer = connection.ask(with(request, "")).await;
        assert_eq!(answer.status, StatusCode::FORBIDDEN, "{method} {path}");
    }
}

#[tokio::test]
async fn the_server_checks_missing_duplicate_and_absolute_hosts() {
    let test_server = TestServer::open().await;
    let address = test_server.serving.address().unwrap();
    for (head, status) in [
        ("GET /mcp HTTP/1.1\r\n", "400"),
        ("GET /mcp HTTP/1.1\r\nHost: localhost\r\nHost: evil.com\r\n", "400"),
        ("GET http://evil.com/mcp HTTP/1.1\r\nHost: localhost\r\n", "403"),
        ("GET http://localhost/mcp HTTP/1.1\r\nHost: evil.com\r\n", "403"),
        ("GET http://localhost/mcp HTTP/1.1\r\nHost: localhost\r\n", "406"),
    ] {
        let answer = raw(address, format!("{head}Connection: close\r\n\r\n").as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{head}: {answer}");
    }
}

#[tokio::test]
async fn hosts_and_origins_can_be_configured() {
    use StatusCode as S;
    let test_server = TestServer::with(HttpOptions {
        allowed_hosts: Some(vec!["mcp.example.com".to_owned(), "other:81".to_owned()]),
        allowed_origins: Some(vec!["https://app.example.com".to_owned()]),
        ..options()
    })
    .await;
    check(
        &test_server,
        &[
            ("mcp.example.com:8443", None, S::OK),
            ("other:81", Some("https://app.example.com"), S::OK),
            ("other:82", None, S::FORBIDDEN),
            ("localhost", None, S::FORBIDDEN),
            ("mcp.example.com", Some("https://mcp.example.com"), S::FORBIDDEN),
        ],
    )
    .await;
    let any = Some(vec!["*".to_owned()]);
    let open = HttpOptions { allowed_hosts: any.clone(), allowed_origins: any, ..options() };
    check(&TestServer::with(open).await, &[("evil.com", Some("http://evil.com"), S::OK)]).await;
}

#[tokio::test]
async fn a_public_server_accepts_any_host_and_refuses_foreign_origins() {
    let (http, _happened) = controlled_server(&Revision::ALL, options());
    let serving = http.serve(TcpListener::bind("0.0.0.0:0").await.unwrap());
    let port = serving.address().unwrap().port();
    let mut connection = Connection::to(([127, 0, 0, 1], port).into()).await;
    let body = request("ping", json!({})).to_string();
    let named = connection.ask(with(post_from("mcp.example.com", None), body.clone())).await;
    assert_eq!(named.status, StatusCode::BAD_REQUEST, "there is no session");
    let page = post_from("mcp.example.com", Some("http://mcp.example.com"));
    assert_eq!(connection.ask(with(page, body)).await.status, StatusCode::FORBIDDEN);
}
