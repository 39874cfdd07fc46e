//! `cargo xtask deny`: checks the licences, the versions and the sources of all
//! dependencies, as `deny.toml` says.
//!
//! Advisories are left out, because they need a database from the network.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::command::{command, run as run_command, works};

/// Runs cargo-deny.
pub(crate) fn run(root: &Path) -> Result<()> {
    ensure!(
        works("cargo deny --version"),
        "cargo-deny is not installed; install it with `cargo install cargo-deny --locked`"
    );
    run_command(command(root, "cargo deny check licenses bans sources"))
}
