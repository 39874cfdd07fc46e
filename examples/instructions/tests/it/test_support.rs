//! The failures of the checks for answers.

use std::panic::{AssertUnwindSafe, catch_unwind};

use instructions::test_support::{
    DEFAULT_FOLDER, assert_contains_instruction, assert_routing_success, checklist, ids,
    initialized_project, learning_loop, work_log,
};
use serde_json::json;
use sparring::Response;

use crate::generated::RouteInstructions;
use crate::project::Project;

/// Runs a check that must fail, and returns its message.
fn failure(check: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(check)).unwrap_err();
    match payload.downcast::<String>() {
        Ok(message) => *message,
        Err(other) => (*other.downcast::<&str>().unwrap()).to_owned(),
    }
}

async fn route(message: &str) -> Response {
    let client = Project::with_samples().in_memory().await;
    client.route_instructions(RouteInstructions::new(message)).untyped().await.unwrap()
}

#[tokio::test]
async fn a_failed_call_is_no_routing_success() {
    let client = Project::with_samples().in_memory().await.client;
    for (tool, arguments, expected) in [
        ("no_such_tool", json!({}), "unknown tool `no_such_tool`"),
        ("route_instructions", json!({}), "the argument `message` is missing"),
    ] {
        let failed = client.call_tool(tool, arguments).await.unwrap();
        for message in [
            failure(|| assert_routing_success(&failed)),
            failure(|| assert_contains_instruction(&failed, "learning/learning-loop")),
        ] {
            assert!(message.contains(expected), "{message}");
        }
    }
}

#[tokio::test]
async fn an_answer_without_instructions_is_no_routing_success() {
    let nothing = route("xyzzy").await;
    let message = failure(|| assert_routing_success(&nothing));
    assert!(message.starts_with("no instruction fits: "), "{message}");
    let message = failure(|| assert_contains_instruction(&nothing, "learning/retrospective"));
    assert_eq!(message, "expected \"learning/retrospective\"\nfound: []");
}

#[tokio::test]
async fn a_missing_instruction_is_reported_with_those_that_were_found() {
    let routed = route("/pongogo-retro").await;
    assert_routing_success(&routed);
    let message = failure(|| assert_contains_instruction(&routed, "planning/checklist"));
    let expected = format!("expected \"planning/checklist\"\nfound: {:?}", ids(&routed));
    assert_eq!(message, expected);
}

#[tokio::test]
async fn each_matcher_reports_the_text_that_is_missing() {
    let client = Project::with_samples().in_memory().await;
    let only_one = RouteInstructions::new("force push").limit(1);
    let routed = client.route_instructions(only_one).untyped().await.unwrap();
    assert_eq!(ids(&routed), ["safety/git-safety"]);
    for (content, missing) in [
        (learning_loop(), "missing: \"learning loop\""),
        (work_log(), "missing: \"work log\""),
        (checklist(), "expected \"checklist\""),
    ] {
        let message = failure(|| {
            routed.assert_content(content.clone());
        });
        assert!(message.contains(missing) && message.contains("found: "), "{message}");
    }
}

#[test]
fn an_initialized_project_is_a_separate_copy_for_each_test() {
    let (one, other) = (initialized_project(), initialized_project());
    let file = format!("{DEFAULT_FOLDER}/learning/learning-loop.md");
    let before = other.read(&file);
    one.write(&file, "changed");
    assert_eq!((one.read(&file), other.read(&file)), ("changed".to_owned(), before));
    let path = one.path().to_owned();
    drop(one);
    assert!(!path.exists() && other.path().exists());
}
