//! Runs one test of this program in a new process, as a test runner does.

use std::process::Command;

/// This variable is set in a process that another test has started.
pub(crate) const SUBPROCESS: &str = "SPARRING_TEST_SUBPROCESS";

/// Returns true if another test has started this process.
pub(crate) fn is_subprocess() -> bool {
    std::env::var_os(SUBPROCESS).is_some()
}

/// Returns the command that runs one test of this program.
pub(crate) fn subprocess(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(SUBPROCESS, "1");
    command.env_remove("CI").env("RUST_BACKTRACE", "0");
    command
}
