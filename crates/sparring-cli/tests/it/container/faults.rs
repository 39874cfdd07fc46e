//! Tests that faults of a container are reported by name.

use std::io::BufRead as _;

use super::podman::{Podman, SHELL, podman, printed};

/// Checks the first line of the error, and that it is not about a timeout.
fn check(podman: &Podman, args: &[&str], expected: &str) {
    let (stderr, code) = printed(&podman.spar(&[&["ping"], args].concat()));
    assert_eq!((stderr.lines().next(), code), (Some(&*format!("error: {expected}")), Some(3)));
}

#[test]
fn reports_a_missing_command_folder_or_user_in_a_container() {
    let Some(podman) = podman() else { return };
    let check = |args: &[&str], expected: &str| {
        check(&podman, &[&["--container", SHELL], args].concat(), expected);
    };
    check(&["--", "nope"], "command not found in container spar-shell: nope");
    check(&["--", "/bin/nope"], "command not found in container spar-shell: /bin/nope");
    check(&["--", "/tmp"], "not executable in container spar-shell: /tmp");
    check(&["--cwd", "/nope", "--", "server"], "no such directory in container spar-shell: /nope");
    check(
        &["--container-flag", "--user bob", "--", "server"],
        "podman refused: unable to find user bob: no matching entries in passwd file",
    );
    let flag = "podman refused: unknown flag: --nope; See 'podman exec --help'";
    check(&["--container-flag", "--nope", "--", "server"], flag);
    // An exit code of the command is not one of the engine.
    let own = "the server exited with status 127 before it answered initialize";
    check(&["--protocol", "2025-11-25", "--", "sh", "-c", "nope"], own);
}

#[test]
fn reports_a_container_that_cannot_run_commands() {
    let Some(podman) = podman() else { return };
    let missing = ["--container", "spar-missing", "--", "server"];
    check(&podman, &missing, "podman has no container spar-missing");
    let own = podman.container("run", "stopped", &[]);
    let args = ["--container", &own.name, "--", "server"];
    own.run("pause");
    check(&podman, &args, "container spar-own-stopped is paused");
    own.run("unpause");
    own.run("kill");
    own.run("wait");
    let killed = "container spar-own-stopped is not running: exited with status 137";
    check(&podman, &args, killed);
}

/// Starts `spar` on a silent server in a container of this test, does something to the
/// container, and returns the error.
fn run_and_disturb(podman: &Podman, container: &str, timeout: &str, work: &[&str]) -> Vec<String> {
    let script = "echo here >&2; while read line; do :; done; sleep 1000.31";
    let flags = ["ping", "--protocol", "2025-11-25", "--show-stderr", "--timeout", timeout];
    let command = ["--container", container, "--", "sh", "-c", script];
    let mut running = podman.start(&[&flags[..], &command].concat());
    running.line("here");
    podman.run(&[work, &[container]].concat());
    let printed = running.stderr.take().unwrap().lines().map(Result::unwrap).collect();
    assert_eq!(running.exit(), Some(3));
    printed
}

#[test]
fn reports_at_once_that_the_container_of_a_server_stopped() {
    let Some(podman) = podman() else { return };
    let own = podman.container("run", "killed", &[]);
    let printed = run_and_disturb(&podman, &own.name, "60s", &["kill"]);
    let expected = "error: the server exited with status 137 (\
                    container spar-own-killed is not running: ";
    assert!(printed.last().unwrap().starts_with(expected), "{printed:?}");
}

#[test]
fn reports_at_once_that_the_container_of_a_server_was_removed() {
    let Some(podman) = podman() else { return };
    let own = podman.container("run", "removed", &[]);
    let printed =
        run_and_disturb(&podman, &own.name, "60s", &["rm", "--force", "--time=0"]).concat();
    assert!(printed.contains("error: the server exited with status "), "{printed}");
    // The container is killed first, and then removed.
    let (gone, stopped) = ("has no container spar-own-removed", "spar-own-removed is not running");
    assert!(printed.contains(gone) || printed.contains(stopped), "{printed}");
}

#[test]
fn reports_with_the_timeout_that_the_container_of_a_server_is_paused() {
    let Some(podman) = podman() else { return };
    let own = podman.container("run", "paused", &[]);
    let printed = run_and_disturb(&podman, &own.name, "2s", &["pause"]);
    let silence = "error: no answer to initialize within 2s";
    assert_eq!(printed[..2], [silence, "note: container spar-own-paused is paused"]);
    // A paused process that cannot be killed is killed once it is resumed.
    if let Some(left) = printed.get(2) {
        let expected = "note: the server may still run in container spar-own-paused: \
                        container spar-own-paused is paused";
        assert_eq!(left, expected);
    }
    own.run("unpause");
    podman.wait_for(&own.name, "1000.31", 0);
}
