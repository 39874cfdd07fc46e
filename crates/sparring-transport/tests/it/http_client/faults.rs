//! Every failure of an HTTP server is reported at once and names the problem; none is reported
//! as a mere timeout or a closed connection.

use std::time::Duration;

use sparring_peer::Client;
use sparring_peer::client::Error;
use sparring_transport::http::HttpTarget;

use super::scripted_server::{ReceivedRequest, Reply, ScriptedServer, call, connect, done, within};

/// Checks the error of a call that is answered in this way.
async fn call_fails_with(
    answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    parts: &[&str],
) {
    let error = ScriptedServer::calling(answer).await.call().await.expect_err("this is no answer");
    check(&error, parts);
}

fn check(error: &Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in: {text}");
    }
    assert!(!matches!(error, Error::Timeout { .. }), "{text}");
}

async fn check_unreachable(url: &str, parts: &[&str]) {
    let outcome = connect(Client::builder(), &HttpTarget::new(url)).await;
    check(&outcome.expect_err("no connection"), parts);
}

#[tokio::test]
async fn reports_an_unknown_host_name() {
    check_unreachable("http://nowhere.invalid/mcp", &["cannot resolve the name nowhere.invalid"])
        .await;
}

#[tokio::test]
async fn reports_a_refused_connection() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let parts = [&format!("cannot connect to http://{port}")[..], "Connection refused"];
    check_unreachable(&format!("http://{port}/mcp"), &parts).await;
}

#[tokio::test]
async fn reports_statuses_with_the_start_of_the_body() {
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
        call_fails_with(move |_| Reply::of(status, headers, body), &["tools/call", part]).await;
    }
}

#[tokio::test]
async fn does_not_retry_after_a_refused_authorization() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let server = ScriptedServer::new(move |_| Reply::of(status, &[], "")).await;
        let error = server.connect().await.expect_err("a refusal");
        check(&error, &["server/discover", status]);
        assert_eq!(server.asked().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn reports_an_error_in_the_body_instead_of_the_status() {
    let server = ScriptedServer::calling(|asked| {
        let error = asked
            .result(serde_json::json!({}))
            .replace("\"result\":{}", "\"error\":{\"code\":-32602,\"message\":\"no such tool\"}");
        Reply::of("400 Bad Request", &[("content-type", "application/json")], &error)
    });
    let response = server.await.call().await.unwrap();
    assert_eq!(response.error_code(), Some(-32602));
    assert_eq!(response.envelope().and_then(|envelope| envelope.status), Some(400));
}

#[tokio::test]
async fn an_error_without_an_id_answers_the_request_whose_body_it_is() {
    let server = ScriptedServer::calling(|_| {
        let body = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"go away"}}"#;
        Reply::of("400 Bad Request", &[("content-type", "application/json")], body)
    });
    assert_eq!(server.await.call().await.unwrap().error_code(), Some(-32600));
}

#[tokio::test]
async fn a_redirect_is_followed_within_the_origin_only() {
    let server = ScriptedServer::calling(|asked| match &*asked.path {
        "/mcp" => Reply::of("307 Temporary Redirect", &[("location", "/mcp/")], ""),
        _ => Reply::json(&done(asked)),
    });
    assert_eq!(server.await.call().await.unwrap().content(), "done");
    let away = [("location", "https://elsewhere.example/mcp")];
    call_fails_with(
        move |_| Reply::of("308 Permanent Redirect", &away, ""),
        &["308 Permanent Redirect", "another origin, https://elsewhere.example/mcp"],
    )
    .await;
    call_fails_with(
        |_| Reply::of("302 Found", &[("location", "/mcp")], ""),
        &["more than 5 redirects"],
    )
    .await;
}

#[tokio::test]
async fn reports_a_body_that_is_neither_json_nor_events() {
    call_fails_with(
        |_| Reply::of("200 OK", &[("content-type", "text/html; charset=utf-8")], "<html>hello"),
        &["with text/html instead of JSON or an event stream: <html>hello"],
    )
    .await;
    call_fails_with(|_| Reply::of("200 OK", &[], "{}"), &["with no content type instead of JSON"])
        .await;
    call_fails_with(|_| Reply::json("<html>"), &["wire/not-json", "<html>"]).await;
    call_fails_with(|_| Reply::json(""), &["with application/json and an empty body"]).await;
    call_fails_with(
        |_| Reply::of("202 Accepted", &[], ""),
        &["202 Accepted without a JSON-RPC response"],
    )
    .await;
}

