//! Tests `spar mock --watch`: the script changes while it is served, also with errors.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::mock::over_http_of;
use crate::process::{Running, SPAR, output};

const NOTE_PREFIX: &str = "note: ";

fn tool(text: &str) -> String {
    format!("tools: [{{name: greet, text: \"{text}\"}}]\n")
}

struct WatchedMock {
    folder: tempfile::TempDir,
    script: PathBuf,
}

impl WatchedMock {
    fn with(script: &str) -> WatchedMock {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it.mock.yaml");
        fs::write(&path, script).unwrap();
        WatchedMock { folder, script: path }
    }

    fn write(&self, script: &str) {
        fs::write(&self.script, script).unwrap();
    }
}

fn call_greet(url: &str) -> String {
    let output = output(Command::new(SPAR).args(["call", "greet", "--url", url]));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

/// Waits for the next note that contains this.
fn wait_for_note(running: &mut Running, what: &str) -> String {
    loop {
        let line = running.line(NOTE_PREFIX);
        if line.contains(what) {
            return line;
        }
    }
}

#[test]
fn serves_a_changed_script_and_reports_an_invalid_one() {
    let mock = WatchedMock::with(&tool("one"));
    let (mut running, url) = over_http_of(&mock.script, &["--watch"]);
    assert_eq!(call_greet(&url), "one");

    mock.write(&tool("two"));
    let printed = wait_for_note(&mut running, "reloaded ");
    assert!(printed.ends_with("it.mock.yaml: serving mock 0.1.0 with 1 tool"), "{printed}");
    assert_eq!(call_greet(&url), "two");

    mock.write("tools: [{name: greet, text: x, nam: y}]\n");
    let printed = running.line("error: ");
    assert!(printed.contains("`nam`"), "{printed}");
    assert!(running.line(" --> ").ends_with("it.mock.yaml:1:32"));
    wait_for_note(&mut running, "still serving the previous script");
    assert_eq!(call_greet(&url), "two");

    // Editors write another file and rename it.
    let other = mock.folder.path().join("other");
    fs::write(&other, tool("three")).unwrap();
    fs::rename(&other, &mock.script).unwrap();
    wait_for_note(&mut running, "reloaded ");
    assert_eq!(call_greet(&url), "three");

    fs::remove_file(&mock.script).unwrap();
    let printed = running.line("error: cannot read ");
    assert!(printed.contains("it.mock.yaml"), "{printed}");
    assert_eq!(call_greet(&url), "three");
    mock.write(&tool("four"));
    wait_for_note(&mut running, "reloaded ");
    assert_eq!(call_greet(&url), "four");

    mock.write(&format!("paths: {{mcp: /other}}\n{}", tool("five")));
    wait_for_note(&mut running, "`paths` changes only when the mock restarts");
    assert_eq!(call_greet(&url), "five");
    running.signal(Signal::TERM);
    assert_eq!(running.exit(), Some(143));
}

#[test]
fn watches_the_files_that_a_script_names_even_before_they_exist() {
    let named = "resources: [{uri: \"a://b\", file: sub/b.txt}]\n";
    let mock = WatchedMock::with(&tool("one"));
    let (mut running, url) = over_http_of(&mock.script, &["--watch"]);
    let read = || {
        let output = output(Command::new(SPAR).args(["read", "a://b", "--url", &url]));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    mock.write(named);
    assert!(running.line("error: ").contains("cannot read"));
    wait_for_note(&mut running, "still serving the previous script");
    let folder = mock.folder.path().join("sub");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("b.txt"), "first").unwrap();
    wait_for_note(&mut running, "reloaded ");
    assert_eq!(read(), "first");
    fs::write(folder.join("b.txt"), "second").unwrap();
    wait_for_note(&mut running, "reloaded ");
    assert_eq!(read(), "second");
    running.signal(Signal::TERM);
    running.exit();
}

/// A session by hand.
struct McpSession {
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
}

impl McpSession {
    fn with(running: &mut Running) -> McpSession {
        let stdin = running.child.stdin.take().unwrap();
        McpSession { stdin, stdout: BufReader::new(running.child.stdout.take().unwrap()) }
    }

    fn send(&mut self, frame: &Value) {
        writeln!(self.stdin, "{frame}").unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }
}

fn on_pipes(script: &Path, flags: &[&str]) -> Running {
    let mut command = Command::new(SPAR);
    command.arg("mock").arg(script).args(flags);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    Running::of(command.spawn().unwrap())
}

#[test]
fn notifies_connected_clients_of_a_changed_list_and_prints_nothing_else_to_stdout() {
    let mock = WatchedMock::with(&tool("one"));
    let mut running = on_pipes(&mock.script, &["--watch", "--json"]);
    let mut session = McpSession::with(&mut running);
    session.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "by hand", "version": "1"}}}));
    assert_eq!(session.receive()["id"], 1);
    session.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
    mock.write("wrong: 1\n");
    wait_for_note(&mut running, "still serving the previous script");
    mock.write(&tool("two"));
    wait_for_note(&mut running, "reloaded ");
    mock.write(&tool("three").replace("greet", "other"));
    assert_eq!(session.receive()["method"], "notifications/tools/list_changed");
    session.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
        "params": {"name": "other"}}));
    assert_eq!(session.receive()["result"]["content"][0]["text"], "three");
    drop(session);
    assert_eq!(running.exit(), Some(0));
}
