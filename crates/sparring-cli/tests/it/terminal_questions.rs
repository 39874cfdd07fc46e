//! Tests questions at a terminal.

use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use rustix::process::Signal;
use rustix::termios::{LocalModes, tcgetattr};

use crate::process::{SPAR, WAIT_LIMIT, signal};
use crate::terminal::terminal;

const MOCK: &str = "server: {name: m, version: 1.0.0}\nvars: {key: none}\ntools:\n  - name: which\n    \
                    replies: [{text: \"it is ${vars.key}\"}]\n";

const ASKING: &str = r#"{
    "inputs": [
        {"id": "key", "type": "promptString", "description": "API key", "password": true},
        {"id": "tool", "type": "pickString", "options": ["mock", "other"], "default": "mock"}
    ],
    "servers": {"asks": {"command": "SPAR", "args": ["${input:tool}", "m.mock.yaml", "--var", "key=${input:key}"]}}
}"#;

/// `spar` on a terminal, in a project.
struct TerminalSession {
    project: tempfile::TempDir,
    child: Child,
    /// The terminal's end of the program.
    terminal: File,
    /// The terminal's end of the user.
    keys: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl TerminalSession {
    fn start(args: &[&str]) -> TerminalSession {
        let project = tempfile::tempdir().unwrap();
        fs::create_dir(project.path().join(".vscode")).unwrap();
        let asking = ASKING.replace("SPAR", SPAR);
        fs::write(project.path().join(".vscode/mcp.json"), asking).unwrap();
        fs::write(project.path().join("m.mock.yaml"), MOCK).unwrap();
        let (terminal, screen) = terminal();
        let mut screen = screen.into_inner();
        let keys = screen.try_clone().unwrap();
        let mut command = Command::new(SPAR);
        command.args(args).current_dir(project.path()).env("HOME", project.path());
        command.stdin(Stdio::from(terminal.try_clone().unwrap())).stdout(Stdio::piped());
        command.stderr(Stdio::from(terminal.try_clone().unwrap())).env("NO_COLOR", "1");
        let child = command.spawn().unwrap();
        let (sender, shown_text) = channel();
        std::thread::spawn(move || {
            let mut some = [0; 4096];
            while let Ok(count @ 1..) = screen.read(&mut some) {
                if sender.send(some[..count].to_vec()).is_err() {
                    return;
                }
            }
        });
        TerminalSession { project, child, terminal, keys, screen: shown_text, seen: String::new() }
    }

    /// Waits until the screen shows the text.
    fn wait_for(&mut self, text: &str) {
        let until = Instant::now() + WAIT_LIMIT;
        while !self.seen.contains(text) {
            let left = until.saturating_duration_since(Instant::now());
            let bytes = self.screen.recv_timeout(left);
            let bytes = bytes.unwrap_or_else(|_| panic!("{text:?} never comes: {}", self.seen));
            self.seen += &String::from_utf8_lossy(&bytes);
        }
    }

    fn type_line(&mut self, line: &str) {
        writeln!(self.keys, "{line}").unwrap();
    }

    fn echo_is_on(&self) -> bool {
        tcgetattr(&self.terminal).unwrap().local_modes.contains(LocalModes::ECHO)
    }

    /// Returns the output and the exit code, after the end.
    fn end(&mut self) -> (String, Option<i32>) {
        let mut printed = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        (printed, self.child.wait().unwrap().code())
    }
}

#[test]
fn asks_for_an_input_and_does_not_show_a_secret_one() {
    let mut session = TerminalSession::start(&["call", "which", "--server", "asks"]);
    session.wait_for("tool (mock, other) [mock]: ");
    session.type_line("none of these");
    session.wait_for("none of these\r\ntool (mock, other) [mock]: ");
    session.type_line("");
    session.wait_for("API key: ");
    while session.echo_is_on() {
        std::thread::yield_now();
    }
    session.type_line("hunter2");
    let (printed, code) = session.end();
    assert_eq!((&*printed, code), ("it is (hidden)\n", Some(0)));
    assert!(!session.seen.contains("hunter2"), "{}", session.seen);
    assert!(session.echo_is_on());
}

#[test]
fn ctrl_c_at_a_hidden_input_restores_the_echo_of_the_terminal() {
    let mut session = TerminalSession::start(&["call", "which", "--server", "asks"]);
    session.wait_for("tool (mock, other) [mock]: ");
    session.type_line("mock");
    session.wait_for("API key: ");
    while session.echo_is_on() {
        std::thread::yield_now();
    }
    signal(session.child.id(), Signal::INT);
    assert_eq!(session.end().1, Some(130));
    assert!(session.echo_is_on());
}

#[test]
fn trusts_a_file_after_showing_its_servers() {
    for (answer, trusted) in [("y", true), ("", false), ("no", false), ("YES", true)] {
        let mut session = TerminalSession::start(&["config", "trust"]);
        session.wait_for("asks (stdio): ");
        session.wait_for("Trust this file? [y/N] ");
        session.type_line(answer);
        let (printed, code) = session.end();
        assert_eq!((printed.starts_with("trusted: "), code), (trusted, Some(0)), "{answer}");
        let store = session.project.path().join(".local/state/sparring/trust.json");
        assert_eq!(store.exists(), trusted, "{answer}");
    }
}
