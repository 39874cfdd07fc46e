//! What every failure shows: whom the test talked to, what was said last, and
//! what the target wrote to its stderr.

use std::process::Command;

use serde_json::json;
use sparring::types::{CallToolResult, LogLevel};
use sparring::{ChildTarget, Client};

use crate::failure::{client, failure};

const SCRIPT: &str = "{server: {name: clock, version: 1.0.0}, tools: [{name: now, text: noon}]}";

#[tokio::test]
async fn a_failure_shows_target_and_traffic_below_what_is_wrong() {
    let client = client(SCRIPT).await;
    let response = client.call_tool("now", json!({})).await.unwrap();
    let failure = failure(|| response.assert_text("midnight"));
    assert_eq!(
        failure.message,
        "tools/call now: another text\nexpected: \"midnight\"\n   found: \"noon\""
    );
    let traffic: Vec<&str> = failure.scene.lines().collect();
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
async fn only_the_last_frames_are_shown_and_long_ones_by_their_start() {
    let client = client(SCRIPT).await;
    for _ in 0..10 {
        client.ping().await.unwrap();
    }
    let long = json!({"text": "x".repeat(1_000)});
    let response = client.call_tool("now", long).await.unwrap();
    let scene = failure(|| response.assert_text("midnight")).scene;
    let lines: Vec<&str> = scene.lines().collect();
    assert_eq!((lines[2], lines.len()), ("  … 13 before", 15));
    assert!(lines[13].ends_with("xxx… (1095 bytes)"), "{}", lines[13]);
}

#[tokio::test]
async fn what_is_refused_is_told_with_the_line_that_asked() {
    let client = client(SCRIPT).await;
    let line = line!() + 1;
    let error = client.set_log_level(LogLevel::Debug).await.unwrap_err().to_string();
    let at = format!("\nat crates/sparring/tests/it/scene.rs:{line}:24\n\ntarget: mock clock");
    assert!(error.starts_with("logging/setLevel was refused: ") && error.contains(&at), "{error}");
    let response = client.call_tool("never", json!({})).await.unwrap();
    let line = line!() + 1;
    let error = response.to::<CallToolResult>().unwrap_err().to_string();
    let at = format!("\nat crates/sparring/tests/it/scene.rs:{line}:26\n\ntarget: mock clock");
    assert!(error.starts_with("tools/call was refused: ") && error.contains(&at), "{error}");
}

#[tokio::test]
async fn the_targets_stderr_is_shown() {
    let script = r#"echo "loading the model" >&2; exit 3"#;
    let target = ChildTarget::new("sh").args(["-c", script]);
    let line = line!() + 1;
    let error = Client::connect(target).await.unwrap_err().to_string();
    assert!(error.contains(&format!("\nat crates/sparring/tests/it/scene.rs:{line}:")), "{error}");
    assert!(error.contains("target: sh -c "), "{error}");
    assert!(error.ends_with("stderr:\n  loading the model\n"), "{error}");
}

#[tokio::test]
async fn the_page_on_the_library_shows_a_failure_as_it_is() {
    let script =
        r#"{server: {name: greeter, version: 1.0.0}, tools: [{name: greet, text: hello Ada}]}"#;
    let client = client(script).await;
    let response = client.call_tool("greet", json!({"name": "Ada"})).await.unwrap();
    let failure = failure(|| response.assert_text("hello Eve"));
    let shown = format!("{}\n\ntarget: {}", failure.message, failure.scene);
    let page = include_str!("../../../../docs/library.md");
    assert!(page.contains(&shown), "the page does not have:\n{shown}");
}

/// A test that fails by a plain `assert_eq!`, which is run by the one below.
#[tokio::test]
async fn fails_plainly_if_it_is_told_to() {
    let client = client(SCRIPT).await;
    let response = client.call_tool("now", json!({})).await.unwrap();
    let expected = std::env::var("SPARRING_EXPECTED").unwrap_or_else(|_| "noon".to_owned());
    assert_eq!(response.text(), expected);
}

#[test]
fn a_plain_assertion_that_fails_is_followed_by_the_scene_once() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "scene::fails_plainly_if_it_is_told_to", "--nocapture"])
        .env("SPARRING_EXPECTED", "midnight")
        .env("RUST_BACKTRACE", "0")
        .output()
        .unwrap();
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    let (before, after) = said.split_once("right: \"midnight\"").unwrap();
    assert!(before.contains("crates/sparring/tests/it/scene.rs:"), "{said}");
    assert_eq!(after.matches("target: mock ").count(), 1, "{said}");
    assert!(after.contains("\"method\":\"tools/call\""), "{said}");
}
