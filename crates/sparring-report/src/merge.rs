//! Joins the parts of a run that several machines did, or that were done again.

use std::collections::HashMap;

use crate::{Outcome, Run, Summary, Test};

/// Runs that were joined.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The run.
    pub run: Run,
    /// How many results gave way to those of a later run.
    pub replaced: usize,
    /// The shards that are not among the parts, as `2/5`.
    pub missing: Vec<String>,
}

/// Why runs are not parts of one.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("shard {one} and shard {other} are not parts of one run")]
pub struct NotOne {
    one: String,
    other: String,
}

/// What a test is known by: a second one of the same name in one part is
/// another one.
type Key = (String, String, Option<String>, Option<String>, usize);

/// Joins runs, in the order of their tests. A test that several have is taken
/// from where it ran, and from the last where it ran in several.
///
/// # Errors
/// When they are shards of different runs.
pub fn merge(runs: Vec<Run>) -> Result<Merged, NotOne> {
    let missing = missing(&runs)?;
    let mut head = Head::default();
    let mut tests: Vec<Test> = Vec::new();
    let mut places: HashMap<Key, usize> = HashMap::new();
    let mut replaced = 0;
    for run in runs {
        head.take(&run);
        let mut seen: HashMap<Key, usize> = HashMap::new();
        for test in run.tests {
            let key = key(&test, 0);
            let nth = seen.entry(key).or_default();
            let key = self::key(&test, *nth);
            *nth += 1;
            match places.get(&key) {
                None => {
                    places.insert(key, tests.len());
                    tests.push(test);
                }
                Some(at) => {
                    let known = &mut tests[*at];
                    if weight(test.outcome) >= weight(known.outcome) {
                        replaced += usize::from(weight(known.outcome) == RAN);
                        *known = test;
                    }
                }
            }
        }
    }
    Ok(Merged { run: head.with(tests), replaced, missing })
}

/// What a whole run is called, out of those of its parts.
#[derive(Default)]
struct Head {
    spar: String,
    began: String,
    took_ms: f64,
    stopped: bool,
}

impl Head {
    fn take(&mut self, run: &Run) {
        // Times in UTC of one form are in order as texts.
        if self.began.is_empty() || run.began < self.began {
            self.began.clone_from(&run.began);
        }
        self.spar.clone_from(&run.spar);
        self.took_ms = self.took_ms.max(run.took_ms);
        self.stopped |= run.stopped;
    }

    fn with(self, tests: Vec<Test>) -> Run {
        let summary = Summary::of(&tests);
        Run {
            version: crate::VERSION,
            spar: self.spar,
            began: self.began,
            took_ms: self.took_ms,
            shard: None,
            // What one could not do another may have done.
            stopped: self.stopped && summary.not_run > 0,
            summary,
            tests,
        }
    }
}

const RAN: u8 = 2;

/// What says more goes before.
fn weight(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed | Outcome::Failed => RAN,
        Outcome::Skipped => 1,
        Outcome::NotRun => 0,
    }
}

fn key(test: &Test, nth: usize) -> Key {
    let Test { suite, name, protocol, transport, .. } = test;
    (suite.clone(), name.clone(), protocol.clone(), transport.clone(), nth)
}

/// The shards that are not there, where some are.
fn missing(runs: &[Run]) -> Result<Vec<String>, NotOne> {
    let shards: Vec<&String> = runs.iter().filter_map(|run| run.shard.as_ref()).collect();
    let Some(first) = shards.first() else { return Ok(Vec::new()) };
    let all = |shard: &str| shard.split_once('/').map(|(_, all)| all.to_owned());
    let of = all(first);
    if let Some(other) = shards.iter().find(|shard| all(shard) != of) {
        return Err(NotOne { one: (*first).clone(), other: (*other).clone() });
    }
    let count: usize = of.and_then(|of| of.parse().ok()).unwrap_or_default();
    let known = (1..=count).map(|number| format!("{number}/{count}"));
    Ok(known.filter(|shard| !shards.contains(&shard)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    /// A run of tests, given as `name outcome`.
    fn run(shard: Option<&str>, began: &str, tests: &[(&str, Outcome)]) -> Run {
        let of = |(name, outcome): &(&str, Outcome)| example::test(name, *outcome);
        let tests: Vec<Test> = tests.iter().map(of).collect();
        let (shard, began, stopped) = (shard.map(str::to_owned), began.to_owned(), true);
        Run { shard, began, stopped, summary: Summary::of(&tests), tests, ..example::whole() }
    }

    fn names(run: &Run) -> Vec<(&str, Outcome)> {
        run.tests.iter().map(|test| (&*test.name, test.outcome)).collect()
    }

    use Outcome::{Failed, NotRun, Passed, Skipped};

    #[test]
    fn shards_are_joined_in_their_order() {
        let one = run(Some("1/2"), "2026-01-02T00:00:00Z", &[("a", Passed), ("b", Failed)]);
        let two = run(Some("2/2"), "2026-01-01T00:00:00Z", &[("c", Skipped)]);
        let Merged { run, replaced, missing } = merge(vec![one, two]).unwrap();
        assert_eq!(names(&run), [("a", Passed), ("b", Failed), ("c", Skipped)]);
        assert_eq!(run.summary.to_string(), "1 passed, 1 failed, 1 skipped");
        assert_eq!((&*run.began, run.shard, run.stopped), ("2026-01-01T00:00:00Z", None, false));
        assert_eq!((replaced, missing), (0, Vec::new()));
    }

    #[test]
    fn a_test_is_taken_from_where_it_ran_and_from_the_last() {
        let first = run(None, "", &[("a", Failed), ("b", Passed), ("c", NotRun), ("d", Passed)]);
        let again = run(None, "", &[("a", Passed), ("b", NotRun), ("c", Skipped), ("e", NotRun)]);
        let Merged { run, replaced, .. } = merge(vec![first, again]).unwrap();
        let expected = [("a", Passed), ("b", Passed), ("c", Skipped), ("d", Passed), ("e", NotRun)];
        assert_eq!((names(&run), replaced), (expected.to_vec(), 1));
        assert!(run.stopped);
    }

    #[test]
    fn two_tests_of_one_name_stay_two() {
        let twice = run(None, "", &[("a", Failed), ("a", Passed)]);
        let Merged { run, replaced, .. } = merge(vec![twice.clone(), twice]).unwrap();
        assert_eq!((names(&run), replaced), (vec![("a", Failed), ("a", Passed)], 2));
    }

    #[test]
    fn shards_that_are_missing_or_of_another_run_are_told() {
        let shard = |shard| run(Some(shard), "", &[]);
        let merged = merge(vec![shard("3/4"), shard("1/4"), run(None, "", &[])]).unwrap();
        assert_eq!(merged.missing, ["2/4", "4/4"]);
        let told = merge(vec![shard("1/4"), shard("2/3")]).unwrap_err().to_string();
        assert_eq!(told, "shard 1/4 and shard 2/3 are not parts of one run");
    }
}
