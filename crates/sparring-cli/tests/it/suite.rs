//! Tests suites: the examples pass, and a stopped run leaves no process behind.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use rustix::process::Signal;

use crate::filters::without_run_times;
use crate::process::{Running, SPAR, WAIT_LIMIT, is_running, output, wait_until_gone};
use crate::terminal::{read_all, terminal};
use crate::transcript::golden;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_examples_pass_or_are_skipped_if_not_installed() {
    let path = std::env::var("PATH").unwrap();
    let peers = std::env::var("SPAR_PEERS_DIR").unwrap_or_default();
    // The servers of the suites are built to the folder of `spar`.
    let built = Path::new(SPAR).parent().unwrap();
    let from_npm = format!("{peers}/node/node_modules/.bin");
    let from_python = format!("{peers}/python/bin");
    let path = format!("{path}:{from_npm}:{from_python}:{}", built.display());
    let mut command = Command::new(SPAR);
    command.args(["test", "examples"]).current_dir(root()).env("PATH", path);
    let output = output(command.env_remove("MCP_TOKEN"));
    let shown_text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{shown_text}");
    assert!(shown_text.contains("ok    examples/token.spar.yaml: "), "{shown_text}");
    let lines = shown_text.lines().count();
    assert!(lines <= 60, "{lines} lines:\n{shown_text}");
    assert!(shown_text.lines().last().unwrap().contains(" passed, 0 failed, "), "{shown_text}");
    // A build of only this crate does not build them; `cargo xtask test` does.
    let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty());
    for (program, folder) in [
        ("mcp-server-everything", Path::new(&from_npm)),
        ("mcp-server-motherduck", Path::new(&from_python)),
        ("instructions-server", built),
        ("sql-server", built),
    ] {
        let skipped = shown_text.contains(&format!(": {program} is not installed\n"));
        assert_eq!(skipped, !folder.join(program).exists(), "{program}: {shown_text}");
        assert!(!skipped || !ci, "with CI set no server of a suite may be missing:\n{shown_text}");
    }
}

#[test]
fn one_suite_passes_over_every_transport_and_in_every_revision() {
    let mut command = Command::new(SPAR);
    command.args(["test", "-v", "examples/conformance.spar.yaml"]).current_dir(root());
    let transports = ["memory", "stdio", "http", "sse"];
    let revisions = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
    command.args(transports.iter().flat_map(|it| ["--transport", it]));
    command.args(revisions.iter().flat_map(|it| ["--protocol", it]));
    let output = output(&mut command);
    let shown_text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{shown_text}");
    for revision in revisions {
        for transport in transports {
            let passed = shown_text.contains(&format!("ok    a text [{revision}, {transport}]"));
            // 2026-07-28 has no HTTP+SSE.
            let exists = (revision, transport) != ("2026-07-28", "sse");
            assert_eq!(passed, exists, "{revision} over {transport}:\n{shown_text}");
        }
    }
}

/// Runs a suite whose second test takes a second, on a terminal.
fn on_a_terminal(flags: &[&str], term: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    fs::write(
        folder.path().join("slow.mock.yaml"),
        "tools: [{name: slow, delay: 1s, text: done}, {name: quick, text: done}]\n",
    )
    .unwrap();
    let suite = "servers: {it: {mock: slow.mock.yaml}}\ntests:\n  \
                 - {name: a quick one, call: quick}\n  - {name: a slow one, call: slow}\n";
    fs::write(folder.path().join("slow.spar.yaml"), suite).unwrap();
    let (terminal, screen) = terminal();
    let mut command = Command::new(SPAR);
    command.args(["test", "slow.spar.yaml"]).args(flags).current_dir(folder.path());
    command.env("TERM", term).env("NO_COLOR", "1").stdin(Stdio::null());
    command.stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let running = Running::of(command.spawn().unwrap());
    drop(command);
    let shown = read_all(screen);
    assert_eq!(running.exit(), Some(0), "{shown}");
    shown
}

#[test]
fn a_long_run_shows_its_progress_and_erases_it() {
    let shown = on_a_terminal(&[], "xterm");
    let drawn = "\r\x1b[2K1/2, 0 failed · 0s slow.spar.yaml: a slow one";
    assert!(shown.contains(drawn), "{shown:?}");
    // Of an erased line, only the text after it is left.
    let left = |line: &str| line.rsplit("\x1b[2K").next().unwrap_or_default().trim_end().to_owned();
    let left: Vec<String> = shown.lines().map(left).collect();
    let suite = left[0].split(" (took").next().unwrap_or_default();
    assert_eq!(suite, "ok    slow.spar.yaml: 2 passed");
    assert!(left[2].starts_with("2 passed, 0 failed, 0 skipped in 1."), "{left:?}");
    for (flags, term) in [(&["--quiet"][..], "xterm"), (&[], "dumb")] {
        let shown = on_a_terminal(flags, term);
        assert!(!shown.contains("1/2"), "{flags:?} {term}: {shown:?}");
    }
}

