//! Sessions of the revisions with `initialize`: their id, version and end, and the detection of
//! a server's era.

use serde_json::json;
use sparring_peer::client::Error;
use sparring_peer::{Cause, Client, Protocol};
use sparring_wire::Revision;

use super::scripted_server::{
    ReceivedRequest, Reply, ScriptedServer, call, connect, discovered, done, within,
};

fn initialized(asked: &ReceivedRequest, version: &str) -> String {
    asked.result(json!({"protocolVersion": version, "capabilities": {"tools": {}},
        "serverInfo": {"name": "site", "version": "1"}}))
}

/// A server with `initialize`, with scripted first and later responses.
async fn legacy(
    session: Option<&'static str>,
    answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
) -> ScriptedServer {
    ScriptedServer::new(move |asked| match &*asked.what() {
        "server/discover" => Reply::of("400 Bad Request", &[], ""),
        "initialize" => {
            let mut headers = vec![("content-type", "application/json")];
            headers.extend(session.map(|session| ("mcp-session-id", session)));
            Reply::of("200 OK", &headers, &initialized(asked, "2025-06-18"))
        }
        "notifications/initialized" => Reply::of("202 Accepted", &[], ""),
        "GET" => Reply::of("405 Method Not Allowed", &[], ""),
        _ => answer(asked),
    })
    .await
}

#[tokio::test]
async fn a_session_is_kept_and_ended() {
    let server = legacy(Some("s-1"), |asked| match &*asked.method {
        "DELETE" => Reply::of("204 No Content", &[], ""),
        _ => Reply::json(&done(asked)),
    })
    .await;
    let client = server.connect().await.unwrap();
    assert_eq!(client.revision(), Some(Revision::V2025_06_18));
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    within(client.close()).await;
    let asked = server.asked();
    let what: Vec<_> = asked.iter().map(ReceivedRequest::what).collect();
    assert_eq!(what[..3], ["server/discover", "initialize", "notifications/initialized"]);
    assert!(what.contains(&"GET".to_owned()) && what.contains(&"tools/call".to_owned()));
    assert_eq!(what.last().map(String::as_str), Some("DELETE"));
    assert_eq!(asked[1].header("mcp-session-id"), None);
    assert_eq!(asked[1].header("mcp-protocol-version"), None);
    for later in &asked[2..] {
        assert_eq!(later.header("mcp-session-id"), Some("s-1"), "{}", later.what());
        assert_eq!(later.header("mcp-protocol-version"), Some("2025-06-18"), "{}", later.what());
        assert_eq!(later.header("mcp-method"), None, "{}", later.what());
    }
}

#[tokio::test]
async fn a_client_is_connected_until_it_is_closed_or_its_session_ends() {
    let server = legacy(Some("s-1"), |asked| match &*asked.method {
        "DELETE" => Reply::of("204 No Content", &[], ""),
        _ => Reply::json(&done(asked)),
    })
    .await;
    let client = server.connect().await.unwrap();
    assert!(client.is_connected());
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    assert!(client.is_connected());
    within(client.close()).await;
    assert!(!client.is_connected());

    let server = legacy(Some("s-1"), |_| Reply::of("404 Not Found", &[], "expired")).await;
    let client = server.connect().await.unwrap();
    assert!(client.is_connected());
    within(call(&client)).await.unwrap_err();
    within(client.closed()).await;
    assert!(!client.is_connected());

    let modern = ScriptedServer::calling(|asked| Reply::json(&done(asked))).await;
    let client = modern.connect().await.unwrap();
    assert!(client.is_connected());
    within(client.close()).await;
    assert!(!client.is_connected());
}

#[tokio::test]
async fn a_server_need_not_have_sessions() {
    let server = legacy(None, |asked| Reply::json(&done(asked))).await;
    let client = server.connect().await.unwrap();
    assert_eq!(within(call(&client)).await.unwrap().content(), "done");
    within(client.close()).await;
    let asked = server.asked();
    assert!(asked.iter().all(|asked| asked.header("mcp-session-id").is_none()));
    assert!(asked.iter().all(|asked| asked.method != "DELETE"));
}

#[tokio::test]
async fn reports_a_session_that_the_server_has_ended() {
    let server = legacy(Some("s-1"), |_| Reply::of("404 Not Found", &[], "session expired")).await;
    let client = server.connect().await.unwrap();
    let error = within(call(&client)).await.expect_err("the session is gone");
    let Error::Closed { cause: Cause::SessionLost(why), .. } = &error else { panic!("{error}") };
    assert!(why.contains("session expired"), "{why}");
    assert!(matches!(within(client.closed()).await, Cause::SessionLost(_)));
    // No new session was requested.
    assert_eq!(server.asked().iter().filter(|asked| asked.what() == "initialize").count(), 1);
}

#[tokio::test]
async fn the_client_detects_the_era_of_an_origin_once() {
    let server = legacy(None, |asked| Reply::json(&done(asked))).await;
    for _ in 0..2 {
        within(server.connect().await.unwrap().close()).await;
    }
    let what: Vec<_> = server.asked().iter().map(ReceivedRequest::what).collect();
    let probes = what.iter().filter(|what| *what == "server/discover").count();
    assert_eq!((probes, what.iter().filter(|what| *what == "initialize").count()), (1, 2));
}

