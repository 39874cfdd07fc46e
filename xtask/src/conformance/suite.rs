//! The program of the official suite.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::CLIENT;
use crate::command::example_path;

/// The paths of the suite and of our client.
pub(super) struct Suite {
    node: PathBuf,
    script: PathBuf,
    client: PathBuf,
}

impl Suite {
    /// Finds the suite; `None` if it is not installed.
    pub(super) fn find(folder: &Path) -> Result<Option<Self>> {
        let script = folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
        // If npm has no Node 22 for this machine, tries the machine's Node.
        let node = folder.join("node_modules/.bin/node");
        let node = if node.exists() { node } else { "node".into() };
        let client = example_path(CLIENT)?;
        Ok(script.exists().then_some(Self { node, script, client }))
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args(args);
        command
    }

    /// Returns the command that runs the suite on our client.
    pub(super) fn client_command(&self, args: &[&str]) -> Command {
        let mut command = self.command(&["client"]);
        command.arg("--command").arg(&self.client).args(args);
        command
    }

    /// Runs the suite; returns true if it succeeded, and its output.
    pub(super) fn run(mut command: Command) -> Result<(bool, String)> {
        let output = command.output().context("starting the suite")?;
        let text = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&text).into_owned()))
    }
}
