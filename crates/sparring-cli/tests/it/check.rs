//! Tests `spar check`: signals leave no process, a server that hangs or floods ends, and the
//! checks of one server in every revision are fast enough.

use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use crate::process::{Running, SPAR, is_running, output, wait_until_gone};

/// Prints the ids of a server's processes, and answers nothing.
const SILENT: &str = "sleep 1000 &\necho \"pids $$ $!\" >&2\nwhile :; do wait; sleep 1000; done";

#[test]
fn ctrl_c_during_a_check_leaves_no_process() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut running = Running::start(&["check", "--show-stderr", "--", "sh", "-c", SILENT]);
        // The revisions are tried at the same time.
        let ids: Vec<String> = (0..2).flat_map(|_| pids(&running.line("pids "))).collect();
        running.signal(signal);
        assert!(running.line("error: ").starts_with("stopped by SIG"));
        assert_eq!(running.exit(), Some(code));
        ids.iter().for_each(|id| wait_until_gone(id));
    }
}

fn pids(line: &str) -> Vec<String> {
    line.split(' ').map(str::to_owned).collect()
}

#[test]
fn the_processes_of_a_check_end_with_it() {
    let server = format!("{}/tests/golden/server.sh", env!("CARGO_MANIFEST_DIR"));
    let script = format!("sleep 1000 &\necho \"pids $!\" >&2\n. '{server}'");
    let args = ["check", "--show-stderr", "--only", "wire/", "--", "sh", "-c", &script];
    let mut running = Running::start(&args);
    let id = running.line("pids ");
    assert!(matches!(running.exit(), Some(0 | 1)));
    wait_until_gone(&id);
    assert!(!is_running(&id));
}

#[test]
fn a_server_that_answers_nothing_ends_the_check() {
    let args = ["check", "--timeout", "300ms", "--", "sh", "-c", SILENT];
    let began = Instant::now();
    let done = output(Command::new(SPAR).args(args));
    assert!(matches!(done.status.code(), Some(1 | 3)), "{:?}", done.status);
    assert!(began.elapsed() < Duration::from_secs(40), "took {:?}", began.elapsed());
}

#[test]
fn a_server_that_floods_its_output_ends_the_check() {
    let args = ["check", "--timeout", "2s", "--only", "wire/", "--", "yes"];
    let done = output(Command::new(SPAR).args(args));
    assert!(matches!(done.status.code(), Some(1 | 3)), "{:?}", done.status);
}

#[test]
fn a_tool_that_never_succeeds_and_one_that_is_not_called_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let script = "
tools:
  - {name: look, description: Looks., annotations: {readOnlyHint: true}, is_error: true, text: no}
  - {name: write, description: Writes., text: done}
";
    let mock = folder.path().join("it.mock.yaml");
    std::fs::write(&mock, script).unwrap();
    let mut command = Command::new(SPAR);
    command.args(["check", "--protocol", "2025-11-25", "--", SPAR, "mock"]).arg(mock);
    let printed = String::from_utf8(output(&mut command).stdout).unwrap();
    assert!(printed.contains("not called: write; --call all allows them"), "{printed}");
    assert!(printed.contains("look never succeeded"), "{printed}");
}

#[test]
fn a_mock_with_every_feature_has_no_finding_in_any_revision() {
    let mock = format!("{}/../../examples/conformance.mock.yaml", env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(SPAR);
    command.args(["check", "--strict", "--call", "all", "--", SPAR, "mock", &mock]);
    let done = output(&mut command);
    let printed = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(0), "{printed}");
    assert!(printed.contains(" 0 failed, 0 warned, 0 undecided"), "{printed}");
}

#[cfg(unix)]
#[test]
fn revisions_without_a_connection_are_not_listed_as_spoken() {
    let args = ["check", "--timeout", "5s", "--protocol", "2025-11-25", "--", "sh", "-c", "exit 3"];
    let done = output(Command::new(SPAR).args(args));
    let printed = String::from_utf8(done.stdout).unwrap();
    assert_eq!(done.status.code(), Some(1), "{printed}");
    assert!(printed.contains("  failed 2025-11-25: no connection\n"), "{printed}");
    assert!(!printed.contains("speaks"), "{printed}");
}
