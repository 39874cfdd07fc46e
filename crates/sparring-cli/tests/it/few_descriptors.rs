//! Tests the program under a low limit of open files: it reports a clear error and never
//! panics.

use std::process::{Command, Output};

use crate::process::{SPAR, output};

/// Runs `spar` with at most so many open descriptors.
fn run(limit: u32, args: &[&str]) -> Output {
    output(&mut limited(limit, args))
}

/// Returns a command that runs `spar` with at most so many open descriptors.
fn limited(limit: u32, args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -n {limit} && exec \"$@\""), "sh", SPAR]).args(args);
    command
}

fn example(name: &str) -> String {
    format!("{}/../../examples/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Runs a verb with 4 to 24 descriptors. Each run succeeds or names the reason, and the
/// lowest limit is too low.
fn check(args: &[&str]) {
    for limit in 4..=24 {
        let output = run(limit, args);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(matches!(code, Some(0 | 2 | 3)), "{args:?} at {limit}: {code:?} {stderr}");
        assert!(!stderr.contains("panicked"), "{args:?} at {limit}: {stderr}");
        if code != Some(0) {
            assert!(stderr.contains("Too many open files"), "{args:?} at {limit}: {stderr}");
        }
        if limit < 8 {
            assert_eq!(code, Some(3), "{args:?} at {limit}: {stderr}");
        }
    }
}

#[test]
fn verbs_with_a_target_name_the_lack_of_descriptors() {
    let mock = example("weather.mock.yaml");
    for verb in [&["ping"][..], &["call", "get_weather", "city=London"], &["list"]] {
        check(&[verb, &["--", SPAR, "mock", &mock]].concat());
    }
}

#[test]
fn verbs_with_files_name_the_lack_of_descriptors() {
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("first.spar.yaml");
    check(&["test", &example("weather.spar.yaml")]);
    check(&["mock", &example("weather.mock.yaml")]);
    check(&["mock", "--check", &example("weather.mock.yaml")]);
    check(&["init", "--force", &first.display().to_string()]);
}

#[test]
fn the_version_needs_no_descriptor() {
    assert_eq!(run(4, &["--version"]).status.code(), Some(0));
}
