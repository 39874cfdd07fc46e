//! Messages that wait for others: no missing response of a server blocks the rest forever.

use std::time::Duration;

use serde_json::json;
use sparring_peer::Client;
use sparring_peer::client::Error;
use sparring_wire::RawJson;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::mpsc;

use super::scripted_server::{
    ReceivedRequest, Reply, ScriptedServer, call, connect, discovered, done, within,
};
use super::streams::session_with;

const OPEN_EVENT_STREAM: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n";

#[tokio::test]
async fn an_unanswered_notification_delays_other_messages_for_a_limited_time() {
    // Without the head of a response, or with the head only.
    for answer in ["", OPEN_EVENT_STREAM] {
        let server = session_with(
            move |_| Reply::raw(answer).then_hang(),
            |asked| Reply::json(&done(asked)),
        )
        .await;
        assert_eq!(server.call().await.unwrap().content(), "done");
    }
}

#[tokio::test]
async fn a_timeout_names_the_notification_that_it_waited_for() {
    let server =
        session_with(|_| Reply::raw("").then_hang(), |asked| Reply::json(&done(asked))).await;
    let client = server.connect().await.unwrap();
    let short = client.with_timeout(Duration::from_millis(50));
    let error = within(call(&short)).await.expect_err("it had to wait").to_string();
    assert!(error.contains("waiting for the server to accept an earlier message"), "{error}");
}

#[tokio::test]
async fn a_session_is_ended_although_a_notification_was_never_answered() {
    let server =
        session_with(|_| Reply::raw("").then_hang(), |asked| Reply::json(&done(asked))).await;
    within(server.connect().await.unwrap().close()).await;
    assert_eq!(server.asked().last().map(ReceivedRequest::what).as_deref(), Some("DELETE"));
}

#[tokio::test]
async fn a_response_to_a_notification_fails_no_request() {
    for body in [r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#, "{}", "7"]
    {
        for status in ["400 Bad Request", "200 OK"] {
            let server = ScriptedServer::calling(move |asked| match &*asked.what() {
                "notifications/x" => {
                    Reply::of(status, &[("content-type", "application/json")], body)
                }
                "tools/call" => Reply::raw(OPEN_EVENT_STREAM).then_hang(),
                _ => Reply::json(&asked.result(json!({"resultType": "complete"}))),
            })
            .await;
            let builder =
                sparring_peer::ClientBuilder::with_options(sparring_peer::client::ClientOptions {
                    grace_period: Duration::ZERO,
                    ..Default::default()
                });
            let client = connect(builder, &server.target()).await.unwrap();
            let short = client.with_timeout(Duration::from_millis(100));
            client.notify("notifications/x", None);
            let error = within(call(&short)).await.expect_err("it is silent");
            assert!(matches!(error, Error::Stalled { .. }), "{error}");
        }
    }
}

#[tokio::test]
async fn reports_a_message_that_the_server_does_not_accept() {
    let question = r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#;
    let ready = |_: &ReceivedRequest| Reply::of("202 Accepted", &[], "");
    let server = session_with(ready, move |asked| match &*asked.what() {
        "tools/call" => Reply::events(&format!("data: {question}\n\ndata: {}\n\n", done(asked))),
        "GET" => Reply::of("405 Method Not Allowed", &[], ""),
        _ => Reply::of("400 Bad Request", &[], "no, thanks"),
    })
    .await;
    let client = connect(Client::builder().roots(["file:///a"]), &server.target()).await.unwrap();
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    client.notify("notifications/roots/list_changed", None);
    while client.background_errors().len() < 2 {
        within(call(&client)).await.unwrap();
    }
    let reports: Vec<_> = client.background_errors().iter().map(ToString::to_string).collect();
    let answered = format!("{} answered 400 Bad Request to", server.url);
    for expected in [
        format!("{answered} our response to its request \"q\": no, thanks"),
        format!("{answered} notifications/roots/list_changed: no, thanks"),
    ] {
        assert!(reports.contains(&expected), "{reports:?}");
    }
}

#[tokio::test]
async fn sends_more_bytes_than_the_queue_can_hold() {
    let server = ScriptedServer::calling(|asked| match &*asked.what() {
        "notifications/x" => Reply::of("202 Accepted", &[], ""),
        _ => Reply::json(&done(asked)),
    })
    .await;
    let client = server.connect().await.unwrap();
    client.notify("notifications/x", None);
    let large = RawJson::from(json!({"message": "x".repeat(5 * 1024 * 1024)}));
    let calls = (0..4).map(|_| client.call_tool("echo", large.clone()).start());
    for answer in within(futures_util::future::join_all(calls)).await {
        assert_eq!(answer.unwrap().content(), "done");
    }
}

#[tokio::test]
async fn waiting_requests_do_not_delay_other_messages() {
    const MAX_CONCURRENT: usize = 256;
    let (reports, mut received) = mpsc::unbounded_channel();
    let server = ScriptedServer::calling(move |asked| {
        reports.send(asked.what()).unwrap();
        match &*asked.what() {
            "tools/call" => Reply::raw(OPEN_EVENT_STREAM).then_hang(),
            _ => Reply::of("202 Accepted", &[], ""),
        }
    })
    .await;
    let client = server.connect().await.unwrap();
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..MAX_CONCURRENT + 1 {
        let client = client.clone();
        calls.spawn(async move { call(&client).await });
    }
    for _ in 0..MAX_CONCURRENT {
        assert_eq!(within(received.recv()).await.as_deref(), Some("tools/call"));
    }
    client.notify("notifications/x", None);
    assert_eq!(within(received.recv()).await.as_deref(), Some("notifications/x"));
    let short = client.with_timeout(Duration::from_millis(50));
    let error = within(call(&short)).await.expect_err("it had to wait").to_string();
    assert!(error.contains("waiting for one of 256 other requests"), "{error}");
    // Messages that still wait when the client is closed are not sent.
    within(client.close()).await;
    while let Some(outcome) = within(calls.join_next()).await {
        outcome.unwrap().expect_err("closed");
    }
    assert!(received.try_recv().is_err());
}

/// A server that answers after the beginning of a request and reads no more of it.
async fn serve_early_responses(refuses: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let mut serving = tokio::task::JoinSet::new();
        while let Ok((mut stream, _)) = listener.accept().await {
            serving.spawn(async move {
                let mut bytes = vec![0; 4096];
                let mut text = String::new();
                loop {
                    let read = stream.read(&mut bytes).await.unwrap_or(0);
                    text.push_str(&String::from_utf8_lossy(&bytes[..read]));
                    let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                    let id = body.split("\"id\":").nth(1).and_then(|rest| rest.split(',').next());
                    let body = format!("{{\"id\":{}}}", id.unwrap());
                    let large = head.contains("content-length: 8");
                    let asked = ReceivedRequest { body, ..ReceivedRequest::default() };
                    let answer = match head.contains("server/discover") {
                        true => discovered(&asked),
                        false => done(&asked),
                    };
                    if large && refuses {
                        let refusal = "HTTP/1.1 413 Payload Too Large\r\ncontent-length: 4\r\nconnection: close\r\n\r\nlong";
                        return stream.write_all(refusal.as_bytes()).await.unwrap();
                    }
                    let length = answer.len();
                    let answer = format!("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{answer}");
                    stream.write_all(answer.as_bytes()).await.unwrap();
                    if large {
                        std::future::pending::<()>().await;
                    }
                    text.clear();
                }
            });
        }
    });
    url
}

