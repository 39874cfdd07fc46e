//! Tests suites whose servers are commands in containers.

use super::podman::{SHELL, podman};
use crate::process::{SPAR, output};

#[test]
fn a_suite_runs_its_servers_in_containers_and_leaves_nothing_there() {
    let Some(podman) = podman() else { return };
    let folder = tempfile::tempdir().unwrap();
    let suite = "\
servers:
  bare: {command: /bin/server, container: spar-bare, engine: \"${ENGINE}\", protocol: [2025-11-25, 2026-07-28]}
  shell: {command: sh, args: [-c, \"server; : of-the-suite\"], container: spar-shell, engine: \"${ENGINE}\", env: {A: b}, cwd: /tmp}
  gone: {command: server, container: spar-nobody, engine: \"${ENGINE}\"}
tests:
  - {name: it echoes, call: echo, with: {message: hi}, expect: {text: hi}}
  - name: it is started anew
    server: shell
    steps: [{ping: true}, {restart: true}, {call: echo, with: {message: a}, expect: {text: a}}]
  - {name: there is no such container, server: gone, ping: true}
";
    std::fs::write(folder.path().join("a.spar.yaml"), suite).unwrap();
    let mut command = std::process::Command::new(SPAR);
    command
        .args(["test", "-v", "a.spar.yaml"])
        .current_dir(folder.path())
        .env("ENGINE", &podman.line);
    let output = output(&mut command);
    let printed = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(1), "{printed}");
    // The duration of a slow test may follow its name.
    for expected in [
        "  ok    it echoes [2025-11-25]",
        "  ok    it echoes [2026-07-28]",
        "  ok    it is started anew",
        "error: cannot use server `gone`: podman has no container spar-nobody\n",
        "\n3 passed, 1 failed, 0 skipped in ",
    ] {
        assert!(printed.contains(expected), "{expected}\n{printed}");
    }
    podman.wait_for(SHELL, "of-the-suite", 0);
}
