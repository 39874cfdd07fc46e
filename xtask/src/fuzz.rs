//! `cargo xtask fuzz`: throws bytes at the frame parser, which must never fail.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::command::{command, run as run_command, works};

/// Fuzzes for so many seconds.
pub(crate) fn run(root: &Path, seconds: u32) -> Result<()> {
    let folder = root.join("fuzz");
    ensure!(folder.is_dir(), "there is no folder `fuzz` yet");
    ensure!(
        works("cargo fuzz --version"),
        "cargo-fuzz is not installed; get it with `cargo install cargo-fuzz`"
    );
    ensure!(
        works("cargo +nightly --version"),
        "fuzzing needs a nightly compiler; get it with `rustup toolchain install nightly`"
    );
    let line = format!("cargo +nightly fuzz run frame -- -max_total_time={seconds}");
    run_command(command(&folder, &line))
}
