//! This program again, as a process of its own: one test of it, or several at
//! once, as a runner would start them.

use std::process::Command;

/// Set where a test is run by another.
pub(crate) const INNER: &str = "SPARRING_TEST_INNER";

/// Whether this is the inner one.
pub(crate) fn is_inner() -> bool {
    std::env::var_os(INNER).is_some()
}

/// This program with one test, run by another.
pub(crate) fn inner(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([test, "--exact", "--nocapture"]).env(INNER, "1");
    command.env_remove("CI").env("RUST_BACKTRACE", "0");
    command
}
