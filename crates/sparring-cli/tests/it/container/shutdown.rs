//! Tests that no process is left in a container, for any behaviour of the server and
//! any end of `spar`.

use std::time::Instant;

use rustix::process::Signal;

use super::podman::{BARE, Podman, SHELL, kill, podman, printed};
use crate::process::Running;

/// A server with a child process that reports its start and ignores the end of input. If
/// `ignores_sigterm`, it also ignores SIGTERM. The word identifies both processes.
fn server(ignores_sigterm: bool, word: &str) -> String {
    let trap = if ignores_sigterm { "trap '' TERM" } else { "" };
    format!("{trap}\nsleep 1000{word} &\necho here >&2\nwhile :; do wait; sleep 1000{word}; done")
}

fn start(podman: &Podman, ignores_sigterm: bool, word: &str) -> Running {
    let script = server(ignores_sigterm, word);
    let args = ["ping", "--show-stderr", "--container", SHELL, "--", "sh", "-c", &script];
    let mut running = podman.start(&args);
    running.line("here");
    assert!(podman.processes(SHELL, word).len() >= 2);
    running
}

/// Lets `spar` time out on a command that ignores its input. Returns the duration in seconds.
fn run_until_timeout(container: &str, word: &str, command: &[&str]) -> Option<f32> {
    let podman = podman()?;
    let flags = ["ping", "--timeout", "500ms", "--container", container, "--"];
    let began = Instant::now();
    let output = podman.spar(&[&flags, command].concat());
    let (stderr, code) = printed(&output);
    let expected = "error: no answer to server/discover and initialize within 500ms";
    assert_eq!((stderr.lines().next(), code), (Some(expected), Some(3)));
    assert!(!stderr.contains("note:"), "{stderr}");
    assert_eq!(podman.processes(container, word), [""; 0]);
    Some(began.elapsed().as_secs_f32())
}

#[test]
fn terminates_a_server_that_ignores_the_end_of_its_input_in_a_container_without_a_shell() {
    let Some(seconds) = run_until_timeout(BARE, "1000.01", &["sleep", "1000.01"]) else { return };
    assert!((1.5..5.0).contains(&seconds), "{seconds}");
}

#[test]
fn kills_a_server_that_ignores_sigterm_in_a_container_without_a_shell() {
    let command = ["env", "--ignore-signal=TERM", "sleep", "1000.02"];
    let Some(seconds) = run_until_timeout(BARE, "1000.02", &command) else { return };
    assert!(seconds >= 6.5, "{seconds}");
}

#[test]
fn the_processes_of_a_server_end_with_it() {
    let word = ".03";
    run_until_timeout(SHELL, "1000.03", &["sh", "-c", &server(false, word)]);
    // A server that ends, and leaves a child.
    let Some(podman) = podman() else { return };
    let script = "sleep 1000.04 </dev/null >/dev/null 2>&1 & exec server";
    let output = podman.spar(&["ping", "--container", SHELL, "--", "sh", "-c", script]);
    assert_eq!(printed(&output), (String::new(), Some(0)));
    assert_eq!(podman.processes(SHELL, "1000.04"), [""; 0]);
}

fn check_signal(signal: Signal, code: i32, word: &str) {
    let Some(podman) = podman() else { return };
    let mut running = start(&podman, false, word);
    running.signal(signal);
    assert!(running.line("error: ").starts_with("stopped by SIG"));
    assert_eq!(running.exit(), Some(code));
    assert_eq!(podman.processes(SHELL, word), [""; 0]);
}

#[test]
fn ctrl_c_leaves_nothing_in_the_container() {
    check_signal(Signal::INT, 130, ".05");
}

#[test]
fn sigterm_leaves_nothing_in_the_container() {
    check_signal(Signal::TERM, 143, ".06");
}

#[test]
fn a_second_ctrl_c_kills_a_stubborn_server() {
    let Some(podman) = podman() else { return };
    let mut running = start(&podman, true, ".07");
    running.signal(Signal::INT);
    running.line("error: ");
    let began = Instant::now();
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    // An orderly end would take six seconds.
    assert!(began.elapsed().as_secs() < 5, "took {:?}", began.elapsed());
    podman.wait_for(SHELL, ".07", 0);
}

#[test]
fn a_server_sees_the_end_of_its_input_when_spar_is_killed() {
    let Some(podman) = podman() else { return };
    // The command outlives `spar`, and then handles the end of its input.
    let script = "echo here >&2; while read line; do :; done; n=1000; exec sleep $n.08";
    let args = ["ping", "--show-stderr", "--container", SHELL, "--", "sh", "-c", script];
    let mut running = podman.start(&args);
    running.line("here");
    running.signal(Signal::KILL);
    assert_eq!(running.exit(), None);
    podman.wait_for(SHELL, "sleep 1000.08", 1);
    kill(&podman, SHELL, "sleep 1000.08");
}

#[test]
fn spar_ends_only_its_own_server_in_a_shared_container() {
    let Some(podman) = podman() else { return };
    // Exactly the same command.
    let (mut first, mut second) = (start(&podman, false, ".09"), start(&podman, false, ".09"));
    let before = podman.processes(SHELL, ".09").len();
    first.signal(Signal::INT);
    first.line("error: ");
    assert_eq!(first.exit(), Some(130));
    assert_eq!(podman.processes(SHELL, ".09").len(), before / 2);
    second.signal(Signal::INT);
    second.line("error: ");
    assert_eq!(second.exit(), Some(130));
    assert_eq!(podman.processes(SHELL, ".09"), [""; 0]);
}
