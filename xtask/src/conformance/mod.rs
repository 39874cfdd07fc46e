//! `cargo xtask conformance`: the official suite judges our client, which is the
//! example `conformance_client`, our server, which is the mock, and our
//! authorization server, which is the issuer beside a mock.
//!
//! What a revision requires is run as the suite has it for that revision, and
//! what came of each scenario must be what `docs/conformance.md` says. Besides,
//! each of the client's runs alone, at the revisions that nothing is required for
//! and without being told any.

mod client;
mod issuer;
mod mock;
mod required;
mod server;
mod suite;
mod table;
mod trials;

use std::path::Path;

use anyhow::Result;

use crate::command::{command, run as run_command};
use crate::peers::{self, Peers};
use suite::Suite;

/// The example that the suite drives.
pub(crate) const CLIENT: &str = "conformance_client";

/// The revisions that the suite has requirements for.
const REQUIRED: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Installs the suite, builds client and server, and judges them.
pub(crate) fn run(root: &Path, ci: bool) -> Result<()> {
    let peers = peers::install_judge(root, ci)?;
    let line = format!("cargo build --workspace --all-features --example {CLIENT}");
    run_command(command(root, &line))?;
    run_command(command(root, "cargo build --workspace --all-features --bin spar"))?;
    judge(root, &peers)
}

/// Judges client, server and issuer, which are built, if the suite is installed.
pub(crate) fn judge(root: &Path, peers: &Peers) -> Result<()> {
    let Some(suite) = Suite::find(&peers.node22())? else {
        peers.tell_skipped();
        return Ok(());
    };
    table::check(root, "Client", &client::run(&suite)?)?;
    table::check(root, "Server", &server::run(&suite)?)?;
    table::check(root, "Authorization server", &issuer::run(&suite)?)?;
    trials::run(&suite)
}
