//! The context of every failure: the target, the last frames, and the target's
//! stderr.

use std::process::Command;

use serde_json::json;
use sparring::types::{CallToolResult, LogLevel};
use sparring::{ChildTarget, Client};

use crate::failure::{client, failure};

const SCRIPT: &str = "{server: {name: clock, version: 1.0.0}, tools: [{name: now, text: noon}]}";

#[tokio::test]
async fn a_failure_shows_its_message_then_target_and_traffic() {
    let client = client(SCRIPT).await;
    let response = client.call_tool("now", json!({})).await.unwrap();
    let failure = failure(|| response.assert_text("midnight"));
    assert_eq!(
        failure.message,
        "tools/call now: another text\nexpected: \"midnight\"\n   found: \"noon\""
    );
    let traffic: Vec<&str> = failure.context.lines().collect();
    assert!(traffic[0].starts_with("mock "), "{failure:?}");
    assert_eq!(traffic[1], "traffic:");
    assert_eq!(
        traffic[5],
        r#"  → {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"now","arguments":{}}}"#
    );
    assert_eq!(
        traffic[6],
        r#"  ← {"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"noon"}]}}"#
    );
    assert_eq!(traffic.len(), 7);
}

#[tokio::test]
async fn only_the_last_frames_are_shown_and_long_ones_are_truncated() {
    let client = client(SCRIPT).await;
    for _ in 0..10 {
        client.ping().await.unwrap();
    }
    let long = json!({"text": "x".repeat(1_000)});
    let response = client.call_tool("now", long).await.unwrap();
    let context = failure(|| response.assert_text("midnight")).context;
    let lines: Vec<&str> = context.lines().collect();
    assert_eq!((lines[2], lines.len()), ("  … 13 earlier frames", 15));
    assert!(lines[13].ends_with("xxx… (1095 bytes)"), "{}", lines[13]);
}

#[tokio::test]
async fn a_rejected_request_is_reported_with_the_line_of_the_caller() {
    let client = client(SCRIPT).await;
    let line = line!() + 1;
    let error = client.set_log_level(LogLevel::Debug).await.unwrap_err().to_string();
    let at =
        format!("\nat crates/sparring/tests/it/failure_context.rs:{line}:24\n\ntarget: mock clock");
    assert!(
        error.starts_with("the server answered logging/setLevel with an error: ")
            && error.contains(&at),
        "{error}"
    );
    let response = client.call_tool("never", json!({})).await.unwrap();
    let line = line!() + 1;
    let error = response.to::<CallToolResult>().unwrap_err().to_string();
    let at =
        format!("\nat crates/sparring/tests/it/failure_context.rs:{line}:26\n\ntarget: mock clock");
    assert!(
        error.starts_with("the server answered tools/call with an error: ") && error.contains(&at),
        "{error}"
    );
}

#[tokio::test]
async fn the_targets_stderr_is_shown() {
    let script = r#"echo "loading the model" >&2; exit 3"#;
    let target = ChildTarget::new("sh").args(["-c", script]);
    let line = line!() + 1;
    let error = Client::connect(target).await.unwrap_err().to_string();
    assert!(
        error.contains(&format!("\nat crates/sparring/tests/it/failure_context.rs:{line}:")),
        "{error}"
    );
    assert!(error.contains("target: sh -c "), "{error}");
    assert!(error.ends_with("stderr:\n  loading the model\n"), "{error}");
}

/// Fails by a plain `assert_eq!` when the test below runs it.
#[tokio::test]
async fn fails_by_a_plain_assertion_on_demand() {
    let client = client(SCRIPT).await;
    let response = client.call_tool("now", json!({})).await.unwrap();
    let expected = std::env::var("SPARRING_EXPECTED").unwrap_or_else(|_| "noon".to_owned());
    assert_eq!(response.text(), expected);
}

#[test]
fn a_failed_plain_assertion_prints_the_failure_context_once() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "failure_context::fails_by_a_plain_assertion_on_demand", "--nocapture"])
        .env("SPARRING_EXPECTED", "midnight")
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let stderr = String::from_utf8_lossy(&output.stderr);
    let (before, after) = stderr.split_once("right: \"midnight\"").unwrap();
    assert!(before.contains("crates/sparring/tests/it/failure_context.rs:"), "{stderr}");
    assert_eq!(after.matches("target: mock ").count(), 1, "{stderr}");
    assert!(after.contains("\"method\":\"tools/call\""), "{stderr}");
}
