//! Requests and their checks written together.

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
async fn all_are_sent_in_order_before_any_is_answered_and_checked_in_order() {
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
    let said = client.snapshot().without_lifecycle();
    said.sent().assert_exactly([
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
    // The slow one was asked first and answered last.
    assert_eq!(said.last().unwrap().method(), Some("tools/call"));
}

#[tokio::test]
async fn a_check_that_fails_is_told_at_its_own_line() {
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
    assert!(failure.scene.contains("hello Bo"), "the scene is not whole: {failure:?}");
}

#[tokio::test]
async fn a_request_without_an_answer_is_told_with_its_line() {
    let client = client(SCRIPT).await.with_timeout(Duration::from_millis(50));
    let line = line!() + 5;
    let failure = failure_of(
        client
            .when()
            .ping()
            .call_tool("never", json!({}), |_| unreachable!("there is no answer"))
            .then_assert_results(),
    )
    .await;
    let expected = format!(
        "no answer to tools/call within 50ms\nat crates/sparring/tests/it/when.rs:{line}:14"
    );
    assert_eq!(failure.message, expected);
}

#[tokio::test]
async fn checks_that_are_written_and_not_run_fail_the_test() {
    let client = client(SCRIPT).await;
    let at = format!("2 checks were written at crates/sparring/tests/it/when.rs:{}:", line!() + 1);
    let when = client.when().ping().list_tools(|_| ());
    let dropped = failure(|| drop(when));
    assert!(dropped.message.starts_with(&at), "{dropped:?}");
    assert!(dropped.message.ends_with("never run: `.then_assert_results().await` is missing"));
    let unpolled = failure(|| drop(client.when().ping().then_assert_results()));
    assert!(unpolled.message.starts_with("1 checks were written at "), "{unpolled:?}");
    assert!(client.snapshot().of("ping").is_empty(), "what was not run was sent");
}

#[tokio::test]
async fn nothing_to_check_is_a_failure() {
    let client = client(SCRIPT).await;
    let line = line!() + 1;
    let failure = failure_of(client.when().then_assert_results()).await;
    let at =
        format!("nothing was to be asked and checked at crates/sparring/tests/it/when.rs:{line}:");
    assert!(failure.message.starts_with(&at), "{failure:?}");
}
