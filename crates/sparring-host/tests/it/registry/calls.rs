//! Calls by name while servers, tools and rules change.

use std::sync::Arc;

use serde_json::json;
use sparring_host::names::NameLimit;
use sparring_host::permissions::{Answer, PermissionGate, PermissionGateOptions, Question};
use sparring_host::registry::{Event, Refusal, Registry};
use sparring_wire::RawJson;
use sparring_wire::types::Tool;
use tokio::sync::{Notify, oneshot};

use super::{CallRecorder, names, open, permissions, tools};
use crate::permissions::rules;

async fn execute(
    registry: &Registry,
    recorder: &CallRecorder,
    name: &str,
) -> Result<String, String> {
    let call = registry.execute(recorder, name, RawJson::empty_object());
    call.await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn an_unknown_name_is_an_error_with_suggestions() {
    let permissions = permissions(&["fs"], rules(&["mcp__fs__read_it"], &[], &["mcp__fs"]));
    let registry =
        Registry::new(PermissionGate::new(permissions, PermissionGateOptions::default()));
    registry.register("fs", tools(&["read_file", "read_it", "zzz"]));
    let recorder = CallRecorder::default();
    assert_eq!(
        execute(&registry, &recorder, "mcp__fs__read_fiel").await,
        Err("no tool named 'mcp__fs__read_fiel'; did you mean 'mcp__fs__read_file'?".to_owned()),
        "and what is hidden is not offered"
    );
    assert_eq!(
        execute(&registry, &recorder, "\u{1b}[2J").await,
        Err(r"no tool named '\u{1b}[2J'".to_owned())
    );
    assert_eq!(
        execute(&registry, &recorder, "read_file").await,
        Err("no tool named 'read_file'; did you mean 'mcp__fs__read_file'?".to_owned()),
        "a server's own name is none here"
    );
    assert!(recorder.calls().is_empty());
}

#[tokio::test]
async fn a_call_uses_the_rules_at_the_time_of_the_call() {
    let registry = open(&["fs"]);
    registry.register("fs", tools(&["rm"]));
    assert_eq!(names(&registry), ["mcp__fs__rm"]);
    let mut events = registry.subscribe();
    registry.set_permissions(permissions(&["fs"], rules(&["mcp__fs__rm"], &[], &["mcp__fs"])));
    assert_eq!(events.next().await, Some(Event::Permissions));
    let recorder = CallRecorder::default();
    let message = execute(&registry, &recorder, "mcp__fs__rm").await.unwrap_err();
    assert!(message.contains("denied by rule"), "{message}");
    assert!(names(&registry).is_empty() && recorder.calls().is_empty());
}

#[tokio::test]
async fn a_tool_that_was_renamed_is_not_found_by_its_old_name() {
    let registry = open(&["fs"]);
    registry.register("fs", tools(&["read"]));
    let [old] = &names(&registry)[..] else { panic!() };
    registry.register("fs", tools(&["erase"]));
    let message = execute(&registry, &CallRecorder::default(), old).await.unwrap_err();
    assert!(message.starts_with("no tool named 'mcp__fs__read'"), "{message}");
}

/// A server could list one tool, and replace it by another with the same name during the question.
#[tokio::test]
async fn a_tool_that_was_replaced_during_the_question_is_not_called() {
    let (asked, answer) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let asker = {
        let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
        move |question: Question| {
            assert_eq!(question.tool, "a b");
            let (asked, answer) = (Arc::clone(&asked), Arc::clone(&answer));
            async move {
                asked.notify_one();
                answer.notified().await;
                Ok(Some(Answer::Once))
            }
        }
    };
    let permissions = permissions(&["fs"], rules(&[], &[], &[]));
    let options =
        PermissionGateOptions { asker: Some(Arc::new(asker)), ..PermissionGateOptions::default() };
    let registry = Registry::new(PermissionGate::new(permissions, options));
    for others in [&["a.b"][..], &[]] {
        registry.register("fs", tools(&["a b"]));
        assert_eq!(names(&registry), ["mcp__fs__a_b"]);
        let swap = async {
            asked.notified().await;
            registry.register("fs", tools(others));
            answer.notify_one();
        };
        let arguments = RawJson::empty_object();
        let (called, ()) = tokio::join!(registry.permit("mcp__fs__a_b", arguments.view()), swap);
        assert!(matches!(called, Err(Refusal::Gone { .. })), "{called:?}");
    }
}

#[tokio::test]
async fn a_tool_answered_with_never_is_hidden() {
    let asker = |_: Question| async { Ok(Some(Answer::Never)) };
    let permissions = permissions(&["fs"], rules(&[], &[], &[]));
    let options =
        PermissionGateOptions { asker: Some(Arc::new(asker)), ..PermissionGateOptions::default() };
    let registry = Registry::new(PermissionGate::new(permissions, options));
    registry.register("fs", tools(&["rm", "mv"]));
    assert_eq!(names(&registry), ["mcp__fs__rm", "mcp__fs__mv"]);
    let mut events = registry.subscribe();
    execute(&registry, &CallRecorder::default(), "mcp__fs__rm").await.unwrap_err();
    assert_eq!(events.next().await, Some(Event::Permissions));
    assert_eq!(names(&registry), ["mcp__fs__mv"]);
}

#[test]
fn without_an_asker_undecided_tools_are_hidden() {
    let permissions = permissions(&["fs"], rules(&[], &[], &["mcp__fs__get"]));
    let registry =
        Registry::new(PermissionGate::new(permissions, PermissionGateOptions::default()));
    registry.register("fs", tools(&["get", "put"]));
    assert_eq!(names(&registry), ["mcp__fs__get"]);
    let hidden: Vec<_> = registry
        .hidden()
        .into_iter()
        .map(|(tool, why)| (tool.name.to_string(), why.name()))
        .collect();
    assert_eq!(hidden, [("mcp__fs__put".to_owned(), "nobody")]);
}

#[tokio::test]
async fn only_changes_are_sent_as_events() {
    let registry = open(&["fs", "web"]);
    let mut events = registry.subscribe();
    registry.register("fs", tools(&["a"]));
    registry.register("fs", tools(&["a"]));
    registry.unregister("web");
    let described = Arc::new(Tool::new("a").described("now with words"));
    registry.register("fs", [described]);
    registry.unregister("fs");
    for _ in 0..3 {
        assert_eq!(events.next().await, Some(Event::Tools { server: "fs".into() }));
    }
    drop(registry);
    assert_eq!(events.next().await, None);
}

#[tokio::test]
async fn an_answer_that_cannot_be_stored_is_sent_as_a_note() {
    use sparring_host::permissions::Grants;

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let asker = |_: Question| async { Ok(Some(Answer::Always)) };
    let options = PermissionGateOptions {
        asker: Some(Arc::new(asker)),
        grants: Grants::open(&file).0,
        ..PermissionGateOptions::default()
    };
    let registry =
        Registry::new(PermissionGate::new(permissions(&["fs"], rules(&[], &[], &[])), options));
    registry.register("fs", tools(&["rm"]));
    let mut events = registry.subscribe();
    execute(&registry, &CallRecorder::default(), "mcp__fs__rm").await.unwrap();
    let Some(Event::Note(note)) = events.next().await else { panic!("no note") };
    assert!(note.contains("for this run only"), "{note}");
}

#[test]
fn a_rule_that_matches_no_tool_is_reported_with_a_suggestion() {
    let deny =
        ["mcp__fs__rm_all", "mcp__fs__wirte", "mcp__fs__zzzz*", "mcp__fs__rm.*", "mcp__web__x"];
    let allow = ["mcp__fs", "mcp__web", "mcp__fs__rm_all"];
    let permissions = permissions(&["fs", "web"], rules(&deny, &[], &allow));
    let registry =
        Registry::new(PermissionGate::new(permissions, PermissionGateOptions::default()));
    assert!(registry.unmatched_rules().is_empty(), "of what is not connected nothing is known");
    registry.register("fs", tools(&["rm.all", "write"]));
    assert_eq!(
        registry.unmatched_rules(),
        [
            "rule 'mcp__fs__wirte' (session) matches no tool of 'fs'; \
             did you mean its tool 'write'?",
            "rule 'mcp__fs__zzzz*' (session) matches no tool of 'fs'",
            // Only a rule that denies may use the name that clients see.
            "rule 'mcp__fs__rm_all' (session) matches no tool of 'fs'; \
             did you mean its tool 'rm.all'?",
        ]
    );
}

#[test]
fn a_registered_tool_keeps_all_members_of_its_definition() {
    let registry = open(&["fs"]);
    let mut tool = Tool::new("rm").taking(json!({"type": "object", "required": ["path"]}));
    tool.rest.insert("annotations".to_owned(), json!({"destructiveHint": true}));
    registry.register("fs", [Arc::new(tool.clone())]);
    let found = registry.get("mcp__fs__rm").unwrap();
    assert_eq!(*found.tool, tool);
    assert_eq!(found.annotations().unwrap()["destructiveHint"], true);
    assert!(registry.get("mcp__fs__mv").is_none());
}

#[test]
fn the_limit_of_names_is_configurable() {
    let long = "x".repeat(100);
    let registry = open(&["fs"]).with_limit(NameLimit::new(128).unwrap());
    registry.register("fs", tools(&[&long]));
    assert_eq!(names(&registry), [format!("mcp__fs__{long}")]);
}

#[tokio::test]
async fn calls_have_different_ids_in_the_audit_log() {
    use sparring_host::permissions::AuditLog;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    let options = PermissionGateOptions {
        audit: Some(AuditLog::open(&path).unwrap()),
        ..PermissionGateOptions::default()
    };
    let permissions = permissions(&["fs"], rules(&[], &[], &["mcp__fs"]));
    let registry = Arc::new(Registry::new(PermissionGate::new(permissions, options)));
    registry.register("fs", tools(&["a"]));
    let (done, finished) = oneshot::channel();
    let other = Arc::clone(&registry);
    tokio::spawn(async move {
        let _ = execute(&other, &CallRecorder::default(), "mcp__fs__a").await;
        let _ = done.send(());
    });
    execute(&registry, &CallRecorder::default(), "mcp__fs__a").await.unwrap();
    finished.await.unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let ids: std::collections::BTreeSet<String> = text
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["call"].to_string())
        .collect();
    assert_eq!(ids.len(), 2, "{text}");
}
