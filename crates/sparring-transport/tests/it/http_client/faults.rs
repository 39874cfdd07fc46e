//! Every way in which a server over HTTP can fail is told at once and by name,
//! and none of them as a mere time-out or a closed connection.

use std::time::Duration;

use sparring_peer::Client;
use sparring_peer::client::Error;
use sparring_transport::http::HttpTarget;

use super::site::{Asked, Reply, Site, call, connect, done, within};

/// Checks what is told of a call that is answered in this way.
async fn told(answer: impl Fn(&Asked) -> Reply + Send + Sync + 'static, parts: &[&str]) {
    let error = Site::calling(answer).await.call().await.expect_err("this is no answer");
    check(&error, parts);
}

fn check(error: &Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
    assert!(!matches!(error, Error::Timeout { .. }), "{text}");
}

async fn unreachable(url: &str, parts: &[&str]) {
    let outcome = connect(Client::builder(), &HttpTarget::new(url)).await;
    check(&outcome.expect_err("nobody is there"), parts);
}

#[tokio::test]
async fn a_name_that_does_not_exist() {
    unreachable("http://nowhere.invalid/mcp", &["cannot resolve the name nowhere.invalid"]).await;
}

#[tokio::test]
async fn nobody_at_the_port() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let parts = [&format!("cannot connect to http://{port}")[..], "Connection refused"];
    unreachable(&format!("http://{port}/mcp"), &parts).await;
}

#[tokio::test]
async fn statuses_are_told_with_the_start_of_the_body() {
    for (status, headers, body, part) in [
        (
            "401 Unauthorized",
            &[("www-authenticate", "Bearer realm=\"x\"")][..],
            "who?",
            "(Bearer realm=\"x\"): who?",
        ),
        ("403 Forbidden", &[], "not you", "403 Forbidden: not you"),
        ("404 Not Found", &[], "", "404 Not Found"),
        ("405 Method Not Allowed", &[], "", "405 Method Not Allowed"),
        (
            "500 Internal Server Error",
            &[],
            "stack\n\n  trace",
            "500 Internal Server Error: stack trace",
        ),
        (
            "502 Bad Gateway",
            &[("content-type", "text/html")],
            "<h1>nginx</h1>",
            "502 Bad Gateway: <h1>nginx</h1>",
        ),
    ] {
        told(move |_| Reply::of(status, headers, body), &["tools/call", part]).await;
    }
}

#[tokio::test]
async fn nobody_is_asked_twice_who_does_not_let_us_in() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let site = Site::new(move |_| Reply::of(status, &[], "")).await;
        let error = site.connect().await.expect_err("nobody gets in");
        check(&error, &["server/discover", status]);
        assert_eq!(site.asked().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn an_error_in_the_body_says_more_than_its_status() {
    let site = Site::calling(|asked| {
        let error = asked
            .result(serde_json::json!({}))
            .replace("\"result\":{}", "\"error\":{\"code\":-32602,\"message\":\"no such tool\"}");
        Reply::of("400 Bad Request", &[("content-type", "application/json")], &error)
    });
    let response = site.await.call().await.unwrap();
    assert_eq!(response.error_code(), Some(-32602));
    assert_eq!(response.envelope().and_then(|envelope| envelope.status), Some(400));
}

#[tokio::test]
async fn an_error_without_an_id_answers_the_request_whose_body_it_is() {
    let site = Site::calling(|_| {
        let body = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"go away"}}"#;
        Reply::of("400 Bad Request", &[("content-type", "application/json")], body)
    });
    assert_eq!(site.await.call().await.unwrap().error_code(), Some(-32600));
}

#[tokio::test]
async fn a_redirect_is_followed_within_the_origin_only() {
    let site = Site::calling(|asked| match &*asked.path {
        "/mcp" => Reply::of("307 Temporary Redirect", &[("location", "/mcp/")], ""),
        _ => Reply::json(&done(asked)),
    });
    assert_eq!(site.await.call().await.unwrap().content(), "done");
    let away = [("location", "https://elsewhere.example/mcp")];
    told(
        move |_| Reply::of("308 Permanent Redirect", &away, ""),
        &["308 Permanent Redirect", "another origin, https://elsewhere.example/mcp"],
    )
    .await;
    told(|_| Reply::of("302 Found", &[("location", "/mcp")], ""), &["more than 5 redirects"]).await;
}

#[tokio::test]
async fn what_is_neither_json_nor_events() {
    told(
        |_| Reply::of("200 OK", &[("content-type", "text/html; charset=utf-8")], "<html>hello"),
        &["with text/html instead of JSON or an event stream: <html>hello"],
    )
    .await;
    told(|_| Reply::of("200 OK", &[], "{}"), &["with no content type instead of JSON"]).await;
    told(|_| Reply::json("<html>"), &["not-json", "<html>"]).await;
    told(|_| Reply::json(""), &["with application/json and an empty body"]).await;
    told(|_| Reply::of("202 Accepted", &[], ""), &["202 Accepted to a request"]).await;
}

