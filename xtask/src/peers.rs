//! `cargo xtask peers`: only the tests that talk to another implementation.
//!
//! Today that is the official Rust SDK, `rmcp`, in both roles; its tests are
//! the module `rmcp` of the integration tests of `sparring-peer`.

use std::path::Path;

use anyhow::Result;

use crate::command::{command, has_nextest, run as run_command};

/// Runs them.
pub(crate) fn run(root: &Path) -> Result<()> {
    let line = if has_nextest() {
        "cargo nextest run -p sparring-peer --all-features --test it -E test(/^rmcp::/)"
    } else {
        "cargo test -p sparring-peer --all-features --test it rmcp::"
    };
    run_command(command(root, line))
}
