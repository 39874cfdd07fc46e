//! Tests Ctrl+C, SIGTERM, SIGHUP and kill -9: no process of the target is left.

use rustix::process::Signal;

use crate::process::{Running, is_running, wait_until_gone};

/// A server that prints its process id and that of its child, and ignores the end of its
/// stdin. If `ignores_sigterm`, it also ignores SIGTERM.
fn server(ignores_sigterm: bool) -> String {
    let trap = if ignores_sigterm { "trap '' TERM HUP INT\n" } else { "" };
    format!("{trap}sleep 1000 &\necho \"pids $$ $!\" >&2\nwhile :; do wait; sleep 1000; done")
}

/// Starts `spar` on such a server, and returns both process ids.
fn start(ignores_sigterm: bool, flags: &[&str]) -> (Running, Vec<String>) {
    let script = server(ignores_sigterm);
    let args = [&["ping", "--show-stderr"], flags, &["--", "sh", "-c", &script]].concat();
    let mut running = Running::start(&args);
    let ids: Vec<String> = running.line("pids ").split(' ').map(str::to_owned).collect();
    assert!(ids.len() == 2 && ids.iter().all(|id| is_running(id)));
    (running, ids)
}

fn check(signal: Signal, code: i32) {
    let (mut running, ids) = start(false, &[]);
    running.signal(signal);
    assert!(running.line("error: ").starts_with("stopped by SIG"));
    assert_eq!(running.exit(), Some(code));
    ids.iter().for_each(|id| assert!(!is_running(id), "{id} is left"));
}

#[test]
fn ctrl_c_ends_the_whole_process_group() {
    check(Signal::INT, 130);
}

#[test]
fn sigterm_ends_the_whole_process_group() {
    check(Signal::TERM, 143);
}

#[test]
fn sighup_ends_the_whole_process_group() {
    check(Signal::HUP, 129);
}

#[test]
fn a_second_ctrl_c_kills_a_stubborn_server() {
    let (mut running, ids) = start(true, &[]);
    running.signal(Signal::INT);
    running.line("error: ");
    assert!(ids.iter().all(|id| is_running(id)));
    let began = std::time::Instant::now();
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    // An orderly end would take six seconds.
    assert!(began.elapsed().as_secs() < 5, "took {:?}", began.elapsed());
    ids.iter().for_each(|id| wait_until_gone(id));
}

#[test]
fn prints_an_error_before_the_target_is_shut_down() {
    let (mut running, ids) = start(true, &["--timeout", "100ms"]);
    let error = running.line("error: ");
    assert!(error.ends_with("within 100ms"), "{error}");
    assert!(ids.iter().all(|id| is_running(id)));
    running.signal(Signal::INT);
    assert_eq!(running.exit(), Some(130));
    ids.iter().for_each(|id| wait_until_gone(id));
}

#[test]
fn the_processes_of_a_target_end_after_a_good_answer() {
    let server = format!("{}/tests/golden/server.sh", env!("CARGO_MANIFEST_DIR"));
    let script = format!("sleep 1000 &\necho \"pids $!\" >&2\n. '{server}'");
    let mut running = Running::start(&["ping", "--show-stderr", "--", "sh", "-c", &script]);
    let id = running.line("pids ");
    assert_eq!(running.exit(), Some(0));
    wait_until_gone(&id);
}

#[cfg(target_os = "linux")]
#[test]
fn kill_9_leaves_no_direct_child() {
    let (running, ids) = start(true, &[]);
    running.signal(Signal::KILL);
    assert_eq!(running.exit(), None);
    wait_until_gone(&ids[0]);
    // `spar` cannot do that for the child of a child.
    crate::process::signal(ids[1].parse().unwrap(), Signal::KILL);
}
