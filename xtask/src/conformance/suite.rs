//! The official suite as a program.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::CLIENT;
use crate::command::example;

/// The suite, and the client that it judges.
pub(super) struct Suite {
    node: PathBuf,
    script: PathBuf,
    client: PathBuf,
}

impl Suite {
    /// Nothing if it is not installed.
    pub(super) fn find(folder: &Path) -> Result<Option<Self>> {
        let script = folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
        // Where npm has no Node 22 for this machine, its own may do.
        let node = folder.join("node_modules/.bin/node");
        let node = if node.exists() { node } else { "node".into() };
        let client = example(CLIENT)?;
        Ok(script.exists().then_some(Self { node, script, client }))
    }

    pub(super) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args(args);
        command
    }

    /// Has it judge our client.
    pub(super) fn on_client(&self, args: &[&str]) -> Command {
        let mut command = self.command(&["client"]);
        command.arg("--command").arg(&self.client).args(args);
        command
    }

    /// Runs it to its end; says whether it was content, and all that it said.
    pub(super) fn said(mut command: Command) -> Result<(bool, String)> {
        let output = command.output().context("starting the suite")?;
        let said = [output.stdout, output.stderr].concat();
        Ok((output.status.success(), String::from_utf8_lossy(&said).into_owned()))
    }
}