#[tokio::test]
async fn the_client_detects_the_era_again_when_the_known_one_is_wrong() {
    let modern = std::sync::atomic::AtomicBool::new(false);
    let server = ScriptedServer::new(move |asked| {
        let is_modern = modern.load(std::sync::atomic::Ordering::Relaxed);
        match (&*asked.what(), is_modern) {
            ("server/discover", true) => Reply::json(&discovered(asked)),
            ("initialize", false) => {
                modern.store(true, std::sync::atomic::Ordering::Relaxed);
                Reply::json(&initialized(asked, "2025-11-25"))
            }
            ("notifications/initialized", _) => Reply::of("202 Accepted", &[], ""),
            _ => Reply::of("405 Method Not Allowed", &[], ""),
        }
    })
    .await;
    let first = server.connect().await.unwrap();
    assert_eq!(first.revision(), Some(Revision::V2025_11_25));
    within(first.close()).await;
    let second = server.connect().await.unwrap();
    assert_eq!(second.revision(), Some(Revision::V2026_07_28));
}

#[tokio::test]
async fn a_modern_error_in_a_bad_request_means_a_modern_server() {
    let server = ScriptedServer::new(|asked| {
        let error = r#"{"code":-32022,"message":"no","data":{"supported":["2099-01-01"],"requested":"2026-07-28"}}"#;
        let body = asked.result(json!({})).replace("\"result\":{}", &format!("\"error\":{error}"));
        Reply::of("400 Bad Request", &[("content-type", "application/json")], &body)
    })
    .await;
    let error = server.connect().await.expect_err("no common version").to_string();
    assert!(error.contains("2099-01-01"), "{error}");
    assert_eq!(server.asked().len(), 1);
}

#[tokio::test]
async fn a_request_says_in_headers_what_it_is() {
    let server = ScriptedServer::calling(|asked| Reply::json(&done(asked))).await;
    let client = server.connect().await.unwrap();
    within(client.call_tool("é", json!({})).start()).await.unwrap();
    let asked = server.asked();
    let call = asked.last().unwrap();
    assert_eq!(call.header("mcp-protocol-version"), Some("2026-07-28"));
    assert_eq!(call.header("mcp-method"), Some("tools/call"));
    assert_eq!(call.header("mcp-name"), Some("=?base64?w6k=?="));
    assert_eq!(call.header("accept"), Some("application/json, text/event-stream"));
    assert_eq!(call.header("content-type"), Some("application/json"));
    within(client.close()).await;
    assert_eq!(server.asked().len(), asked.len(), "nothing says goodbye where there is no session");
}

#[tokio::test]
async fn a_client_with_a_pinned_revision_uses_its_lifecycle() {
    let server = legacy(None, |asked| Reply::json(&done(asked))).await;
    let builder = Client::builder().revision(Revision::V2025_06_18);
    let client = connect(builder, &server.target()).await.unwrap();
    within(call(&client)).await.unwrap();
    assert_eq!(server.asked()[0].what(), "initialize");
    let builder = Client::builder().revision(Revision::V2026_07_28);
    let error = connect(builder, &server.target()).await.expect_err("it has no such revision");
    assert!(error.to_string().contains("400 Bad Request"), "{error}");
}

#[tokio::test]
async fn an_error_with_the_id_of_the_handshake_prevents_the_fallback_to_http_sse() {
    let server = ScriptedServer::new(|asked| {
        let error = r#""error":{"code":-32602,"message":"no"}"#;
        let body = asked.result(json!({})).replace("\"result\":{}", error);
        Reply::of("400 Bad Request", &[("content-type", "application/json")], &body)
    })
    .await;
    let error = server.connect().await.expect_err("it is refused").to_string();
    assert!(error.contains("-32602"), "{error}");
    // A fallback to HTTP+SSE would come before anything else.
    let builder = Client::builder().protocol(Protocol::Raw);
    let client = connect(builder, &server.target()).await.unwrap();
    for method in ["initialize", "ping"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":"{method}","method":"{method}"}}"#);
        let answer = within(client.request_bytes(text).into_future()).await.unwrap();
        assert_eq!(answer.error_code(), Some(-32602), "{method}");
    }
    let what: Vec<_> = server.asked().iter().map(ReceivedRequest::what).collect();
    assert_eq!(what, ["server/discover", "initialize", "initialize", "ping"]);
}

#[tokio::test]
async fn a_redirect_of_the_stream_does_not_redirect_messages() {
    let server = ScriptedServer::new(|asked| match &*asked.what() {
        "server/discover" => Reply::of("400 Bad Request", &[], ""),
        "initialize" => Reply::json(&initialized(asked, "2025-06-18")),
        "notifications/initialized" => Reply::of("202 Accepted", &[], ""),
        "GET" if asked.path == "/mcp" => {
            Reply::of("301 Moved Permanently", &[("location", "/login")], "")
        }
        "GET" => Reply::of("200 OK", &[("content-type", "text/html")], "<html>"),
        _ => Reply::json(&done(asked)),
    })
    .await;
    let client = server.connect().await.unwrap();
    while !server.asked().iter().any(|asked| asked.path == "/login") {
        within(call(&client)).await.unwrap();
    }
    within(call(&client)).await.unwrap();
    assert_eq!(server.asked().last().unwrap().path, "/mcp");
}
