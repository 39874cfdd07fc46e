//! Runs the requirements of each revision, all of which must pass, and collects the
//! outcome of every scenario.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::REVISIONS;

/// The outcome of a scenario at one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) passed: bool,
    /// The reason why the scenario is not required; `None` if it is required.
    pub(super) optional: Option<String>,
}

/// The outcomes of each scenario at each of [`REVISIONS`].
pub(super) type Outcomes = BTreeMap<String, [Option<Outcome>; REVISIONS.len()]>;

impl Outcome {
    /// Returns true if the scenario passed or is not required.
    fn is_acceptable(&self) -> bool {
        self.passed || self.optional.is_some()
    }
}

/// Runs the requirements of each revision. `run_suite` runs the suite, and returns true
/// if it succeeded, and its output.
pub(super) fn run(mut run_suite: impl FnMut(&str) -> Result<(bool, String)>) -> Result<Outcomes> {
    let mut outcomes = Outcomes::new();
    for (index, revision) in REVISIONS.into_iter().enumerate() {
        let (succeeded, output) = run_suite(revision)?;
        let found = parse_summary(&output);
        let passed = succeeded && !found.is_empty() && found.values().all(Outcome::is_acceptable);
        ensure!(passed, "{output}\na required scenario of {revision} fails");
        let required = found.values().filter(|outcome| outcome.optional.is_none());
        eprintln!("{revision}: all {} required scenarios pass", required.count());
        for (scenario, outcome) in found {
            outcomes.entry(scenario).or_default()[index] = Some(outcome);
        }
    }
    Ok(outcomes)
}

/// Parses the summary of the suite: lines such as `✓ tools_call: 2 passed, 0 failed`,
/// followed by the scenarios that are not required: `  ✗ auth/dpop (extension)`.
fn parse_summary(output: &str) -> BTreeMap<String, Outcome> {
    let mut found: BTreeMap<String, Outcome> = BTreeMap::new();
    let summary = output.split_once("SUMMARY ===").map_or("", |(_, summary)| summary);
    for line in summary.lines() {
        let (passed, rest) = match line.trim_start().split_once(' ') {
            Some(("✓", rest)) => (true, rest),
            Some(("✗", rest)) => (false, rest),
            _ => continue,
        };
        if let Some((scenario, why)) = rest.split_once(" (").filter(|_| line.starts_with(' ')) {
            if let Some(outcome) = found.get_mut(scenario) {
                outcome.optional = Some(why.trim_end_matches(')').replace('-', " "));
            }
        } else if let Some((scenario, _)) = rest.split_once(':') {
            found.insert(scenario.to_owned(), Outcome { passed, optional: None });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_passed_and_optional_scenarios() {
        let output = "✗ noise: 1\n=== SUITE SUMMARY ===\n\n✓ tools_call: 2 passed, 0 failed\n\
                    ✗ auth/dpop: 9 passed, 3 failed\n\nTotal: 11 passed, 3 failed, 0 warnings\n\n\
                    Not scored for 2025-11-25: 1 scenario(s) run, 1 failing.\n  ✗ auth/dpop (extension)\n";
        let outcome = |passed, optional: Option<&str>| Outcome {
            passed,
            optional: optional.map(str::to_owned),
        };
        let expected = [
            ("auth/dpop".to_owned(), outcome(false, Some("extension"))),
            ("tools_call".to_owned(), outcome(true, None)),
        ];
        assert_eq!(parse_summary(output), BTreeMap::from(expected));
    }
}