#[tokio::test]
async fn reports_an_answer_to_another_request() {
    call_fails_with(|_| Reply::json(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#), &["with id 99"])
        .await;
}

#[tokio::test]
async fn reports_a_compressed_answer() {
    let gzip = [("content-type", "application/json"), ("content-encoding", "gzip")];
    call_fails_with(move |_| Reply::of("200 OK", &gzip, "\u{1f}"), &["compressed body (gzip)"])
        .await;
}

#[tokio::test]
async fn reports_an_event_stream_that_ends_or_breaks() {
    call_fails_with(|_| Reply::events(""), &["the event stream ended before the answer"]).await;
    call_fails_with(|_| Reply::events("data: {\"jsonrpc\""), &["ended in the middle of an event"])
        .await;
    let chunked =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    call_fails_with(
        move |_| Reply::raw(format!("{chunked}20\r\ndata:")).then_close(),
        &["the response is incomplete"],
    )
    .await;
    call_fails_with(|_| Reply::events("data: hello\n\n"), &["wire/not-json", "hello"]).await;
}

#[tokio::test]
async fn reports_a_body_with_wrong_length_or_chunks() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
    for (rest, part) in [
        ("content-length: 100\r\n\r\n{}", "the response is incomplete"),
        ("transfer-encoding: chunked\r\n\r\nzz\r\n{}", "the response is incomplete"),
        ("transfer-encoding: chunked\r\n\r\n2\r\n{}", "the response is incomplete"),
        ("content-length: x\r\n\r\n", "did not answer with HTTP"),
    ] {
        call_fails_with(move |_| Reply::raw(format!("{head}{rest}")).then_close(), &[part]).await;
    }
}

#[tokio::test]
async fn reads_a_chunked_answer_in_the_smallest_pieces() {
    let server = ScriptedServer::calling(|asked| {
        let chunks: String = done(asked).chars().map(|c| format!("1;x=y\r\n{c}\r\n")).collect();
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked";
        Reply::raw(format!("{head}\r\n\r\n{chunks}0\r\ntrailer: 1\r\n\r\n"))
    });
    assert_eq!(server.await.call().await.unwrap().content(), "done");
}

#[tokio::test]
async fn reports_a_server_that_does_not_use_http() {
    call_fails_with(
        |_| Reply::raw("220 mail.example ESMTP\r\n").then_close(),
        &["did not answer with HTTP"],
    )
    .await;
    call_fails_with(|_| Reply::raw("").then_close(), &["closed", "without a response"]).await;
}

#[tokio::test]
async fn reports_an_answer_that_is_too_long() {
    let server = ScriptedServer::calling(|asked| Reply::json(&done(asked))).await;
    let mut target = server.target();
    let client = connect(Client::builder(), &target).await.unwrap();
    assert!(within(call(&client)).await.is_ok());
    target.max_message = 60;
    let error = connect(Client::builder(), &target).await.expect_err("discovery is longer");
    check(&error, &["wire/too-large", "60"]);
}

/// Checks that the error of an endless response names the bytes received so far.
#[tokio::test]
async fn reports_the_progress_of_a_silent_or_slow_response() {
    let events = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";
    let half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"";
    for (bytes, part) in [
        ("", "the request was sent"),
        (events, "answered 200 with text/event-stream"),
        (half, "answered 200 with application/json and sent 2 bytes"),
    ] {
        let server = ScriptedServer::calling(move |_| Reply::raw(bytes).then_hang()).await;
        let client = server.connect().await.unwrap();
        let short = client.with_timeout(Duration::from_millis(50));
        let error = within(call(&short)).await.expect_err("it never comes");
        check(&error, &["no answer to tools/call within 50ms", part]);
    }
}

#[tokio::test]
async fn the_idle_timeout_fails_before_the_request_timeout() {
    let server = ScriptedServer::calling(|_| {
        Reply::raw("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n").then_hang()
    })
    .await;
    let mut target = server.target();
    target.idle_timeout = Some(Duration::from_millis(50));
    let client = connect(Client::builder(), &target).await.unwrap();
    let error = within(call(&client)).await.expect_err("it never comes");
    check(&error, &["answered 200 with text/event-stream", "and sent nothing more"]);
}

#[tokio::test]
async fn keeps_connections_and_replaces_a_closed_one() {
    let kept = ScriptedServer::calling(|asked| Reply::json(&done(asked))).await;
    let client = kept.connect().await.unwrap();
    for _ in 0..5 {
        assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    }
    assert_eq!((kept.connections(), kept.asked().len()), (1, 6));

    let closing = ScriptedServer::calling(|asked| Reply::json(&done(asked)).then_close()).await;
    let client = closing.connect().await.unwrap();
    for _ in 0..5 {
        assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    }
    assert_eq!(closing.connections(), 5);
}

#[tokio::test]
async fn does_not_follow_a_303_after_a_call() {
    let server =
        ScriptedServer::calling(|_| Reply::of("303 See Other", &[("location", "/outcome")], ""))
            .await;
    let error = server.call().await.expect_err("that is no answer").to_string();
    assert!(error.contains("303 See Other") && error.contains("/outcome"), "{error}");
    assert!(server.asked().iter().all(|asked| asked.path == "/mcp"));
}
