//! Waiting for what the server says unasked and for what it asks.

use std::time::Duration;

use serde_json::json;
use sparring::client::Filter;
use sparring::{Client, Reason};

use crate::failure::{built, client};

const SCRIPT: &str = r#"
tools:
  - name: grow
    text: ok
    after:
      - {notify: tools/list_changed}
      - {notify: resources/list_changed}
      - {notify: tools/list_changed}
  - {name: where, ask: {it: {roots: {}}}, text: here}
  - {name: crash, fault: {disconnect: before}, text: never}
"#;

/// What an error says, the scene left out.
fn told(error: &sparring::Error) -> String {
    let text = error.to_string();
    let (told, scene) = text.split_once("\n\ntarget: ").unwrap();
    assert!(scene.contains("traffic:\n"));
    told.to_owned()
}

#[tokio::test]
async fn so_many_notifications_are_awaited_of_any_kind_or_of_one() {
    let client = client(SCRIPT).await;
    client.call_tool("grow", json!({})).await.unwrap().assert_success();
    let all = client.wait_for_notifications(3).await.unwrap();
    let methods: Vec<_> = all.iter().map(|frame| frame.method().unwrap().to_owned()).collect();
    assert_eq!(
        methods,
        [
            "notifications/tools/list_changed",
            "notifications/resources/list_changed",
            "notifications/tools/list_changed"
        ]
    );
    let tools = client.wait_for_notifications(2).of("notifications/tools/list_changed");
    assert_eq!(tools.await.unwrap().len(), 2);
}

#[tokio::test]
async fn so_many_requests_of_the_server_are_awaited() {
    let client = built(Client::builder().roots(["file:///home"]), SCRIPT).await;
    let call = client.call_tool("where", json!({})).start();
    let asked = client.wait_for_requests(1).of("roots/list").await.unwrap();
    assert_eq!(asked[0].method(), Some("roots/list"));
    call.await.unwrap().assert_text("here");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_come_is_told_with_what_came_and_the_line_that_waited() {
    let client = client(SCRIPT).await;
    client.call_tool("grow", json!({})).await.unwrap().assert_success();
    client.wait_for_notifications(3).await.unwrap();
    let line = line!() + 1;
    let wait = client.wait_for_notifications(2).of("notifications/resources/list_changed");
    let error = wait.within(Duration::from_secs(5)).await.unwrap_err();
    assert!(matches!(error.reason(), Reason::Missed(_)));
    let at = format!("at crates/sparring/tests/it/waiting.rs:{line}:23");
    assert_eq!(
        told(&error),
        format!(
            "1 of 2 notifications of notifications/resources/list_changed came within 5s\ncame:\n  \
             1 notifications/resources/list_changed\n  2 notifications/tools/list_changed\n{at}"
        )
    );
    let line = line!() + 1;
    let error = client.wait_for_requests(1).await.unwrap_err();
    let at = format!("at crates/sparring/tests/it/waiting.rs:{line}:24");
    assert_eq!(told(&error), format!("0 of 1 request came within 30s\ncame: none\n{at}"));
}

#[tokio::test(start_paused = true)]
async fn a_subscription_that_says_nothing_is_told_with_the_line_that_waited() {
    let client = client(SCRIPT).await;
    let filter = Filter { tools_list_changed: true, ..Filter::default() };
    let mut changes = client.listen(filter).await.unwrap();
    assert!(changes.acknowledged().tools_list_changed);
    let line = line!() + 1;
    let error = changes.next(Duration::from_secs(5)).await.unwrap_err();
    let at = format!("at crates/sparring/tests/it/waiting.rs:{line}:25");
    let waited = "no notification of the subscription came within 5s";
    assert_eq!(told(&error), format!("{waited}\n{at}"));
}

#[tokio::test]
async fn the_end_of_the_connection_ends_the_waiting() {
    let client = client(SCRIPT).await;
    let call = client.call_tool("crash", json!({})).start();
    let error = client.wait_for_notifications(1).await.unwrap_err();
    assert!(
        told(&error).starts_with("0 of 1 notification came before the connection ended: "),
        "{error}"
    );
    assert!(call.await.is_err());
}
