//! Rules about statuses, bodies, session ids and event ids, which only HTTP shows.

use serde_json::json;

use super::scripted_server::{ReceivedRequest, Reply, ScriptedServer, call, done, within};

/// A legacy server whose responses break nothing, unless `change` replaces one.
async fn server(change: impl Fn(&str) -> Option<Reply> + Send + Sync + 'static) -> ScriptedServer {
    ScriptedServer::new(move |asked| {
        let what = asked.what();
        change(&what).unwrap_or_else(|| answer(asked, &what, "s-1"))
    })
    .await
}

fn answer(asked: &ReceivedRequest, what: &str, session: &str) -> Reply {
    match what {
        "server/discover" => Reply::of("400 Bad Request", &[], ""),
        "initialize" => {
            let headers = [("content-type", "application/json"), ("mcp-session-id", session)];
            let result = json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "site", "version": "1"}});
            Reply::of("200 OK", &headers, &asked.result(result))
        }
        "notifications/initialized" => Reply::of("202 Accepted", &[], ""),
        "GET" => Reply::of("405 Method Not Allowed", &[], ""),
        _ => {
            let body = done(asked);
            Reply::events(&format!("id: {what}\ndata: {body}\n\n"))
        }
    }
}

/// Calls a tool, and returns the broken rules.
async fn rules(server: &ScriptedServer, calls: usize) -> Vec<&'static str> {
    let client = server.connect().await.unwrap();
    for _ in 0..calls {
        within(call(&client)).await.unwrap();
    }
    within(client.close()).await;
    let mut rules: Vec<_> =
        client.transcript().violations().iter().map(|it| it.rule.id()).collect();
    rules.dedup();
    rules
}

#[tokio::test]
async fn a_correct_server_breaks_no_rule() {
    assert_eq!(rules(&server(|_| None).await, 1).await, [""; 0]);
}

#[tokio::test]
async fn reports_a_wrong_response_to_a_notification() {
    let initialized = |status: &'static str, body: &'static str| {
        server(move |what| {
            (what == "notifications/initialized").then(|| Reply::of(status, &[], body))
        })
    };
    let ok = initialized("200 OK", "").await;
    assert_eq!(rules(&ok, 1).await, ["http/wrong-status"]);
    let body = initialized("202 Accepted", "Accepted").await;
    assert_eq!(rules(&body, 1).await, ["http/unexpected-body"]);
}

#[tokio::test]
async fn reports_a_wrong_response_to_a_get_request() {
    let get = |status: &'static str| {
        server(move |what| {
            let headers = [("content-type", "text/html")];
            (what == "GET").then(|| Reply::of(status, &headers, "hello"))
        })
    };
    assert_eq!(rules(&get("200 OK").await, 1).await, ["http/wrong-content-type"]);
    assert_eq!(rules(&get("501 Not Implemented").await, 1).await, ["http/wrong-status"]);
}

#[tokio::test]
async fn reports_a_session_id_that_is_not_visible_ascii() {
    let server = ScriptedServer::new(|asked| answer(asked, &asked.what(), "one two")).await;
    assert_eq!(rules(&server, 1).await, ["http/invalid-session-id"]);
}

#[tokio::test]
async fn reports_an_event_id_that_comes_twice() {
    assert_eq!(rules(&server(|_| None).await, 2).await, ["http/duplicate-event-id"]);
}
