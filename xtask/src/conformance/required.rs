//! What a revision requires, all of which must pass, and what else the suite runs
//! with it.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};

use super::REQUIRED;

/// What came of a scenario at one revision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) passed: bool,
    /// Why it is not required, if it is not.
    pub(super) optional: Option<String>,
}

/// By the scenario, what came of it at each of [`REQUIRED`].
pub(super) type Outcomes = BTreeMap<String, [Option<Outcome>; REQUIRED.len()]>;

impl Outcome {
    /// Whether it is as it must be.
    fn is_good(&self) -> bool {
        self.passed || self.optional.is_some()
    }
}

/// Runs what each revision requires; `judge` has the suite do so, and gives
/// whether it was content and what it said.
pub(super) fn run(mut judge: impl FnMut(&str) -> Result<(bool, String)>) -> Result<Outcomes> {
    let mut outcomes = Outcomes::new();
    for (index, revision) in REQUIRED.into_iter().enumerate() {
        let (content, said) = judge(revision)?;
        let found = read(&said);
        let good = content && !found.is_empty() && found.values().all(Outcome::is_good);
        ensure!(good, "{said}\nnot all that {revision} requires passes");
        let required = found.values().filter(|outcome| outcome.optional.is_none());
        eprintln!("{revision}: all {} required scenarios pass", required.count());
        for (scenario, outcome) in found {
            outcomes.entry(scenario).or_default()[index] = Some(outcome);
        }
    }
    Ok(outcomes)
}

/// Reads the suite's summary: lines like `✓ tools_call: 2 passed, 0 failed`, and
/// after them, of what is not required, `  ✗ auth/dpop (extension)`.
fn read(said: &str) -> BTreeMap<String, Outcome> {
    let mut found: BTreeMap<String, Outcome> = BTreeMap::new();
    let summary = said.split_once("SUMMARY ===").map_or("", |(_, summary)| summary);
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
    fn reads_what_passed_and_what_is_not_required() {
        let said = "✗ noise: 1\n=== SUITE SUMMARY ===\n\n✓ tools_call: 2 passed, 0 failed\n\
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
        assert_eq!(read(said), BTreeMap::from(expected));
    }
}
