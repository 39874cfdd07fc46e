//! `cargo xtask conformance`: runs the official suite on our client (the example
//! `conformance_client`), our server (a mock) and our authorization server (a mock's
//! issuer).
//!
//! The suite runs the requirements of each revision, and the outcome of each scenario
//! must match `docs/conformance.md`. In addition, each client scenario runs alone: at
//! the revisions without requirements, and without a given revision.

mod client;
mod issuer;
mod requirements;
mod scenario_runs;
mod scenario_table;
mod server;
mod suite;

use std::path::Path;

use anyhow::Result;

use crate::command::{command, run as run_command};
use crate::peers::{self, Peers};
use suite::Suite;

/// The example that the suite runs.
pub(crate) const CLIENT: &str = "conformance_client";

/// The revisions with requirements in the suite.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Installs the suite, builds client and server, and runs the suite on them.
pub(crate) fn run(root: &Path, ci: bool) -> Result<()> {
    let peers = peers::install_conformance_suite(root, ci)?;
    let line = format!("cargo build --workspace --all-features --example {CLIENT}");
    run_command(command(root, &line))?;
    run_command(command(root, "cargo build --workspace --all-features --bin spar"))?;
    run_suite(root, &peers)
}

/// Runs the suite, if it is installed, on the built client, server and issuer.
pub(crate) fn run_suite(root: &Path, peers: &Peers) -> Result<()> {
    let Some(suite) = Suite::find(&peers.node22())? else {
        peers.print_skipped();
        return Ok(());
    };
    scenario_table::check(root, "Client", &client::run(&suite)?)?;
    scenario_table::check(root, "Server", &server::run(&suite)?)?;
    scenario_table::check(root, "Authorization server", &issuer::run(&suite)?)?;
    scenario_runs::run(&suite)
}
