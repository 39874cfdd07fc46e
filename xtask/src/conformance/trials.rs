//! Each scenario alone: once as the suite chooses, telling the client nothing,
//! and at the revisions that nothing is required for. Left out is what only
//! extensions of the protocol have.

use std::sync::Mutex;

use anyhow::{Context as _, Result, bail, ensure};

use super::REQUIRED;
use super::suite::Suite;

/// What must be among the suite's scenarios. All that it has are run; a newer
/// suite that has lost one of these must not pass unnoticed.
const KNOWN: [&str; 12] = [
    "initialize",
    "auth/2025-03-26-oauth-endpoint-fallback",
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

/// Runs all of them.
pub(super) fn run(suite: &Suite) -> Result<()> {
    let list = suite.command(&["list", "--client"]).output().context("starting the suite")?;
    let trials = trials(&String::from_utf8_lossy(&list.stdout))?;
    let count = trials.len();
    let waiting = Mutex::new(trials.into_iter());
    let failed = Mutex::new(Vec::new());
    let next = || waiting.lock().expect("no worker panics").next();
    let work = || {
        while let Some(trial) = next() {
            match judge(suite, &trial) {
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
    Ok(())
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
        if revisions == "extension" {
            continue;
        }
        let trial = |revision| Trial { scenario: scenario.to_owned(), revision };
        trials.push(trial(None));
        let others = revisions.split(',').filter(|revision| !REQUIRED.contains(revision));
        trials.extend(others.map(|revision| trial(Some(revision.to_owned()))));
    }
    let missing = KNOWN.iter().filter(|known| trials.iter().all(|it| it.scenario != **known));
    let missing: Vec<_> = missing.copied().collect();
    ensure!(missing.is_empty(), "the suite does not have {}; it has:\n{list}", missing.join(", "));
    Ok(trials)
}

/// Says how many checks passed. If one did not, or none was made, the error is
/// what the suite printed.
fn judge(suite: &Suite, trial: &Trial) -> Result<String> {
    let mut command = suite.on_client(&["--scenario", &trial.scenario]);
    if let Some(revision) = &trial.revision {
        command.args(["--spec-version", revision]);
    }
    let (content, said) = Suite::said(command)?;
    // A scenario that is skipped is a success for the suite.
    match said.lines().find(|line| line.starts_with("Passed: ")) {
        Some(score) if content => Ok(score.to_owned()),
        _ => bail!("{said}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{KNOWN, Trial, trials};

    #[test]
    fn runs_a_scenario_without_a_revision_and_at_those_that_are_left() {
        let mut list = "Client scenarios (test against a client):\n".to_owned();
        list += &KNOWN.map(|known| format!("  - {known} [2025-06-18,2026-07-28]\n")).concat();
        list += "  - tasks [extension]\n";
        let found = trials(&list).unwrap();
        assert_eq!(found.len(), 2 * KNOWN.len());
        let trial = |revision: Option<&str>| Trial {
            scenario: "initialize".to_owned(),
            revision: revision.map(str::to_owned),
        };
        assert_eq!(found[..2], [trial(None), trial(Some("2025-06-18"))]);
    }

    #[test]
    fn refuses_a_suite_that_has_lost_a_scenario() {
        let list = KNOWN[1..].iter().map(|known| format!("  - {known} [2025-11-25]\n"));
        let error = trials(&list.collect::<String>()).unwrap_err().to_string();
        assert!(error.starts_with("the suite does not have initialize; it has:"), "{error}");
    }
}
