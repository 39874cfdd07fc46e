//! Tests that verbs work on a command in a container as on a child process.

use std::process::Command;

use super::podman::{BARE, Podman, SHELL, podman, printed, with_engine};
use crate::process::{SPAR, output};

/// Returns the output of `spar`, which must succeed without a note.
fn spar_output(podman: &Podman, args: &[&str]) -> String {
    let output = podman.spar(args);
    assert_eq!(printed(&output), (String::new(), Some(0)), "{args:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_verb_works_in_a_container_that_has_only_the_server() {
    let Some(podman) = podman() else { return };
    let spar = |args: &[&str]| {
        spar_output(&podman, &[args, &["--container", BARE, "--", "/bin/server"]].concat())
    };
    assert_eq!(spar(&["call", "echo", "message=hi"]), "hi\n");
    assert!(spar(&["list", "tools"]).contains("add "));
    assert!(spar(&["ping"]).starts_with("desk 1.0.0 (2026-07-28) answered"));
    assert!(!spar(&["read", "desk://note"]).is_empty());
    assert!(!spar(&["list", "prompts"]).is_empty());
    let ping = r#"{"jsonrpc":"2.0","id":"mine","method":"ping"}"#;
    let raw = spar(&["raw", "--protocol", "2025-11-25", ping]);
    assert!(raw.contains(r#""id":"mine""#), "{raw}");
}

#[test]
fn a_server_in_a_container_speaks_every_revision() {
    let Some(podman) = podman() else { return };
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        let args = ["ping", "--protocol", revision, "--container", SHELL, "--", "server"];
        assert!(spar_output(&podman, &args).starts_with(&format!("desk 1.0.0 ({revision}) ")));
    }
}

#[test]
fn a_command_gets_the_environment_and_folder_of_the_container_and_a_separate_stderr() {
    let Some(podman) = podman() else { return };
    // Podman may lose the last output of a command that ends without reading.
    let script = "read hello; echo \"$A|$B|$C|$(pwd)|$HOME\" >&2; exit 3";
    let set =
        ["--env", "A=a b", "--container-flag", "-e 'B=c d'", "--container-flag=--env=HOME=/x"];
    let passed = ["--container-flag=--env=C", "--cwd", "/tmp", "--container", SHELL, "--"];
    let args =
        [&["ping", "--protocol", "2025-11-25"], &set[..], &passed, &["sh", "-c", script]].concat();
    let output = output(Command::new(SPAR).args(with_engine(&args, &podman.line)).env("C", "ours"));
    let expected = "error: the server exited with status 3 before it answered initialize\n\
                    stderr:\n  a b|c d|ours|/tmp|/x\n";
    assert_eq!(printed(&output), (expected.to_owned(), Some(3)));
    assert!(output.stdout.is_empty());
}

#[test]
fn copies_stderr_as_it_arrives() {
    let Some(podman) = podman() else { return };
    let args = ["ping", "--show-stderr", "--container", SHELL, "--", "server"];
    let output = podman.spar(&args);
    assert_eq!(
        printed(&output),
        ("ended: the other side closed the connection; 0 violations\n".to_owned(), Some(0))
    );
}

#[test]
fn a_large_message_arrives_complete_in_both_directions() {
    let Some(podman) = podman() else { return };
    let (folder, message) = (tempfile::tempdir().unwrap(), "x".repeat(3_000_000));
    let file = folder.path().join("arguments.json");
    std::fs::write(&file, format!("{{\"message\":\"{message}\"}}")).unwrap();
    let arguments = format!("@{}", file.display());
    let args = ["call", "echo", "--args", &arguments, "--container", BARE, "--", "server"];
    assert!(
        spar_output(&podman, &args) == format!("{message}\n"),
        "it does not come back as it was"
    );
}
