//! `cargo xtask deny`: checks the licences, versions and sources of all dependencies
//! by the rules of `deny.toml`.
//!
//! It does not check advisories, because they need a database from the network.

use std::path::Path;

use anyhow::{Result, ensure};

use crate::command::{command, run as run_command, succeeds};

/// Runs cargo-deny.
pub(crate) fn run(root: &Path) -> Result<()> {
    ensure!(
        succeeds("cargo deny --version"),
        "cargo-deny is not installed; install it with `cargo install cargo-deny --locked`"
    );
    run_command(command(root, "cargo deny check licenses bans sources"))
}
