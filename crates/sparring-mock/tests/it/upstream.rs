//! Tools backed by an HTTP server, and the HTTP mock.

use std::time::Duration;

use serde_json::json;
use sparring_mock::{HttpMock, HttpReply, MockServer, Settings};
use sparring_wire::Revision;

use crate::fixture::{TIMEOUT, call, call_text, connect};

/// Loads a mock whose tools call this upstream.
fn asking(upstream: &HttpMock) -> MockServer {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.mock.yaml");
    let script = "
tools:
  - name: weather
    input: {city: string}
    http: {url: \"${vars.api}/weather/${args.city}\", query: {units: \"${args.units:-metric}\", q: a b}, headers: {X-Key: \"k ${call}\"}}
  - {name: post, http: {url: \"${vars.api}/items\", json: {name: \"${args.name:-x}\", n: 1}}}
  - {name: put, http: {method: PUT, url: \"${vars.api}/items\", body: \"n=${args.n:-1}\"}}
  - {name: slow, http: {url: \"${vars.api}/slow\", timeout: 50ms}}
  - {name: nobody, http: {url: \"http://127.0.0.1:9/x\"}}
";
    std::fs::write(&path, script).unwrap();
    let vars = vec![("api".to_owned(), json!(upstream.url("")))];
    MockServer::from_file(&path, &Settings { vars, ..Settings::default() }).unwrap()
}

#[tokio::test]
async fn answers_with_the_response_of_the_upstream() {
    let upstream = HttpMock::start().await.unwrap();
    let mock = asking(&upstream);
    for revision in [Revision::LATEST_LEGACY, Revision::LATEST] {
        let client = connect(&mock, revision).await;
        upstream.enqueue(HttpReply::json(&json!({"temperature": 15})));
        let response = call(&client, "weather", json!({"city": "São Paulo/x?y"})).await;
        assert_eq!(response.content(), "{\"temperature\":15}");
        assert_eq!(response.structured().unwrap().text(), "{\"temperature\":15}");
        let asked = upstream.take_request(TIMEOUT).await.unwrap();
        assert_eq!((&*asked.method, &*asked.path), ("GET", "/weather/S%C3%A3o%20Paulo%2Fx%3Fy"));
        assert_eq!(asked.query.as_deref(), Some("units=metric&q=a%20b"));
        assert!(asked.headers.get("x-key").unwrap().starts_with("k "));
        assert_eq!(asked.headers.get("host"), Some(&upstream.url("")["http://".len()..]));
        upstream.enqueue(HttpReply::new(201).body("made"));
        assert_eq!(call_text(&client, "post", json!({"name": "Ada"})).await, "made");
        let asked = upstream.take_request(TIMEOUT).await.unwrap();
        assert_eq!((&*asked.method, &*asked.text()), ("POST", "{\"name\":\"Ada\",\"n\":1}"));
        assert_eq!(asked.headers.get("content-type"), Some("application/json"));
        upstream.enqueue(HttpReply::new(200).body("ok"));
        call_text(&client, "put", json!({"n": 7})).await;
        let asked = upstream.take_request(TIMEOUT).await.unwrap();
        assert_eq!((&*asked.method, &*asked.text()), ("PUT", "n=7"));
    }
}

#[tokio::test]
async fn a_failed_upstream_gives_an_error_result() {
    let upstream = HttpMock::start().await.unwrap();
    let mock = asking(&upstream);
    let client = connect(&mock, Revision::LATEST).await;
    let oslo = || json!({"city": "Oslo"});
    for status in [404, 500] {
        upstream.enqueue(HttpReply::new(status).body("no such city"));
        let response = call(&client, "weather", oslo()).await;
        assert!(response.is_error());
        assert!(response.content().starts_with(&format!("HTTP {status}")), "{response:?}");
        let structured: serde_json::Value = response.structured().unwrap().deserialize().unwrap();
        assert_eq!(
            (&structured["status"], &structured["body"]),
            (&json!(status), &json!("no such city"))
        );
    }
    upstream.enqueue(HttpReply::new(204));
    let response = call(&client, "weather", oslo()).await;
    assert!(!response.is_error() && response.content().starts_with("HTTP 204"), "{response:?}");
    upstream.enqueue(HttpReply::disconnect());
    assert!(call(&client, "weather", oslo()).await.is_error());
    upstream.on("get", "/slow", HttpReply::new(200).delay(Duration::from_secs(60)));
    let response = call(&client, "slow", json!({})).await;
    assert!(response.is_error() && response.content().starts_with("timed out after 50ms"));
    let response = call(&client, "nobody", json!({})).await;
    assert!(response.is_error());
    assert_eq!(response.content(), "Connection refused: http://127.0.0.1:9/x");
    assert_eq!(upstream.dropped_requests(), 0);
}

#[tokio::test]
async fn an_upstream_repeats_routes_and_gives_enqueued_replies_once() {
    let upstream = HttpMock::start().await.unwrap();
    upstream.on("GET", "/a", HttpReply::new(200).body("stands").header("x-a", "1"));
    upstream.enqueue(HttpReply::new(200).body("once"));
    let get = async |path: &str| {
        let response = reqwest::get(upstream.url(path)).await.unwrap();
        (response.status().as_u16(), response.text().await.unwrap())
    };
    assert_eq!(get("/a").await, (200, "once".to_owned()));
    assert_eq!(get("/a").await, (200, "stands".to_owned()));
    assert_eq!(get("/a?x=1").await, (200, "stands".to_owned()));
    let reported = "no route for GET /b\n  nearest route: at path: expected \"/a\", found \"/b\"";
    assert_eq!(get("/b").await, (404, reported.to_owned()));
    assert_eq!(upstream.requests().len(), 4);
    assert_eq!(upstream.take_request(TIMEOUT).await.unwrap().path, "/a");
    let url = upstream.url("/a");
    drop(upstream);
    for _ in 0..1_000 {
        if reqwest::get(&url).await.is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
    panic!("it still answers");
}

#[test]
fn rejects_invalid_requests() {
    for (http, message) in [
        ("{url: \"ftp://a\"}", "must begin with http://"),
        ("{url: \"${args.url}\"}", "must begin with http://"),
        ("{url: \"http://a\", body: x, json: 1}", "either `body` or `json`"),
        ("{url: \"http://a\", method: \"G T\"}", "not an HTTP method"),
        ("{url: \"http://a\", headers: {\"a b\": c}}", "not a header name"),
        ("{query: {}}", "missing key `url`"),
    ] {
        let script = format!("tools: [{{name: a, http: {http}}}]");
        let reported = MockServer::from_yaml(&script, ".").err().map(|it| it.to_string());
        assert!(
            reported.as_ref().is_some_and(|reported| reported.contains(message)),
            "{http}: {reported:?}"
        );
    }
}
