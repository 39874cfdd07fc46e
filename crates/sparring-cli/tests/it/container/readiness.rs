//! Tests that `spar` waits for a container that is not ready, and reports one that will
//! not be.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use super::podman::{OwnContainer, Podman, podman, printed, with_engine};
use crate::process::{Running, SPAR, WAIT_LIMIT, output, wait_until_gone};

const HEALTHY: &str = r#"--health-cmd=["/bin/sleep","0"]"#;
const UNHEALTHY: &str = r#"--health-cmd=["/bin/nope"]"#;
const NO_HEALTH_INTERVAL: &str = "--health-interval=disable";

fn check(own: &OwnContainer<'_>, podman: &Podman, expected: &str) {
    let args = ["ping", "--timeout", "500ms", "--container", &own.name, "--", "server"];
    let expected = format!("error: container {} {expected}\n", own.name);
    assert_eq!(printed(&podman.spar(&args)), (expected, Some(3)));
}

/// Starts `spar` on an engine that logs its calls, and waits until the state was
/// requested more than once.
fn wait_in(folder: &Path, own: &OwnContainer<'_>, podman: &Podman) -> Running {
    let (engine, log) = (folder.join("engine"), folder.join("log"));
    let script =
        format!("#!/bin/sh\necho \"$1\" >>'{}'\nexec {} \"$@\"\n", log.display(), podman.line);
    fs::write(&engine, script).unwrap();
    fs::set_permissions(&engine, fs::Permissions::from_mode(0o755)).unwrap();
    let args = ["ping", "--timeout", "60s", "--container", &own.name, "--", "server"];
    let args = with_engine(&args, &engine.to_string_lossy());
    let running = Running::start(&args.iter().map(String::as_str).collect::<Vec<_>>());
    let until = Instant::now() + WAIT_LIMIT;
    while fs::read_to_string(&log).unwrap_or_default().matches("inspect").count() < 3 {
        assert!(Instant::now() < until, "it does not ask");
    }
    assert!(!fs::read_to_string(&log).unwrap().contains("exec"));
    running
}

#[test]
fn waits_for_a_health_check() {
    let Some(podman) = podman() else { return };
    let own = podman.container("run", "healthy", &[HEALTHY, NO_HEALTH_INTERVAL]);
    check(&own, &podman, "was not ready within 500ms: the health check has not succeeded yet");
    let folder = tempfile::tempdir().unwrap();
    let waiting = wait_in(folder.path(), &own, &podman);
    podman.run(&["healthcheck", "run", &own.name]);
    assert_eq!(waiting.exit(), Some(0));
}

#[test]
fn reports_a_failed_health_check() {
    let Some(podman) = podman() else { return };
    let flags = [UNHEALTHY, NO_HEALTH_INTERVAL, "--health-retries=1"];
    let own = podman.container("run", "unhealthy", &flags);
    output(&mut podman.command(&["healthcheck", "run", &own.name]));
    check(&own, &podman, "is unhealthy: its health check fails");
}

#[test]
fn waits_for_a_container_that_is_not_started_yet() {
    let Some(podman) = podman() else { return };
    let own = podman.container("create", "created", &[]);
    check(&own, &podman, "was not ready within 500ms: not started yet");
    let folder = tempfile::tempdir().unwrap();
    let waiting = wait_in(folder.path(), &own, &podman);
    own.run("start");
    assert_eq!(waiting.exit(), Some(0));
}

#[test]
fn ctrl_c_ends_the_wait_for_a_container() {
    let Some(podman) = podman() else { return };
    let own = podman.container("create", "interrupted", &[]);
    let folder = tempfile::tempdir().unwrap();
    let mut waiting = wait_in(folder.path(), &own, &podman);
    waiting.signal(rustix::process::Signal::INT);
    assert_eq!(waiting.line("error: "), "stopped by SIGINT");
    assert_eq!(waiting.exit(), Some(130));
}

#[test]
fn an_engine_that_does_not_answer_has_a_deadline_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let id = folder.path().join("id");
    let engine = format!("sh -c 'sleep 1000 & echo $! >{}; wait'", id.display());
    let args = ["ping", "--timeout", "300ms", "--container", "web", "--", "server"];
    let args = with_engine(&args, &engine);
    let expected = "error: sh did not report the state of container web within 300ms\n";
    let output = output(Command::new(SPAR).args(args));
    assert_eq!(printed(&output), (expected.to_owned(), Some(3)));
    wait_until_gone(fs::read_to_string(id).unwrap().trim());
}
