//! `cargo xtask containers`: only the tests in real containers, by podman.
//!
//! Two images are made of programs that are here already, with the libraries
//! they need and nothing else; one has no shell. A container of each runs for
//! all tests. Everything is kept below `target/containers`, apart from what else
//! podman has, and removed in the end.

use std::path::Path;

use anyhow::{Result, bail};

use crate::command::{command, has_nextest, run as run_command};

mod image;
mod podman;

use podman::Podman;

/// The variable that tells the tests how podman is run.
const ENGINE: &str = "SPAR_CONTAINER_ENGINE";

const WHAT: &str = "the tests in containers";

/// The containers that the tests run in; gone when dropped.
pub(crate) struct Containers {
    podman: Option<Podman>,
    /// Why there are none.
    skipped: Option<String>,
}

/// Starts the containers and runs the tests.
pub(crate) fn run(root: &Path, ci: bool) -> Result<()> {
    let packages =
        "-p sparring-transport -p sparring-cli -p sparring -p instructions --all-features";
    run_command(command(root, &format!("cargo build {packages} --examples --bins")))?;
    let containers = Containers::start(root, ci)?;
    let line = if has_nextest() {
        format!(
            "cargo nextest run {packages} --test it -E test(/^container::/)|package(instructions)"
        )
    } else {
        format!("cargo test {packages} --test it -- container:: usage::")
    };
    let mut tests = command(root, &line);
    containers.tell_tests(&mut tests);
    run_command(tests)?;
    containers.tell_skipped();
    Ok(())
}

impl Containers {
    /// Starts them; the examples have been built. What keeps them from starting
    /// is told, and with CI set an error.
    pub(crate) fn start(root: &Path, ci: bool) -> Result<Self> {
        let containers = match Podman::start(root) {
            Ok(podman) => Self { podman: Some(podman), skipped: None },
            Err(error) => {
                Self { podman: None, skipped: Some(format!("SKIPPED: {WHAT}, because {error:#}")) }
            }
        };
        containers.tell_skipped();
        match ci && containers.skipped.is_some() {
            true => bail!("with CI set no test may be skipped"),
            false => Ok(containers),
        }
    }

    /// Tells the tests where the containers are.
    pub(crate) fn tell_tests(&self, tests: &mut std::process::Command) {
        if let Some(podman) = &self.podman {
            tests.env(ENGINE, podman.line());
        }
    }

    /// Says what is missing: a runner hides what a passing test prints.
    pub(crate) fn tell_skipped(&self) {
        if let Some(line) = &self.skipped {
            eprintln!("{line}");
        }
    }
}
