//! `cargo xtask containers`: runs the tests in real containers, with podman.
//!
//! Two images are made from programs of this machine and the libraries they need; one
//! has no shell. One container of each image runs for all tests. Podman's data is below
//! `target/containers`, separate from the user's, and removed at the end.

use std::path::Path;

use anyhow::{Result, bail};

use crate::command::{command, has_nextest, run as run_command};

mod image;
mod podman;

use podman::Podman;

/// The variable with the command of podman, for the tests.
const ENGINE_VARIABLE: &str = "SPAR_CONTAINER_ENGINE";

const TESTS: &str = "the tests in containers";

/// The containers of the tests; dropping it removes them.
pub(crate) struct Containers {
    podman: Option<Podman>,
    /// The reason why they could not be started.
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
    containers.set_engine(&mut tests);
    run_command(tests)?;
    containers.print_skipped();
    Ok(())
}

impl Containers {
    /// Starts the containers; the examples must be built. A failure is reported, and an
    /// error if CI is set.
    pub(crate) fn start(root: &Path, ci: bool) -> Result<Self> {
        let containers = match Podman::start(root) {
            Ok(podman) => Self { podman: Some(podman), skipped: None },
            Err(error) => {
                Self { podman: None, skipped: Some(format!("SKIPPED: {TESTS}, because {error:#}")) }
            }
        };
        containers.print_skipped();
        match ci && containers.skipped.is_some() {
            true => bail!("tests must not be skipped when CI is set"),
            false => Ok(containers),
        }
    }

    /// Passes the command of podman to the tests.
    pub(crate) fn set_engine(&self, tests: &mut std::process::Command) {
        if let Some(podman) = &self.podman {
            tests.env(ENGINE_VARIABLE, podman.command_line());
        }
    }

    /// Prints the skipped tests, because a runner hides the output of passing tests.
    pub(crate) fn print_skipped(&self) {
        if let Some(line) = &self.skipped {
            eprintln!("{line}");
        }
    }
}