/// A suite whose second test hangs. Its server writes its process id and that of its
/// child.
fn hanging_suite(folder: &Path, ignores_signals: bool) -> String {
    let trap = if ignores_signals { "trap '' TERM HUP INT\n" } else { "" };
    let server = format!(
        "{trap}sleep 1000 &\necho \"$$ $!\" > pids.tmp; mv pids.tmp pids\n\
         while read -r line; do :; done\nwhile :; do wait; sleep 1000; done\n"
    );
    fs::write(folder.join("server.sh"), server).unwrap();
    let suite = "servers:\n  good: {mock: good.mock.yaml}\n  \
                 hanging: {command: sh server.sh}\n\
                 tests:\n  - {name: this one passes, ping: true}\n  \
                 - {name: this one hangs, server: hanging, ping: true}\n";
    fs::write(folder.join("good.mock.yaml"), "server: {name: good}\n").unwrap();
    let path = folder.join("a.spar.yaml");
    fs::write(&path, suite).unwrap();
    path.display().to_string()
}

/// Starts `spar` on such a suite and waits until its server runs.
fn start(folder: &Path, ignores_signals: bool) -> (Running, Vec<String>) {
    let suite = hanging_suite(folder, ignores_signals);
    let mut command = Command::new(SPAR);
    command.args(["test", "-v", &suite]).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = Running::of(command.spawn().unwrap());
    let until = Instant::now() + WAIT_LIMIT;
    let ids = loop {
        assert!(Instant::now() < until, "the server does not start");
        if let Ok(ids) = fs::read_to_string(folder.join("pids")) {
            break ids.split_whitespace().map(str::to_owned).collect();
        }
    };
    (running, ids)
}

#[test]
fn ctrl_c_prints_the_finished_tests_and_ends_the_servers() {
    let folder = tempfile::tempdir().unwrap();
    let (mut running, ids) = start(folder.path(), false);
    let mut stdout = BufReader::new(running.child.stdout.take().unwrap());
    let mut shown_text = String::new();
    while !shown_text.contains("ok    this one passes") {
        assert_ne!(stdout.read_line(&mut shown_text).unwrap(), 0, "{shown_text}");
    }
    running.signal(Signal::INT);
    assert_eq!(running.line("error: "), "stopped by SIGINT");
    stdout.read_to_string(&mut shown_text).unwrap();
    assert!(
        without_run_times(&shown_text)
            .ends_with("1 passed, 0 failed, 0 skipped, 1 not run in [TIME]\n"),
        "{shown_text}"
    );
    assert_eq!(running.exit(), Some(130));
    ids.iter().for_each(|id| assert!(!is_running(id), "{id} is left"));
}

#[test]
fn a_second_ctrl_c_does_not_wait_for_stubborn_servers() {
    let folder = tempfile::tempdir().unwrap();
    let (running, ids) = start(folder.path(), true);
    running.signal(Signal::INT);
    // An orderly end would take six seconds.
    let began = Instant::now();
    while is_running(&running.child.id().to_string()) && began.elapsed() < WAIT_LIMIT {
        running.signal(Signal::INT);
        std::thread::yield_now();
    }
    assert_eq!(running.exit(), Some(130));
    assert!(began.elapsed().as_secs() < 5, "took {:?}", began.elapsed());
    ids.iter().for_each(|id| wait_until_gone(id));
}

#[test]
fn a_closed_stdout_does_not_change_the_exit_code() {
    let suite = golden().join("suite/bad.spar.yaml");
    let line = format!("{{ {SPAR} test {}; echo $? >&2; }} | head -n 1", suite.display());
    let output = output(Command::new("sh").args(["-c", &line]));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "1\n");
}

/// Runs an example in every revision and over every transport.
#[test]
fn the_same_suite_passes_in_every_revision_and_over_every_transport() {
    let mut command = Command::new(SPAR);
    command.args(["test", "examples/weather.spar.yaml"]).current_dir(root());
    for revision in sparring_wire::Revision::ALL {
        command.args(["--protocol", revision.name()]);
    }
    for transport in ["memory", "stdio", "http", "sse"] {
        command.args(["--transport", transport]);
    }
    let output = output(&mut command);
    let shown_text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{shown_text}");
    // All but 2026-07-28 over HTTP+SSE.
    assert!(
        without_run_times(&shown_text).ends_with("190 passed, 0 failed, 0 skipped in [TIME]\n"),
        "{shown_text}"
    );
    let noted = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(noted, "note: skipping [2026-07-28, sse]: no such combination\n");
}
