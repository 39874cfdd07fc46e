//! Log messages of servers: who gets them, under which names, and of which levels.

use serde_json::{Value, json};
use sparring_peer::Client;
use sparring_wire::Revision;
use sparring_wire::types::LogLevel;

use super::{ERAS, House, call, over_http, plain, put, speaking, until, within};
use crate::manager::fixture::World;

const TALKER: &str = r#"
server: {name: talker, version: 1.0.0}
capabilities: {logging: {}}
tools:
  - name: work
    during:
      - {log: {level: debug, logger: wires, data: {bytes: 7}}}
      - {log: {level: warning, data: low on paper}}
    text: done
"#;

/// What a client has heard: levels, loggers and data.
fn heard(client: &Client) -> Vec<(String, String, Value)> {
    let frames = client.notifications().of("notifications/message");
    let read = |frame: &sparring_wire::Frame| {
        let params: Value = frame.params().unwrap().to().unwrap();
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

async fn house(inner: Revision) -> House {
    let world = World::default();
    put(&world, "talker", TALKER);
    House::open(&world, &[speaking("talker", inner)]).await
}

#[tokio::test]
async fn each_client_gets_the_levels_that_it_has_set_under_the_name_of_the_server() {
    let house = house(Revision::V2025_11_25).await;
    let all = house.visit(plain(Revision::V2025_11_25)).await;
    let few = house.visit(plain(Revision::V2025_11_25)).await;
    within(all.set_log_level(LogLevel::Debug)).await.unwrap();
    within(few.set_log_level(LogLevel::Warning)).await.unwrap();
    assert_eq!(call(&all, "mcp__talker__work").await, "done");
    until(|| heard(&all).len() == 2 && heard(&few).len() == 1).await;
    assert_eq!(heard(&all), [debug(), warning()]);
    assert_eq!(heard(&few), [warning()], "it is told of what the server says to anybody");
}

#[tokio::test]
async fn a_request_of_the_newer_era_gets_what_it_asks_for_and_nothing_else_does() {
    for inner in ERAS {
        let house = house(inner).await;
        let all = house.visit(plain(Revision::V2026_07_28)).await;
        let none = house.visit(plain(Revision::V2026_07_28)).await;
        within(all.set_log_level(LogLevel::Debug)).await.unwrap();
        assert_eq!(call(&none, "mcp__talker__work").await, "done");
        assert_eq!(call(&all, "mcp__talker__work").await, "done");
        // They belong to the request, so they have come before its answer.
        assert_eq!(heard(&all), [debug(), warning()], "{inner}");
        assert_eq!(heard(&none), [], "{inner}");
    }
}

#[tokio::test]
async fn a_session_gets_the_messages_of_its_own_requests_at_a_server_of_the_newer_era() {
    let house = house(Revision::V2026_07_28).await;
    let few = house.visit(plain(Revision::V2025_11_25)).await;
    let other = house.visit(plain(Revision::V2025_11_25)).await;
    within(few.set_log_level(LogLevel::Warning)).await.unwrap();
    within(other.set_log_level(LogLevel::Debug)).await.unwrap();
    assert_eq!(call(&few, "mcp__talker__work").await, "done");
    assert_eq!(heard(&few), [warning()]);
    assert_eq!(heard(&other), [], "it was not its request");
}

#[tokio::test]
async fn messages_pass_over_http_in_both_eras() {
    let house = house(Revision::V2025_11_25).await;
    let (serving, target) = house.listen().await;
    for era in ERAS {
        let client = over_http(&target, plain(era)).await;
        within(client.set_log_level(LogLevel::Warning)).await.unwrap();
        assert_eq!(call(&client, "mcp__talker__work").await, "done");
        until(|| !heard(&client).is_empty()).await;
        assert_eq!(heard(&client), [warning()], "{era}");
    }
    serving.stop(std::time::Duration::from_secs(1)).await;
}
