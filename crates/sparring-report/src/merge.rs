//! Merges the shards of a run, or a run with its reruns.

use std::collections::HashMap;

use crate::{Build, Outcome, Run, Summary, Test};

/// The result of merging runs.
#[derive(Debug, Clone, PartialEq)]
pub struct MergeResult {
    /// The merged run.
    pub run: Run,
    /// The number of results that a later run replaced.
    pub replaced: usize,
    /// The shards that are missing, such as `2/5`.
    pub missing: Vec<String>,
}

/// The error of shards that belong to different runs.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("shards {one} and {other} belong to different runs")]
pub struct MergeError {
    one: String,
    other: String,
}

/// The identity of a test: suite, name, revision, transport, and a number that
/// distinguishes tests of the same name in one run.
type TestKey = (String, String, Option<String>, Option<String>, usize);

/// Merges runs and keeps the order of their tests. If several runs have the same test, the
/// last run in which it ran provides the result.
///
/// # Errors
/// Returns an error if they are shards of different runs.
pub fn merge(runs: Vec<Run>) -> Result<MergeResult, MergeError> {
    let missing = missing_shards(&runs)?;
    let mut head = MergedHead::default();
    let mut tests: Vec<Test> = Vec::new();
    let mut indices: HashMap<TestKey, usize> = HashMap::new();
    let mut replaced = 0;
    for run in runs {
        head.add(&run);
        let mut seen: HashMap<TestKey, usize> = HashMap::new();
        for test in run.tests {
            let nth = seen.entry(test_key(&test, 0)).or_default();
            let key = test_key(&test, *nth);
            *nth += 1;
            match indices.get(&key) {
                None => {
                    indices.insert(key, tests.len());
                    tests.push(test);
                }
                Some(index) => {
                    let known = &mut tests[*index];
                    if outcome_rank(test.outcome) >= outcome_rank(known.outcome) {
                        replaced += usize::from(outcome_rank(known.outcome) == RANK_RAN);
                        *known = test;
                    }
                }
            }
        }
    }
    Ok(MergeResult { run: head.into_run(tests), replaced, missing })
}

/// The merged fields of the runs, except their tests.
#[derive(Default)]
struct MergedHead {
    spar: String,
    began: String,
    took_ms: f64,
    build: Option<Build>,
    stopped: bool,
}

impl MergedHead {
    fn add(&mut self, run: &Run) {
        // UTC times of one format are ordered like strings.
        if self.began.is_empty() || run.began < self.began {
            self.began.clone_from(&run.began);
        }
        self.spar.clone_from(&run.spar);
        self.took_ms = self.took_ms.max(run.took_ms);
        // Shards have different pages in the CI system; the last one is as good as another.
        self.build = run.build.clone().or(self.build.take());
        self.stopped |= run.stopped;
    }

    fn into_run(self, tests: Vec<Test>) -> Run {
        let summary = Summary::from_tests(&tests);
        Run {
            version: crate::VERSION,
            spar: self.spar,
            began: self.began,
            took_ms: self.took_ms,
            shard: None,
            build: self.build,
            // Another run may have run the tests that this one did not.
            stopped: self.stopped && summary.not_run > 0,
            summary,
            tests,
        }
    }
}

const RANK_RAN: u8 = 2;

/// Returns the rank of an outcome: a result of a higher rank replaces a lower one.
fn outcome_rank(outcome: Outcome) -> u8 {
    match outcome {
        Outcome::Passed | Outcome::Failed => RANK_RAN,
        Outcome::Skipped => 1,
        Outcome::NotRun => 0,
    }
}

fn test_key(test: &Test, nth: usize) -> TestKey {
    let Test { suite, name, protocol, transport, .. } = test;
    (suite.clone(), name.clone(), protocol.clone(), transport.clone(), nth)
}

