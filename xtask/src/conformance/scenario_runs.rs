//! Runs each client scenario alone: once without a revision, so that the suite
//! chooses, and once at each revision without requirements. Scenarios of extensions
//! are left out.

use std::sync::Mutex;

use anyhow::{Context as _, Result, bail, ensure};

use super::REVISIONS;
use super::suite::Suite;

/// Scenarios that the suite must have, so that a lost one is noticed. All scenarios of
/// the suite run.
const KNOWN_SCENARIOS: [&str; 12] = [
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

/// Runs all scenarios.
pub(super) fn run(suite: &Suite) -> Result<()> {
    let list = suite.command(&["list", "--client"]).output().context("starting the suite")?;
    let runs = parse_list(&String::from_utf8_lossy(&list.stdout))?;
    let count = runs.len();
    let pending = Mutex::new(runs.into_iter());
    let failed = Mutex::new(Vec::new());
    let next = || pending.lock().expect("no worker panics").next();
    let work = || {
        while let Some(run) = next() {
            match run_scenario(suite, &run) {
                Ok(score) => eprintln!("{}: {score}", run.name()),
                Err(error) => {
                    eprintln!("{}: FAILED\n{error:#}", run.name());
                    failed.lock().expect("no worker panics").push(run.name());
                }
            }
        }
    };
    // Each run has its own server and port, so they can run in parallel.
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    let failed = failed.into_inner().expect("no worker panics");
    ensure!(
        failed.is_empty(),
        "{} of {count} scenario runs failed: {}",
        failed.len(),
        failed.join(", ")
    );
    eprintln!("all {count} scenario runs passed");
    Ok(())
}

/// A scenario, at a revision or without one.
#[derive(Debug, PartialEq)]
struct ScenarioRun {
    scenario: String,
    revision: Option<String>,
}

impl ScenarioRun {
    fn name(&self) -> String {
        match &self.revision {
            Some(revision) => format!("{} at {revision}", self.scenario),
            None => self.scenario.clone(),
        }
    }
}

/// Parses the list of the suite, which has lines such as `  - tools_call [2025-11-25,2026-07-28]`.
fn parse_list(list: &str) -> Result<Vec<ScenarioRun>> {
    let mut runs = Vec::new();
    for line in list.lines() {
        let Some((scenario, revisions)) =
            line.strip_prefix("  - ").and_then(|rest| rest.strip_suffix(']')?.split_once(" ["))
        else {
            continue;
        };
        if revisions == "extension" {
            continue;
        }
        let run = |revision| ScenarioRun { scenario: scenario.to_owned(), revision };
        runs.push(run(None));
        let others = revisions.split(',').filter(|revision| !REVISIONS.contains(revision));
        runs.extend(others.map(|revision| run(Some(revision.to_owned()))));
    }
    let missing =
        KNOWN_SCENARIOS.iter().filter(|known| runs.iter().all(|it| it.scenario != **known));
    let missing: Vec<_> = missing.copied().collect();
    ensure!(missing.is_empty(), "the suite no longer has {}; it has:\n{list}", missing.join(", "));
    Ok(runs)
}

/// Runs a scenario and returns its score. If a check failed, or the suite made none,
/// the error is the output of the suite.
fn run_scenario(suite: &Suite, run: &ScenarioRun) -> Result<String> {
    let mut command = suite.client_command(&["--scenario", &run.scenario]);
    if let Some(revision) = &run.revision {
        command.args(["--spec-version", revision]);
    }
    let (succeeded, output) = Suite::run(command)?;
    // The suite counts a skipped scenario as a success.
    match output.lines().find(|line| line.starts_with("Passed: ")) {
        Some(score) if succeeded => Ok(score.to_owned()),
        _ => bail!("{output}"),
    }
}

#[cfg(test)]
mod tests {
    use super::{KNOWN_SCENARIOS, ScenarioRun, parse_list};

    #[test]
    fn runs_a_scenario_without_a_revision_and_at_those_without_requirements() {
        let mut list = "Client scenarios (test against a client):\n".to_owned();
        list +=
            &KNOWN_SCENARIOS.map(|known| format!("  - {known} [2025-06-18,2026-07-28]\n")).concat();
        list += "  - tasks [extension]\n";
        let found = parse_list(&list).unwrap();
        assert_eq!(found.len(), 2 * KNOWN_SCENARIOS.len());
        let run = |revision: Option<&str>| ScenarioRun {
            scenario: "initialize".to_owned(),
            revision: revision.map(str::to_owned),
        };
        assert_eq!(found[..2], [run(None), run(Some("2025-06-18"))]);
    }

    #[test]
    fn rejects_a_suite_without_a_known_scenario() {
        let list = KNOWN_SCENARIOS[1..].iter().map(|known| format!("  - {known} [2025-11-25]\n"));
        let error = parse_list(&list.collect::<String>()).unwrap_err().to_string();
        assert!(error.starts_with("the suite no longer has initialize; it has:"), "{error}");
    }
}
