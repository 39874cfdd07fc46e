//! `cargo xtask fuzz`: fuzzes the frame parser, which must never fail.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::command::{command, run as run_command, succeeds};

/// Fuzzes for this number of seconds.
pub(crate) fn run(root: &Path, seconds: u32) -> Result<()> {
    let folder = root.join("fuzz");
    ensure!(folder.is_dir(), "no such folder: fuzz");
    ensure!(
        succeeds("cargo fuzz --version"),
        "cargo-fuzz is not installed; install it with `cargo install cargo-fuzz`"
    );
    ensure!(
        succeeds("cargo +nightly --version"),
        "fuzzing needs a nightly compiler; install it with `rustup toolchain install nightly`"
    );
    let line = format!("cargo +nightly fuzz run frame -- -max_total_time={seconds}");
    run_command(command(&folder, &line))
}
