//! Tests that a stopped run of suites leaves no server over HTTP and no mock process behind.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::process::Signal;

use crate::process::{Running, SPAR, WAIT_LIMIT, is_running, wait_until_gone};

const MOCK: &str = "
tools:
  - {name: greet, text: hello}
  - {name: wait, delay: 100s, text: late}
";

/// Writes a suite with a server over HTTP, which runs this script first, and a mock in a separate
/// process. The server writes its process id.
fn suite(folder: &Path, script: &str) {
    let script = format!("{script}echo $$ >> ids; exec \"$0\" \"$@\"");
    std::fs::write(folder.join("a.mock.yaml"), MOCK).unwrap();
    let suite = format!(
        "servers:
  web:
    command: sh
    args: [-c, {script:?}, \"${{spar}}\", mock, a.mock.yaml, --quiet, \"--http=127.0.0.1:${{port}}\"]
    url: \"http://127.0.0.1:${{port}}/mcp\"
    ready: {{path: /health, within: 30s}}
mocks:
  apart: {{mock: a.mock.yaml, process: true}}
tests:
  - {{name: waits, call: wait, timeout: 100s}}
"
    );
    std::fs::write(folder.join("a.spar.yaml"), suite).unwrap();
}

/// Starts the suite, and waits until all processes run. Returns their ids.
fn start(folder: &Path) -> (Running, Vec<String>) {
    let mut command = Command::new(SPAR);
    command.args(["test", "a.spar.yaml"]).current_dir(folder);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = Running::of(command.spawn().unwrap());
    // The processes below `spar`: the server, its child, and the mock.
    let mut ids = Vec::new();
    let until = Instant::now() + WAIT_LIMIT;
    while ids.len() < 3 {
        assert!(Instant::now() < until, "not all processes start: {ids:?}");
        let children = Command::new("ps")
            .args(["--no-headers", "-o", "pid=", "--ppid", &running.child.id().to_string()])
            .output()
            .unwrap();
        let written = std::fs::read_to_string(folder.join("ids")).unwrap_or_default();
        let children = String::from_utf8_lossy(&children.stdout).into_owned();
        ids = children.lines().chain(written.lines()).map(|id| id.trim().to_owned()).collect();
        ids.sort();
        ids.dedup();
    }
    (running, ids)
}

#[test]
fn ctrl_c_ends_servers_over_http_and_mocks_in_separate_processes() {
    let folder = tempfile::tempdir().unwrap();
    suite(folder.path(), "sleep 300 & echo $! >> ids; ");
    let (mut running, ids) = start(folder.path());
    running.signal(Signal::INT);
    assert_eq!(running.line("error: "), "stopped by SIGINT");
    assert_eq!(running.exit(), Some(130));
    ids.iter().for_each(|id| assert!(!is_running(id), "{id} is left"));
}

#[test]
fn a_killed_run_leaves_no_server_over_http_and_no_mock() {
    let folder = tempfile::tempdir().unwrap();
    // Without `sleep`: only a live `spar` can end the children of a server.
    suite(folder.path(), "");
    let mut command = Command::new(SPAR);
    command.args(["test", "a.spar.yaml"]).current_dir(folder.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let running = Running::of(command.spawn().unwrap());
    let id = loop {
        match std::fs::read_to_string(folder.path().join("ids")) {
            Ok(id) if id.ends_with('\n') => break id.trim().to_owned(),
            _ => std::thread::yield_now(),
        }
    };
    running.signal(Signal::KILL);
    assert_eq!(running.exit(), None);
    wait_until_gone(&id);
}
