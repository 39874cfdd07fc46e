//! Tests `spar mock` under difficult conditions: signals while it runs a program, and
//! journals that cannot be written.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Instant;

use rustix::process::Signal;
use serde_json::{Value, json};

use crate::mock::over_http_of;
use crate::process::{Running, SPAR, WAIT_LIMIT, output, wait_until_gone};

const META: &str = r#"{"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}"#;

fn request(id: u64, tool: &str) -> String {
    let meta: Value = serde_json::from_str(META).unwrap();
    let params = json!({"name": tool, "arguments": {}, "_meta": meta});
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}))
}

fn on_pipes(script: &Path, flags: &[&str]) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut command = Command::new(SPAR);
    command.arg("mock").arg(script).args(flags);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, stdin, BufReader::new(stdout))
}

/// Waits for the ids that a program writes.
fn ids(folder: &Path) -> Vec<String> {
    let until = Instant::now() + WAIT_LIMIT;
    loop {
        let text = fs::read_to_string(folder.join("ids")).unwrap_or_default();
        if text.ends_with("end\n") {
            return text.lines().filter(|line| *line != "end").map(str::to_owned).collect();
        }
        assert!(Instant::now() < until, "the program does not start");
        std::thread::yield_now();
    }
}

#[test]
fn a_signal_ends_the_program_that_makes_an_answer() {
    let script = "tools: [{name: t, exec: {command: sh, args: [-c, \"trap '' TERM INT HUP; sleep 300 & echo $$ > ids; echo $! >> ids; echo end >> ids; wait\"]}}]";
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        for http in [false, true] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("it.mock.yaml");
            fs::write(&path, script).unwrap();
            let (running, mut caller) = match http {
                false => {
                    let (child, mut stdin, stdout) = on_pipes(&path, &["--allow-exec"]);
                    stdin.write_all(request(1, "t").as_bytes()).unwrap();
                    // Keeps stdin open, because its end would end the mock.
                    std::mem::forget((stdin, stdout));
                    (Running::of(child), None)
                }
                true => {
                    let (running, url) = over_http_of(&path, &["--allow-exec"]);
                    let mut command = Command::new(SPAR);
                    command.args(["call", "t", "--url", &url]);
                    command.stdout(Stdio::null()).stderr(Stdio::null());
                    (running, Some(command.spawn().unwrap()))
                }
            };
            let ids = ids(folder.path());
            running.signal(signal);
            assert_eq!(running.exit(), Some(code), "over http: {http}");
            ids.iter().for_each(|id| wait_until_gone(id));
            if let Some(caller) = &mut caller {
                caller.wait().unwrap();
            }
        }
    }
}

#[test]
fn a_killed_mock_leaves_no_program_behind() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.mock.yaml");
    let script = "tools: [{name: t, exec: {command: sh, args: [-c, \"echo $$ > ids; echo end >> ids; exec sleep 300\"]}}]";
    fs::write(&path, script).unwrap();
    let (child, mut stdin, _stdout) = on_pipes(&path, &["--allow-exec"]);
    stdin.write_all(request(1, "t").as_bytes()).unwrap();
    let ids = ids(folder.path());
    let running = Running::of(child);
    running.signal(Signal::KILL);
    assert_eq!(running.exit(), None);
    ids.iter().for_each(|id| wait_until_gone(id));
}

/// Serves one request with a journal at this path, and returns the exit code and the stderr.
fn with_journal(journal: &Path, before_the_end: impl FnOnce()) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("it.mock.yaml");
    fs::write(&path, "tools: [{name: t, text: hello}]").unwrap();
    let (mut child, mut stdin, mut stdout) =
        on_pipes(&path, &["--journal", &journal.to_string_lossy()]);
    let mut ask = |id| {
        stdin.write_all(request(id, "t").as_bytes()).unwrap();
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        assert!(line.contains("hello"), "serving does not wait for the journal: {line}");
    };
    ask(1);
    before_the_end();
    (2..100).for_each(&mut ask);
    drop(stdin);
    let mut printed = String::new();
    child.stderr.take().unwrap().read_to_string(&mut printed).unwrap();
    (child.wait().unwrap().code(), printed)
}

#[test]
fn reports_a_journal_that_cannot_be_written_and_serves_all_clients() {
    let (exit, printed) = with_journal(Path::new("/dev/full"), || {});
    assert_eq!(exit, Some(2));
    assert!(printed.starts_with("error: /dev/full: cannot write the journal: "), "{printed}");
    assert!(printed.contains("No space left on device"), "{printed}");

    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    make_pipe(&pipe);
    let reading = pipe.clone();
    let (opened, was_opened) = std::sync::mpsc::channel();
    let reader = std::thread::spawn(move || {
        let mut reader = BufReader::new(fs::File::open(reading).unwrap());
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        drop(reader);
        opened.send(()).unwrap();
        line
    });
    let (exit, printed) = with_journal(&pipe, || was_opened.recv_timeout(WAIT_LIMIT).unwrap());
    assert!(reader.join().unwrap().contains("\"name\":\"t\""));
    assert_eq!(exit, Some(2), "{printed}");
    assert!(printed.contains("cannot write the journal: "), "{printed}");
}

#[test]
fn ctrl_c_ends_the_wait_for_the_reader_of_a_journal() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    make_pipe(&pipe);
    let running = Running::start(&["mock", "--interactions", "--journal", &pipe.to_string_lossy()]);
    running.wait_until_it_catches_signals();
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
}

fn make_pipe(path: &Path) {
    assert!(output(Command::new("mkfifo").arg(path)).status.success());
}
