//! `cargo xtask peers`: only the tests that talk to another implementation, in
//! both roles.
//!
//! Those in Rust, `rmcp` and `rust-mcp-sdk`, are dependencies of the tests. The
//! others are programs: they are installed below `target/peers`, in the versions
//! that the files in `xtask/peers` pin. Those that need Node 22 have a folder of
//! their own with that Node, so that the others are met on the machine's.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::command::{command, has_nextest, run as run_command};

mod install;
mod node;
mod python;
mod schemas;

/// The variable that tells the tests where the peers are.
pub(crate) const FOLDER: &str = "SPAR_PEERS_DIR";

/// What cannot run without the peers that need Node 22.
const ON_NODE22: &str =
    "the official conformance suite, the tests with the Inspector and with an OpenID provider";

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
    let packages = "-p sparring-peer -p sparring-transport -p sparring-report -p sparring-script \
                    -p sparring-host --all-features";
    run_command(command(root, &format!("cargo build {packages} --examples")))?;
    let line = if has_nextest() {
        format!(
            "cargo nextest run {packages} --test it -E test(/^(rmcp|peers)::|^manager::peers::|::their_clients::/)"
        )
    } else {
        format!("cargo test {packages} --test it -- rmcp:: peers:: their_clients::")
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
    let peers = Peers::new(root);
    let pins = root.join("xtask/peers");
    let python = peers.folder.join("python");
    let outcomes = [
        (
            "the tests with peers from npm",
            node::install(&pins.join("package.json"), &peers.folder.join("node")),
        ),
        (ON_NODE22, install_node22(root, &peers)),
        (
            "the tests with peers from Python",
            python::install(&pins.join("requirements.txt"), &python),
        ),
        (
            "the tests of JUnit XML against its schemas and of JSON Schemas by their official suite",
            schemas::install(
                &pins.join("schemas.txt"),
                &python.join("bin/python"),
                &peers.folder.join("schemas"),
            ),
        ),
    ];
    peers.after(outcomes, ci)
}

/// Installs only what the official suite needs, in the same way.
pub(crate) fn install_judge(root: &Path, ci: bool) -> Result<Peers> {
    let peers = Peers::new(root);
    let outcome = install_node22(root, &peers);
    peers.after([(ON_NODE22, outcome)], ci)
}

fn install_node22(root: &Path, peers: &Peers) -> Result<()> {
    node::install(&root.join("xtask/peers/node22/package.json"), &peers.node22())
}

impl Peers {
    fn new(root: &Path) -> Self {
        Self { folder: root.join("target/peers"), skipped: Vec::new() }
    }

    /// Where those are that need Node 22, if they are installed.
    pub(crate) fn node22(&self) -> PathBuf {
        self.folder.join("node22")
    }

    fn after(
        mut self,
        outcomes: impl IntoIterator<Item = (&'static str, Result<()>)>,
        ci: bool,
    ) -> Result<Self> {
        self.skipped.extend(outcomes.into_iter().filter_map(|(what, outcome)| {
            let error = outcome.err()?;
            Some(format!("SKIPPED: {what}, because {error:#}"))
        }));
        self.tell_skipped();
        ensure!(!ci || self.skipped.is_empty(), "with CI set no test may be skipped");
        Ok(self)
    }

    /// Says what is missing: a runner hides what a passing test prints.
    pub(crate) fn tell_skipped(&self) {
        for line in &self.skipped {
            eprintln!("{line}");
        }
    }
}
