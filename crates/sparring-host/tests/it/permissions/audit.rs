//! The audit log.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use sparring_host::permissions::{
    Answer, AuditLog, Call, Denied, PermissionGate, PermissionGateOptions, Permissions, Policy,
};
use sparring_wire::RawJson;

use super::{rules, server};

fn gate(audit: AuditLog, answer: Option<Answer>) -> PermissionGate {
    let policy =
        Policy { user: rules(&["mcp__fs__rm"], &[], &["mcp__fs__get_*"]), ..Policy::default() };
    let mut fs = server("fs", "run");
    fs.rules = rules(&["drop"], &[], &[]);
    let permissions = Permissions::new(&policy, &[fs]).0;
    let asker = Arc::new(move |_| async move { Ok(answer) });
    let options = PermissionGateOptions {
        asker: Some(asker),
        audit: Some(audit),
        ..PermissionGateOptions::default()
    };
    PermissionGate::new(permissions, options)
}

async fn check(gate: &PermissionGate, id: &str, tool: &str) -> Result<(), Denied> {
    let arguments = RawJson::from(json!({"token": "hunter2"}));
    gate.check(Call { id, server: "fs", tool, arguments: arguments.view() }).await.map(drop)
}

/// The lines without their times, which are checked.
fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("it is there");
    assert!(text.ends_with('\n'), "{text:?}");
    let parsed = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        let time = line.as_object_mut().and_then(|line| line.shift_remove("time"));
        let time = time.as_ref().and_then(Value::as_str).expect("a time");
        time.parse::<jiff::Timestamp>().expect("RFC 3339");
        line
    });
    parsed.collect()
}

#[tokio::test]
async fn a_line_contains_the_decision_and_its_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let gate = gate(AuditLog::open(&path).expect("it can be made"), Some(Answer::Never));
    check(&gate, "a", "get_x").await.expect("it is allowed");
    for (id, tool) in [("b", "rm"), ("c", "drop"), ("d", "mv\n{}"), ("e", "mv\n{}")] {
        check(&gate, id, tool).await.expect_err("it is denied");
    }
    assert_eq!(
        lines(&path),
        [
            json!({"call": "a", "server": "fs", "tool": "get_x", "decision": "allow",
                "by": "rule", "rule": "mcp__fs__get_*", "from": "user"}),
            json!({"call": "b", "server": "fs", "tool": "rm", "decision": "deny",
                "by": "rule", "rule": "mcp__fs__rm", "from": "user"}),
            json!({"call": "c", "server": "fs", "tool": "drop", "decision": "deny",
                "by": "rule", "rule": "drop", "from": "user", "entry": "fs"}),
            json!({"call": "d", "server": "fs", "tool": "mv\n{}", "decision": "deny",
                "by": "answer", "answer": "never"}),
            json!({"call": "e", "server": "fs", "tool": "mv\n{}", "decision": "deny",
                "by": "earlier-answer"}),
        ]
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::metadata(&path).expect("it is there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[tokio::test]
async fn arguments_are_written_only_if_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let open = || AuditLog::open(&path).expect("it can be written");
    check(&gate(open(), None), "a", "get_x").await.expect("it is allowed");
    assert!(!fs::read_to_string(&path).expect("it is there").contains("hunter2"));
    check(&gate(open().with_arguments(), None), "b", "get_x").await.expect("it is allowed");
    let lines = lines(&path);
    assert_eq!(lines.len(), 2, "it is only ever added to");
    assert_eq!(lines[1]["arguments"], json!({"token": "hunter2"}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_lines_are_not_mixed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("audit.jsonl");
    let runs = (0..4).map(|run| {
        let gate = gate(AuditLog::open(&path).expect("it can be written"), None);
        tokio::spawn(async move {
            for number in 0..250 {
                let id = format!("{run}-{number}-{}", "x".repeat(number * 20));
                check(&gate, &id, "get_x").await.expect("it is allowed");
            }
        })
    });
    for run in runs.collect::<Vec<_>>() {
        run.await.expect("it does not panic");
    }
    let ids: std::collections::HashSet<String> =
        lines(&path).iter().map(|line| line["call"].to_string()).collect();
    assert_eq!(ids.len(), 1_000);
}

#[tokio::test]
async fn a_call_is_denied_if_the_log_cannot_be_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let within = folder.path().join("logs");
    fs::create_dir(&within).expect("it is ours");
    let path = within.join("audit.jsonl");
    let gate = gate(AuditLog::open(&path).expect("it can be made"), None);
    check(&gate, "a", "get_x").await.expect("it is allowed");
    fs::remove_dir_all(&within).expect("it is ours");
    let denied = check(&gate, "b", "get_x").await.expect_err("it cannot be written down");
    let message = denied.to_string();
    assert!(matches!(denied, Denied::Unrecorded(_)), "{message}");
    let expected = format!("call denied: cannot write the audit log {}: ", path.display());
    assert!(message.contains(&expected), "{message}");
    fs::create_dir(&within).expect("it is ours");
    check(&gate, "c", "get_x").await.expect("it can be written again");
    assert_eq!(lines(&path).len(), 1);
}

#[test]
fn a_log_that_is_not_a_regular_file_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let message = AuditLog::open(folder.path()).expect_err("a folder").to_string();
    assert!(message.ends_with(": not a regular file"), "{message}");
    #[cfg(unix)]
    {
        let pipe = folder.path().join("pipe");
        let mode = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0)
            .expect("a pipe");
        let message = AuditLog::open(&pipe).expect_err("a pipe").to_string();
        assert!(message.ends_with(": not a regular file"), "{message}");
    }
}
