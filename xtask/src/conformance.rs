//! `cargo xtask conformance`: the official suite judges our client, which is the
//! example `conformance_client`, and our server, which is in `server`.
//!
//! Each scenario runs at every revision that the suite has it for, and once as
//! the suite chooses, telling the client nothing. Left out is authorization, and
//! what only extensions of the protocol have.

mod server;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use anyhow::{Context as _, Result, bail, ensure};

use crate::command::{command, run as run_command};
use crate::peers::{self, Peers};

/// The example that the suite drives.
pub(crate) const CLIENT: &str = "conformance_client";

/// What must be among the suite's scenarios. All that it has are run; a newer
/// suite that has lost one of these must not pass unnoticed.
const KNOWN: [&str; 11] = [
    "initialize",
    "tools_call",
    "sse-retry",
    "elicitation-sep1034-client-defaults",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
];

/// Installs the suite, builds client and server, and judges them.
pub(crate) fn run(root: &Path, ci: bool) -> Result<()> {
    let peers = peers::install_judge(root, ci)?;
    run_command(command(root, &format!("cargo build -p sparring --example {CLIENT}")))?;
    run_command(command(root, "cargo build -p sparring-cli"))?;
    judge(&peers)
}

/// Judges client and server, which are built, if the suite is installed.
pub(crate) fn judge(peers: &Peers) -> Result<()> {
    let Some(suite) = Suite::find(&peers.node22())? else {
        peers.tell_skipped();
        return Ok(());
    };
    let list = suite.command(&["list", "--client"]).output().context("starting the suite")?;
    let trials = trials(&String::from_utf8_lossy(&list.stdout))?;
    let count = trials.len();
    let waiting = Mutex::new(trials.into_iter());
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().expect("no worker panics").next();
    let work = || {
        while let Some(trial) = next() {
            match suite.run(&trial) {
                Ok(score) => eprintln!("{}: {score}", trial.name()),
                Err(error) => {
                    eprintln!("{}: FAILED\n{error:#}", trial.name());
                    failed.lock().expect("no worker panics").push(trial.name());
                }
            }
        }
    };
    // A trial has a server on a port of its own, so they do not meet.
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().expect("no worker panics");
    ensure!(failed.is_empty(), "{} of {count} failed: {}", failed.len(), failed.join(", "));
    eprintln!("all {count} passed");
    server::judge(&suite)
}

/// A scenario, at a revision or as the suite chooses.
#[derive(Debug, PartialEq)]
struct Trial {
    scenario: String,
    revision: Option<String>,
}

impl Trial {
    fn name(&self) -> String {
        match &self.revision {
            Some(revision) => format!("{} at {revision}", self.scenario),
            None => self.scenario.clone(),
        }
    }
}

/// Reads the suite's list, which has lines like `  - tools_call [2025-11-25,2026-07-28]`.
fn trials(list: &str) -> Result<Vec<Trial>> {
    let mut trials = Vec::new();
    for line in list.lines() {
        let Some((scenario, revisions)) =
            line.strip_prefix("  - ").and_then(|rest| rest.strip_suffix(']')?.split_once(" ["))
        else {
            continue;
        };
        if scenario.starts_with("auth/") || revisions == "extension" {
            continue;
        }
        let trial = |revision| Trial { scenario: scenario.to_owned(), revision };
        trials.push(trial(None));
        trials.extend(revisions.split(',').map(|revision| trial(Some(revision.to_owned()))));
    }
    let missing = KNOWN.iter().filter(|known| trials.iter().all(|it| it.scenario != **known));
    let missing: Vec<_> = missing.copied().collect();
    ensure!(missing.is_empty(), "the suite does not have {}; it has:\n{list}", missing.join(", "));
    Ok(trials)
}

/// The suite, and the client that it judges.
struct Suite {
    node: PathBuf,
    script: PathBuf,
    client: PathBuf,
}

impl Suite {
    /// Nothing if it is not installed.
    fn find(folder: &Path) -> Result<Option<Self>> {
        let script = folder.join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
        // Where npm has no Node 22 for this machine, its own may do.
        let node = folder.join("node_modules/.bin/node");
        let node = if node.exists() { node } else { "node".into() };
        let own = std::env::current_exe().context("looking for our own program")?;
        let client = own.with_file_name("examples").join(CLIENT);
        Ok(script.exists().then_some(Self { node, script, client }))
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.script).args(args);
        command
    }

    /// Says how many checks passed. If one did not, or none was made, the error
    /// is what the suite printed.
    fn run(&self, trial: &Trial) -> Result<String> {
        let mut command = self.command(&["client", "--scenario", &trial.scenario]);
        command.arg("--command").arg(&self.client);
        if let Some(revision) = &trial.revision {
            command.args(["--spec-version", revision]);
        }
        let output = command.output().context("starting the suite")?;
        let said = [output.stdout, output.stderr].concat();
        let said = String::from_utf8_lossy(&said);
        // A scenario that is skipped is a success for the suite.
        match said.lines().find(|line| line.starts_with("Passed: ")) {
            Some(score) if output.status.success() => Ok(score.to_owned()),
            _ => bail!("{said}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, Trial, trials};

    #[test]
    fn runs_a_scenario_at_each_revision_and_once_without() {
        let mut list = "Client scenarios (test against a client):\n".to_owned();
        list += "  - auth/metadata-default [2025-11-25,2026-07-28]\n  - tasks [extension]\n";
        list += &KNOWN.map(|known| format!("  - {known} [2025-11-25,2026-07-28]\n")).concat();
        let found = trials(&list).unwrap();
        assert_eq!(found.len(), 33);
        let trial = |revision: Option<&str>| Trial {
            scenario: "initialize".to_owned(),
            revision: revision.map(str::to_owned),
        };
        let expected = [trial(None), trial(Some("2025-11-25")), trial(Some("2026-07-28"))];
        assert_eq!(found[..3], expected);
    }

    #[test]
    fn refuses_a_suite_that_has_lost_a_scenario() {
        let list = KNOWN[1..].iter().map(|known| format!("  - {known} [2025-11-25]\n"));
        let error = trials(&list.collect::<String>()).unwrap_err().to_string();
        assert!(error.starts_with("the suite does not have initialize; it has:"), "{error}");
    }
}