#[tokio::test]
async fn an_answer_to_another_request() {
    told(|_| Reply::json(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#), &["with id 99"]).await;
}

#[tokio::test]
async fn a_compressed_answer() {
    let gzip = [("content-type", "application/json"), ("content-encoding", "gzip")];
    told(move |_| Reply::of("200 OK", &gzip, "\u{1f}"), &["compressed answer (gzip)"]).await;
}

#[tokio::test]
async fn an_event_stream_that_ends_or_breaks() {
    told(|_| Reply::events(""), &["the event stream ended before the answer"]).await;
    told(|_| Reply::events("data: {\"jsonrpc\""), &["broke off in the middle of an event"]).await;
    let chunked =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    told(
        move |_| Reply::raw(format!("{chunked}20\r\ndata:")).then_close(),
        &["the answer broke off"],
    )
    .await;
    told(|_| Reply::events("data: hello\n\n"), &["not-json", "hello"]).await;
}

#[tokio::test]
async fn a_body_whose_length_or_chunks_are_wrong() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    for (rest, part) in [
        ("content-length: 100\r\n\r\n{}", "the answer broke off"),
        ("transfer-encoding: chunked\r\n\r\nzz\r\n{}", "the answer broke off"),
        ("transfer-encoding: chunked\r\n\r\n2\r\n{}", "the answer broke off"),
        ("content-length: x\r\n\r\n", "not HTTP"),
    ] {
        told(move |_| Reply::raw(format!("{head}{rest}")).then_close(), &[part]).await;
    }
}

#[tokio::test]
async fn a_chunked_answer_in_the_smallest_pieces() {
    let site = Site::calling(|asked| {
        let chunks: String = done(asked).chars().map(|c| format!("1;x=y\r\n{c}\r\n")).collect();
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked";
        Reply::raw(format!("{head}\r\n\r\n{chunks}0\r\ntrailer: 1\r\n\r\n"))
    });
    assert_eq!(site.await.call().await.unwrap().content(), "done");
}

#[tokio::test]
async fn what_does_not_speak_http() {
    told(|_| Reply::raw("220 mail.example ESMTP\r\n").then_close(), &["is not HTTP"]).await;
    told(|_| Reply::raw("").then_close(), &["closed", "without a response"]).await;
}

#[tokio::test]
async fn an_answer_that_is_too_long() {
    let site = Site::calling(|asked| Reply::json(&done(asked))).await;
    let mut target = site.target();
    let client = connect(Client::builder(), &target).await.unwrap();
    assert!(within(call(&client)).await.is_ok());
    target.max_message = 60;
    let error = connect(Client::builder(), &target).await.expect_err("discovery is longer");
    check(&error, &["too-large", "60"]);
}

/// What never comes to its end is told by how far it came.
#[tokio::test]
async fn what_stays_silent_or_drips() {
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"";
    for (bytes, part) in [
        ("", "the request was sent"),
        (events, "answered 200 with text/event-stream"),
        (half, "answered 200 with application/json, of which 2 bytes came"),
    ] {
        let site = Site::calling(move |_| Reply::raw(bytes).then_hang()).await;
        let client = site.connect().await.unwrap();
        let short = client.with_timeout(Duration::from_millis(50));
        let error = within(call(&short)).await.expect_err("it never comes");
        check(&error, &["no answer to tools/call within 50ms", part]);
    }
}

#[tokio::test]
async fn silence_can_be_told_before_the_request_is_over() {
    let site = Site::calling(|_| {
        Reply::raw("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").then_hang()
    })
    .await;
    let mut target = site.target();
    target.idle_timeout = Some(Duration::from_millis(50));
    let client = connect(Client::builder(), &target).await.unwrap();
    let error = within(call(&client)).await.expect_err("it never comes");
    check(&error, &["answered 200 with text/event-stream", "and then nothing came"]);
}

#[tokio::test]
async fn connections_are_kept_and_one_that_was_closed_is_made_anew() {
    let kept = Site::calling(|asked| Reply::json(&done(asked))).await;
    let client = kept.connect().await.unwrap();
    for _ in 0..5 {
        assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    }
    assert_eq!((kept.connections(), kept.asked().len()), (1, 6));

    let closing = Site::calling(|asked| Reply::json(&done(asked)).then_close()).await;
    let client = closing.connect().await.unwrap();
    for _ in 0..5 {
        assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    }
    assert_eq!(closing.connections(), 5);
}

#[tokio::test]
async fn a_call_is_not_made_again_where_the_server_sends_us_for_the_outcome() {
    let site = Site::calling(|_| Reply::of("303 See Other", &[("location", "/outcome")], "")).await;
    let error = site.call().await.expect_err("that is no answer").to_string();
    assert!(error.contains("303 See Other") && error.contains("/outcome"), "{error}");
    assert!(site.asked().iter().all(|asked| asked.path == "/mcp"));
}
