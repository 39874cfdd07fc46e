//! Requests with their checks.

use std::time::Duration;

use serde_json::json;
use sparring::Step;

use crate::failure::{client, failure, failure_of};

const SCRIPT: &str = r#"
tools:
  - {name: slow, text: slow, delay: 50ms}
  - {name: greet, input: {name: string}, text: "hello ${args.name}"}
  - {name: never, text: never, fault: {silent: true}}
resources: [{uri: "memo:1", text: milk}]
prompts: [{name: trip, text: go}]
"#;

#[tokio::test]
async fn requests_are_sent_at_once_and_checked_in_order() {
    let client = client(SCRIPT).await;
    let mut order = Vec::new();
    let order_of = std::sync::Mutex::new(&mut order);
    let note = |what: &'static str| order_of.lock().unwrap().push(what);
    client
        .when()
        .call_tool("slow", json!({}), |response| {
            response.assert_text("slow");
            note("slow");
        })
        .list_tools(|tools| {
            tools.assert_count(3);
            note("tools");
        })
        .call_tool("greet", json!({"name": "Ada"}), |response| {
            response.assert_text("hello Ada");
            note("greet");
        })
        .read_resource("memo:1", |response| {
            response.assert_text("milk");
        })
        .get_prompt("trip", json!({}), |response| {
            response.assert_text("go");
        })
        .request("no/such", None, |response| {
            response.assert_error_code(-32601);
        })
        .list_prompts(|prompts| {
            prompts.assert_names(["trip"]);
        })
        .list_resources(|resources| {
            resources.assert_count(1);
        })
        .list_resource_templates(|templates| {
            templates.assert_count(0);
        })
        .notify("notifications/roots/list_changed", None)
        .ping()
        .then_assert_results()
        .await;
    assert_eq!(order, ["slow", "tools", "greet"]);
    let messages = client.snapshot().without_lifecycle();
    messages.sent().assert_exactly([
        Step::sent("tools/call"),
        Step::sent("tools/list"),
        Step::sent("tools/call"),
        Step::sent("resources/read"),
        Step::sent("prompts/get"),
        Step::sent("no/such"),
        Step::sent("prompts/list"),
        Step::sent("resources/list"),
        Step::sent("resources/templates/list"),
        Step::sent("notifications/roots/list_changed"),
        Step::sent("ping"),
    ]);
    // The slow call was sent first and got the last response.
    assert_eq!(messages.last().unwrap().method(), Some("tools/call"));
}

#[tokio::test]
async fn a_failed_check_is_reported_at_its_line() {
    let client = client(SCRIPT).await;
    let line = line!() + 6;
    let failure = failure_of(
        client
            .when()
            .ping()
            .call_tool("greet", json!({"name": "Ada"}), |response| {
                response.assert_text("hello Eve");
            })
            .call_tool("greet", json!({"name": "Bo"}), |_| unreachable!("the one before failed"))
            .then_assert_results(),
    )
    .await;
    assert_eq!(failure.at, format!("tests/it/when.rs:{line}"));
    assert!(failure.message.starts_with("tools/call greet: another text\n"), "{failure:?}");
    assert!(failure.context.contains("hello Bo"), "incomplete failure context: {failure:?}");
}

#[tokio::test]
async fn a_request_without_a_response_is_reported_with_its_line() {
    let client = client(SCRIPT).await.with_timeout(Duration::from_millis(50));
    let line = line!() + 5;
    let failure = failure_of(
        client
            .when()
            .ping()
            .call_tool("never", json!({}), |_| unreachable!("the server does not respond"))
            .then_assert_results(),
    )
    .await;
    let expected = format!(
        "no answer to tools/call within 50ms\nat crates/sparring/tests/it/when.rs:{line}:14"
    );
    assert_eq!(failure.message, expected);
}

#[tokio::test]
async fn requests_that_never_run_fail_the_test() {
    let client = client(SCRIPT).await;
    let at = format!("`when` at crates/sparring/tests/it/when.rs:{}:", line!() + 1);
    let when = client.when().ping().list_tools(|_| ());
    let dropped = failure(|| drop(when));
    assert!(dropped.message.starts_with(&at), "{dropped:?}");
    assert!(
        dropped.message.ends_with("never ran its 2 requests: add `.then_assert_results().await`")
    );
    let unpolled = failure(|| drop(client.when().ping().then_assert_results()));
    assert!(unpolled.message.contains("never ran its 1 requests"), "{unpolled:?}");
    assert!(client.snapshot().method("ping").is_empty(), "a request was sent");
}

#[tokio::test]
async fn a_list_without_requests_fails() {
    let client = client(SCRIPT).await;
    let line = line!() + 1;
    let failure = failure_of(client.when().then_assert_results()).await;
    let at = format!("`when` has no requests at crates/sparring/tests/it/when.rs:{line}:");
    assert!(failure.message.starts_with(&at), "{failure:?}");
}