/// Returns the shards that are missing, if some runs are shards.
fn missing_shards(runs: &[Run]) -> Result<Vec<String>, MergeError> {
    let shards: Vec<&String> = runs.iter().filter_map(|run| run.shard.as_ref()).collect();
    let Some(first) = shards.first() else { return Ok(Vec::new()) };
    let total = |shard: &str| shard.split_once('/').map(|(_, total)| total.to_owned());
    let expected = total(first);
    if let Some(other) = shards.iter().find(|shard| total(shard) != expected) {
        return Err(MergeError { one: (*first).clone(), other: (*other).clone() });
    }
    let count: usize = expected.and_then(|count| count.parse().ok()).unwrap_or_default();
    let all = (1..=count).map(|number| format!("{number}/{count}"));
    Ok(all.filter(|shard| !shards.contains(&shard)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_run;

    /// Returns a run of tests with these names and outcomes.
    fn run(shard: Option<&str>, began: &str, tests: &[(&str, Outcome)]) -> Run {
        let test = |(name, outcome): &(&str, Outcome)| sample_run::test(name, *outcome);
        let tests: Vec<Test> = tests.iter().map(test).collect();
        let (shard, began, stopped) = (shard.map(str::to_owned), began.to_owned(), true);
        Run {
            shard,
            began,
            stopped,
            summary: Summary::from_tests(&tests),
            tests,
            ..sample_run::run()
        }
    }

    fn names(run: &Run) -> Vec<(&str, Outcome)> {
        run.tests.iter().map(|test| (&*test.name, test.outcome)).collect()
    }

    use Outcome::{Failed, NotRun, Passed, Skipped};

    #[test]
    fn shards_are_merged_in_order() {
        let one = run(Some("1/2"), "2026-01-02T00:00:00Z", &[("a", Passed), ("b", Failed)]);
        let two = run(Some("2/2"), "2026-01-01T00:00:00Z", &[("c", Skipped)]);
        let MergeResult { run, replaced, missing } = merge(vec![one, two]).unwrap();
        assert_eq!(names(&run), [("a", Passed), ("b", Failed), ("c", Skipped)]);
        assert_eq!(run.summary.to_string(), "1 passed, 1 failed, 1 skipped");
        assert_eq!((&*run.began, run.shard, run.stopped), ("2026-01-01T00:00:00Z", None, false));
        assert_eq!((replaced, missing), (0, Vec::new()));
        let project = run.build.and_then(|build| build.project);
        assert_eq!(project.as_deref(), Some("team/weather"));
    }

    #[test]
    fn the_last_run_in_which_a_test_ran_provides_its_result() {
        let first = run(None, "", &[("a", Failed), ("b", Passed), ("c", NotRun), ("d", Passed)]);
        let again = run(None, "", &[("a", Passed), ("b", NotRun), ("c", Skipped), ("e", NotRun)]);
        let MergeResult { run, replaced, .. } = merge(vec![first, again]).unwrap();
        let expected = [("a", Passed), ("b", Passed), ("c", Skipped), ("d", Passed), ("e", NotRun)];
        assert_eq!((names(&run), replaced), (expected.to_vec(), 1));
        assert!(run.stopped);
    }

    #[test]
    fn two_tests_of_the_same_name_stay_separate() {
        let twice = run(None, "", &[("a", Failed), ("a", Passed)]);
        let MergeResult { run, replaced, .. } = merge(vec![twice.clone(), twice]).unwrap();
        assert_eq!((names(&run), replaced), (vec![("a", Failed), ("a", Passed)], 2));
    }

    #[test]
    fn reports_missing_shards_and_shards_of_another_run() {
        let shard = |shard| run(Some(shard), "", &[]);
        let merged = merge(vec![shard("3/4"), shard("1/4"), run(None, "", &[])]).unwrap();
        assert_eq!(merged.missing, ["2/4", "4/4"]);
        let error = merge(vec![shard("1/4"), shard("2/3")]).unwrap_err().to_string();
        assert_eq!(error, "shards 1/4 and 2/3 belong to different runs");
    }
}
