//! Tests blocked readers and writers: a signal still ends the program, and no process of
//! the target is left.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use rustix::io::ioctl_fionread;
use rustix::process::Signal;

use crate::process::{Running, SPAR, WAIT_LIMIT, is_running, wait_until_gone};

/// Answers a call with a megabyte, and writes its process id to `$0`.
const LARGE: &str = r#"
echo $$ > "$0"
read -r hello
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}'
read -r initialized
read -r asked
printf '{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"'
head -c 1000000 /dev/zero | tr '\0' x
echo '"}]}}'
while read -r line; do :; done
"#;

/// Never stops writing to its stderr.
const NOISY: &str = r#"echo $$ > "$0"; while :; do echo "still here" >&2; done"#;

/// Never stops writing to its stdout, and ignores SIGTERM.
const FLOOD: &str = r#"
trap '' TERM
echo $$ > "$0"
while :; do echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}'; done
"#;

const CALL: [&str; 5] = ["call", "large", "--no-validate", "--protocol", "2025-11-25"];

/// Starts `spar` on such a script, which writes its process id to the file `id`.
fn start(args: &[&str], script: &str, id: &Path) -> Child {
    let mut command = Command::new(SPAR);
    command.args(args).args(["--", "sh", "-c", script]).arg(id);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until a pipe has data, which is then not read.
fn wait_until_filled(pipe: impl std::os::fd::AsFd) {
    let until = Instant::now() + WAIT_LIMIT;
    while ioctl_fionread(&pipe).unwrap() < 4096 {
        assert!(Instant::now() < until, "nothing is written");
        std::thread::yield_now();
    }
}

#[test]
fn signals_end_the_program_while_stdout_is_not_read() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let folder = tempfile::tempdir().unwrap();
        let id = folder.path().join("id");
        let mut spar = start(&CALL, LARGE, &id);
        wait_until_filled(spar.stdout.as_ref().unwrap());
        crate::process::signal(spar.id(), signal);
        let (mut stderr, mut printed) = (spar.stderr.take().unwrap(), String::new());
        let stdout = spar.stdout.take();
        assert_eq!(Running::of(spar).exit(), Some(code));
        stderr.read_to_string(&mut printed).unwrap();
        assert!(printed.starts_with("error: stopped by SIG"), "{printed}");
        assert!(!is_running(fs::read_to_string(&id).unwrap().trim()));
        drop(stdout);
    }
}

#[test]
fn ctrl_c_ends_the_program_while_stderr_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let id = folder.path().join("id");
    let mut spar = start(&["ping", "--show-stderr"], NOISY, &id);
    let stderr = spar.stderr.take().unwrap();
    wait_until_filled(&stderr);
    crate::process::signal(spar.id(), Signal::INT);
    assert_eq!(Running::of(spar).exit(), Some(130));
    assert!(!is_running(fs::read_to_string(&id).unwrap().trim()));
}

#[test]
fn a_second_ctrl_c_ends_the_program_at_once_while_stdout_is_not_read() {
    let folder = tempfile::tempdir().unwrap();
    let id = folder.path().join("id");
    let mut spar = start(&["raw", "--bytes", "--no-handshake", "x"], FLOOD, &id);
    let (stdout, began) = (spar.stdout.take().unwrap(), Instant::now());
    wait_until_filled(&stdout);
    let mut running = Running::of(spar);
    running.signal(Signal::INT);
    running.line("error: stopped by ");
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    // An orderly end would take six seconds.
    assert!(began.elapsed().as_secs() < 5, "took {:?}", began.elapsed());
    wait_until_gone(fs::read_to_string(&id).unwrap().trim());
}

#[test]
fn ctrl_c_ends_the_program_while_it_waits_for_stdin() {
    let mut command = Command::new(SPAR);
    command.args(["raw", "-", "--", "cat"]);
    check_waiting(command);
}

#[test]
fn ctrl_c_ends_the_program_while_a_trace_has_no_reader() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let mut command = Command::new(SPAR);
    command.args(["ping", "--trace"]).arg(&pipe).args(["--", "cat"]);
    check_waiting(command);
}

#[test]
fn a_suite_or_a_script_without_a_writer_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    for (verb, name) in [("test", "a.spar.yaml"), ("mock", "a.mock.yaml")] {
        let pipe = folder.path().join(name);
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let mut command = Command::new(SPAR);
        let refused = command.arg(verb).arg(&pipe).output().unwrap();
        assert_eq!(refused.status.code(), Some(2));
        let error = String::from_utf8(refused.stderr).unwrap();
        assert!(error.contains(name) && error.contains("not a regular file"), "{error}");
    }
}

/// Ends a program that waits before it has started anything.
fn check_waiting(mut command: Command) {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut spar = command.spawn().unwrap();
    let (stdin, mut stderr) = (spar.stdin.take(), spar.stderr.take().unwrap());
    let running = Running::of(spar);
    running.wait_until_it_catches_signals();
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    let mut printed = String::new();
    stderr.read_to_string(&mut printed).unwrap();
    assert_eq!(printed, "error: stopped by SIGINT\n");
    drop(stdin);
}

#[test]
fn ctrl_c_ends_the_program_while_nothing_writes_the_token_file() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let running = Running::start(&[
        "serve",
        "--http",
        "127.0.0.1:0",
        "--bearer-file",
        pipe.to_str().unwrap(),
    ]);
    // It is opened for reading once this side is open too.
    let writer = fs::OpenOptions::new().write(true).open(&pipe).unwrap();
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    drop(writer);
}
