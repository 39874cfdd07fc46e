//! Log messages of servers: recipients, names and levels.

use serde_json::{Value, json};
use sparring_peer::Client;
use sparring_wire::Revision;
use sparring_wire::types::LogLevel;

use super::{
    ERAS, GatewayFixture, call, over_http, plain, put_script, server_in_revision, until, within,
};
use crate::manager::fixture::TestConnector;

const LOGGING_SCRIPT: &str = r#"
server: {name: talker, version: 1.0.0}
capabilities: {logging: {}}
tools:
  - name: work
    during:
      - {log: {level: debug, logger: wires, data: {bytes: 7}}}
      - {log: {level: warning, data: low on paper}}
    text: done
"#;

/// The log messages of a client: levels, loggers and data.
fn log_messages(client: &Client) -> Vec<(String, String, Value)> {
    let frames = client.notifications().by_name("notifications/message");
    let read = |frame: &sparring_wire::Frame| {
        let params: Value = frame.params().unwrap().deserialize().unwrap();
        let text = |name: &str| params[name].as_str().unwrap().to_owned();
        (text("level"), text("logger"), params["data"].clone())
    };
    frames.iter().map(read).collect()
}

fn debug() -> (String, String, Value) {
    ("debug".to_owned(), "talker/wires".to_owned(), json!({"bytes": 7}))
}

fn warning() -> (String, String, Value) {
    ("warning".to_owned(), "talker".to_owned(), json!("low on paper"))
}

async fn start_gateway(inner: Revision) -> GatewayFixture {
    let connector = TestConnector::default();
    put_script(&connector, "talker", LOGGING_SCRIPT);
    GatewayFixture::open(&connector, &[server_in_revision("talker", inner)]).await
}

#[tokio::test]
async fn each_client_gets_the_levels_that_it_has_set_under_the_name_of_the_server() {
    let fixture = start_gateway(Revision::V2025_11_25).await;
    let all = fixture.connect(plain(Revision::V2025_11_25)).await;
    let few = fixture.connect(plain(Revision::V2025_11_25)).await;
    within(all.set_log_level(LogLevel::Debug)).await.unwrap();
    within(few.set_log_level(LogLevel::Warning)).await.unwrap();
    assert_eq!(call(&all, "mcp__talker__work").await, "done");
    until(|| log_messages(&all).len() == 2 && log_messages(&few).len() == 1).await;
    assert_eq!(log_messages(&all), [debug(), warning()]);
    assert_eq!(log_messages(&few), [warning()], "it receives what the server logs to all clients");
}

#[tokio::test]
async fn only_a_modern_request_that_asks_for_log_messages_gets_them() {
    for inner in ERAS {
        let fixture = start_gateway(inner).await;
        let all = fixture.connect(plain(Revision::V2026_07_28)).await;
        let none = fixture.connect(plain(Revision::V2026_07_28)).await;
        within(all.set_log_level(LogLevel::Debug)).await.unwrap();
        assert_eq!(call(&none, "mcp__talker__work").await, "done");
        assert_eq!(call(&all, "mcp__talker__work").await, "done");
        // They belong to the request, so they arrived before its response.
        assert_eq!(log_messages(&all), [debug(), warning()], "{inner}");
        assert_eq!(log_messages(&none), [], "{inner}");
    }
}

#[tokio::test]
async fn a_session_gets_the_messages_of_its_requests_at_a_modern_server() {
    let fixture = start_gateway(Revision::V2026_07_28).await;
    let few = fixture.connect(plain(Revision::V2025_11_25)).await;
    let other = fixture.connect(plain(Revision::V2025_11_25)).await;
    within(few.set_log_level(LogLevel::Warning)).await.unwrap();
    within(other.set_log_level(LogLevel::Debug)).await.unwrap();
    assert_eq!(call(&few, "mcp__talker__work").await, "done");
    assert_eq!(log_messages(&few), [warning()]);
    assert_eq!(log_messages(&other), [], "it was not its request");
}

/// The legacy revisions let the server decide, and 2026-07-28 forbids messages
/// without a level.
#[tokio::test]
async fn a_session_without_a_level_gets_the_messages_of_servers_with_a_handshake_only() {
    for (inner, expected) in [(ERAS[0], vec![debug(), warning()]), (ERAS[1], vec![])] {
        let fixture = start_gateway(inner).await;
        let client = fixture.connect(plain(ERAS[0])).await;
        assert_eq!(call(&client, "mcp__talker__work").await, "done");
        until(|| log_messages(&client).len() >= expected.len()).await;
        assert_eq!(log_messages(&client), expected, "{inner}");
    }
}

#[tokio::test]
async fn messages_pass_over_http_in_both_eras() {
    let fixture = start_gateway(Revision::V2025_11_25).await;
    let (serving, target) = fixture.listen().await;
    for era in ERAS {
        let client = over_http(&target, plain(era)).await;
        within(client.set_log_level(LogLevel::Warning)).await.unwrap();
        assert_eq!(call(&client, "mcp__talker__work").await, "done");
        until(|| !log_messages(&client).is_empty()).await;
        assert_eq!(log_messages(&client), [warning()], "{era}");
    }
    serving.stop(std::time::Duration::from_secs(1)).await;
}
