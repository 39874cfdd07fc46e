//! `cargo xtask peers`: only the tests that talk to another implementation, in
//! both roles.
//!
//! The official Rust SDK, `rmcp`, is a dependency of the tests. The others are
//! programs: they are installed below `target/peers`, in the versions that the
//! files in `xtask/peers` pin.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::command::{command, has_nextest, run as run_command};

mod install;
mod node;
mod python;

/// The variable that tells the tests where the peers are.
pub(crate) const FOLDER: &str = "SPAR_PEERS_DIR";

/// The peers that are there to be tested against.
pub(crate) struct Peers {
    /// Where they are installed.
    pub(crate) folder: PathBuf,
    /// What is missing, a line for each.
    pub(crate) skipped: Vec<String>,
}

/// Installs the peers and runs the tests.
pub(crate) fn run(root: &Path, ci: bool) -> Result<()> {
    let peers = install(root, ci)?;
    let packages = "-p sparring-peer -p sparring-transport --all-features";
    run_command(command(root, &format!("cargo build {packages} --examples")))?;
    let line = if has_nextest() {
        format!("cargo nextest run {packages} --test it -E test(/^(rmcp|peers)::/)")
    } else {
        format!("cargo test {packages} --test it -- rmcp:: peers::")
    };
    let mut tests = command(root, &line);
    tests.env(FOLDER, &peers.folder);
    run_command(tests)?;
    peers.tell_skipped();
    Ok(())
}

/// Installs what is not there yet, or not in the pinned version. What cannot
/// be installed is told, and with CI set an error.
pub(crate) fn install(root: &Path, ci: bool) -> Result<Peers> {
    let folder = root.join("target/peers");
    let pins = root.join("xtask/peers");
    let outcomes = [
        ("npm", node::install(&pins.join("package.json"), &folder.join("node"))),
        ("Python", python::install(&pins.join("requirements.txt"), &folder.join("python"))),
    ];
    let skipped = outcomes.into_iter().filter_map(|(name, outcome)| {
        let error = outcome.err()?;
        Some(format!("SKIPPED: the tests with peers from {name}, because {error:#}"))
    });
    let peers = Peers { folder, skipped: skipped.collect() };
    peers.tell_skipped();
    ensure!(!ci || peers.skipped.is_empty(), "with CI set no test may be skipped");
    Ok(peers)
}

impl Peers {
    /// Says what is missing: a runner hides what a passing test prints.
    pub(crate) fn tell_skipped(&self) {
        for line in &self.skipped {
            eprintln!("{line}");
        }
    }
}