#[tokio::test]
async fn a_connection_whose_request_was_not_read_is_not_used_again() {
    let target = sparring_transport::http::HttpTarget::new(serve_early_responses(false).await);
    let client = connect(Client::builder(), &target).await.unwrap();
    let large = json!({"message": "x".repeat(8_000_000)});
    let answer = within(client.call_tool("echo", large).start()).await.unwrap();
    assert_eq!(answer.content(), "done");
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");
}

#[tokio::test]
async fn reads_the_response_of_a_server_that_stops_reading() {
    let target = sparring_transport::http::HttpTarget::new(serve_early_responses(true).await);
    let client = connect(Client::builder(), &target).await.unwrap();
    for _ in 0..5 {
        let large = json!({"message": "x".repeat(8_000_000)});
        let error = within(client.call_tool("echo", large).start()).await;
        let error = error.expect_err("it is refused").to_string();
        assert!(error.contains("413 Payload Too Large"), "{error}");
    }
}

#[tokio::test]
async fn the_client_retries_a_call_refused_for_its_headers() {
    let server = ScriptedServer::calling(|asked| {
        match (&*asked.what(), asked.header("mcp-param-message")) {
            ("tools/list", _) => Reply::json(&asked.result(json!({
                "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": [{"name": "echo", "inputSchema": {"type": "object", "properties": {
                    "message": {"type": "string", "x-mcp-header": "Message"}}}}],
            }))),
            (_, Some("hi")) => Reply::json(&done(asked)),
            _ => {
                let error = r#""error":{"code":-32020,"message":"Mcp-Param-Message is missing"}"#;
                let body = asked.result(json!({})).replace("\"result\":{}", error);
                Reply::of("400 Bad Request", &[("content-type", "application/json")], &body)
            }
        }
    })
    .await;
    assert_eq!(server.call().await.unwrap().content(), "done");
    let what: Vec<_> = server.asked().iter().map(ReceivedRequest::what).collect();
    assert_eq!(what, ["server/discover", "tools/call", "tools/list", "tools/call"]);
}
