//! A client of the server in memory, with the shop as its database.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sparring::Client;
use sql::statements::{Kind, Rules};
use sql::{Settings, serve};

/// The script that creates the shop.
pub(crate) fn shop() -> String {
    format!("{}/shop.sql", env!("CARGO_MANIFEST_DIR"))
}

/// The default settings, with the shop.
pub(crate) fn settings() -> Settings {
    Settings { init: Some(shop().into()), ..Settings::default() }
}

/// A set of these kinds.
pub(crate) fn kinds(kinds: &[Kind]) -> BTreeSet<Kind> {
    kinds.iter().copied().collect()
}

/// A client of a server with these settings.
pub(crate) async fn client(settings: &Settings) -> Client {
    Client::in_memory(serve(settings).expect("a server")).await.expect("a client")
}

/// A client of the shop under these rules.
pub(crate) async fn client_with_rules(rules: Rules) -> Client {
    client(&Settings { rules, ..settings() }).await
}

/// The structured result of a call that must succeed. The text must have the same content.
#[track_caller]
pub(crate) fn structured_result(response: &sparring::Response) -> Value {
    response.assert_success();
    let structured: Value =
        response.structured().expect("structured content").deserialize().unwrap();
    let text: Value = serde_json::from_str(&response.content()).expect("a text of JSON");
    assert_eq!(text, structured);
    structured
}

/// The message of a call that must fail.
#[track_caller]
pub(crate) fn tool_error(response: &sparring::Response) -> String {
    assert!(response.is_error(), "it did not fail: {}", response.raw().text());
    response.content()
}

/// Runs a statement that reads.
pub(crate) async fn query(client: &Client, sql: &str) -> sparring::Response {
    client.call_tool("query", json!({"sql": sql})).await.expect("an answer")
}

/// Runs a statement that changes something.
pub(crate) async fn execute(client: &Client, sql: &str) -> sparring::Response {
    client.call_tool("execute", json!({"sql": sql})).await.expect("an answer")
}

/// The rows of a statement that reads.
pub(crate) async fn rows(client: &Client, sql: &str) -> Value {
    structured_result(&query(client, sql).await)["rows"].clone()
}
