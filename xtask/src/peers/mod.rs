//! `cargo xtask peers`: runs the tests against other implementations, in both roles.
//!
//! The Rust implementations, `rmcp` and `rust-mcp-sdk`, are dependencies of the tests.
//! The others are programs, installed below `target/peers` in the versions that the
//! files in `xtask/peers` pin. Those that need Node 22 have a separate folder with it,
//! so that the others run on the machine's Node.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use crate::agents;
use crate::command::{command, has_nextest, run as run_command};

mod install;
pub(crate) mod packages;

/// The variable with the folder of the peers, for the tests.
pub(crate) const FOLDER_VARIABLE: &str = "SPAR_PEERS_DIR";

/// The tests that need the peers on Node 22.
const NODE22_TESTS: &str =
    "the official conformance suite, the tests with the Inspector and with an OpenID provider";

/// The installed peers.
pub(crate) struct Peers {
    /// The folder of the installation.
    pub(crate) folder: PathBuf,
    /// A line for each kind of tests that cannot run.
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
    tests.env(FOLDER_VARIABLE, &peers.folder);
    run_command(tests)?;
    peers.print_skipped();
    Ok(())
}

/// Installs missing and outdated peers. A failed installation is reported, and an error
/// if CI is set.
pub(crate) fn install(root: &Path, ci: bool) -> Result<Peers> {
    let peers = Peers::new(root);
    let pins = root.join("xtask/peers");
    let python = peers.folder.join("python");
    let outcomes = [
        (
            "the tests with peers from npm",
            packages::install_npm(&pins.join("package.json"), &peers.folder.join("node")),
        ),
        (NODE22_TESTS, install_node22(root, &peers)),
        (
            "the tests with peers from Python",
            packages::install_python(&pins.join("requirements.txt"), &python),
        ),
        (
            "the tests of JUnit XML and SARIF against their schemas and of JSON Schemas by their official suite",
            packages::install_schemas(
                &pins.join("schemas.txt"),
                &python.join("bin/python"),
                &peers.folder.join("schemas"),
            ),
        ),
        ("the tests with agents", agents::install_light(root)),
    ];
    peers.with_outcomes(outcomes, ci)
}

/// Installs only the peers of the official conformance suite.
pub(crate) fn install_conformance_suite(root: &Path, ci: bool) -> Result<Peers> {
    let peers = Peers::new(root);
    let outcome = install_node22(root, &peers);
    peers.with_outcomes([(NODE22_TESTS, outcome)], ci)
}

fn install_node22(root: &Path, peers: &Peers) -> Result<()> {
    packages::install_npm(&root.join("xtask/peers/node22/package.json"), &peers.node22())
}

impl Peers {
    fn new(root: &Path) -> Self {
        Self { folder: root.join("target/peers"), skipped: Vec::new() }
    }

    /// Returns the folder of the peers that need Node 22.
    pub(crate) fn node22(&self) -> PathBuf {
        self.folder.join("node22")
    }

    fn with_outcomes(
        mut self,
        outcomes: impl IntoIterator<Item = (&'static str, Result<()>)>,
        ci: bool,
    ) -> Result<Self> {
        self.skipped.extend(outcomes.into_iter().filter_map(|(tests, outcome)| {
            let error = outcome.err()?;
            Some(format!("SKIPPED: {tests}, because {error:#}"))
        }));
        self.print_skipped();
        ensure!(!ci || self.skipped.is_empty(), "tests must not be skipped when CI is set");
        Ok(self)
    }

    /// Prints the skipped tests, because a runner hides the output of passing tests.
    pub(crate) fn print_skipped(&self) {
        for line in &self.skipped {
            eprintln!("{line}");
        }
    }
}
