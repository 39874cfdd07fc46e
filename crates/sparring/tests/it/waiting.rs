//! Waiting for notifications and requests of the server.

use std::time::Duration;

use serde_json::json;
use sparring::client::SubscriptionFilter;
use sparring::{Client, Reason};

use crate::failure::{client, client_with};

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

/// Returns the message of an error without the failure context.
fn message_of(error: &sparring::Error) -> String {
    let text = error.to_string();
    let (message, context) = text.split_once("\n\ntarget: ").unwrap();
    assert!(context.contains("traffic:\n"));
    message.to_owned()
}

#[tokio::test]
async fn waits_for_a_number_of_notifications_of_any_or_one_method() {
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
    let tools = client.wait_for_notifications(2).method("notifications/tools/list_changed");
    assert_eq!(tools.await.unwrap().len(), 2);
}

#[tokio::test]
async fn waits_for_a_number_of_requests() {
    let client = client_with(Client::builder().roots(["file:///home"]), SCRIPT).await;
    let call = client.call_tool("where", json!({})).start();
    let requests = client.wait_for_requests(1).method("roots/list").await.unwrap();
    assert_eq!(requests[0].method(), Some("roots/list"));
    call.await.unwrap().assert_text("here");
}

#[tokio::test(start_paused = true)]
async fn a_timeout_lists_the_received_messages_and_the_line_of_the_caller() {
    let client = client(SCRIPT).await;
    client.call_tool("grow", json!({})).await.unwrap().assert_success();
    client.wait_for_notifications(3).await.unwrap();
    let line = line!() + 1;
    let wait = client.wait_for_notifications(2).method("notifications/resources/list_changed");
    let error = wait.within(Duration::from_secs(5)).await.unwrap_err();
    assert!(matches!(error.reason(), Reason::NotReceived(_)));
    let at = format!("at crates/sparring/tests/it/waiting.rs:{line}:23");
    assert_eq!(
        message_of(&error),
        format!(
            "received 1 of 2 notifications `notifications/resources/list_changed` within 5s\nreceived:\n  \
             1 notifications/resources/list_changed\n  2 notifications/tools/list_changed\n{at}"
        )
    );
    let line = line!() + 1;
    let error = client.wait_for_requests(1).await.unwrap_err();
    let at = format!("at crates/sparring/tests/it/waiting.rs:{line}:24");
    assert_eq!(
        message_of(&error),
        format!("received 0 of 1 request within 30s\nreceived: none\n{at}")
    );
}

#[tokio::test(start_paused = true)]
async fn a_silent_subscription_is_reported_with_the_line_of_the_caller() {
    let client = client(SCRIPT).await;
    let filter = SubscriptionFilter { tools_list_changed: true, ..SubscriptionFilter::default() };
    let mut changes = client.listen(filter).await.unwrap();
    assert!(changes.acknowledged().tools_list_changed);
    let line = line!() + 1;
    let error = changes.next(Duration::from_secs(5)).await.unwrap_err();
    let at = format!("at crates/sparring/tests/it/waiting.rs:{line}:25");
    let waited = "the subscription received nothing within 5s";
    assert_eq!(message_of(&error), format!("{waited}\n{at}"));
}

#[tokio::test]
async fn the_end_of_the_connection_ends_the_wait() {
    let client = client(SCRIPT).await;
    let call = client.call_tool("crash", json!({})).start();
    let error = client.wait_for_notifications(1).await.unwrap_err();
    assert!(
        message_of(&error)
            .starts_with("received 0 of 1 notification before the connection ended: "),
        "{error}"
    );
    assert!(call.await.is_err());
}
