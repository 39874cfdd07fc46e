//! The snapshots of a suite, in a file beside it: checks answers against them, or
//! writes them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sparring_script::{Span, matcher};
use sparring_transport::{FileAccess, read_file, replace_file};

use crate::event::{Event, Failure, SnapshotChanges};
use crate::model::{Suite, Variant};

/// The largest snapshot file.
const MAX_SNAPSHOT_BYTES: u64 = 256 * 1024 * 1024;

/// The snapshots of a suite by test, then by step.
type Answers = BTreeMap<String, BTreeMap<String, Value>>;

/// The snapshots of a suite.
#[derive(Debug)]
pub(super) struct SnapshotStore {
    path: PathBuf,
    known: Result<Answers, String>,
    /// The new snapshots, if they are to be written.
    new: Option<Mutex<Vec<NewSnapshot>>>,
}

/// A snapshot to write.
#[derive(Debug, PartialEq)]
struct NewSnapshot {
    /// The test and the step.
    key: (String, usize),
    variant: Variant,
    answer: Value,
}

/// The snapshots of one test in one variant.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestSnapshots<'a> {
    pub(super) store: &'a SnapshotStore,
    pub(super) test: &'a str,
    pub(super) variant: Variant,
}

impl TestSnapshots<'_> {
    /// Checks the answer of a step, by its number from 1, against its snapshot, or keeps
    /// the answer as the new snapshot.
    pub(super) fn check(&self, step: usize, span: Span, answer: Value) -> Option<Failure> {
        self.store.check(self.test, step, self.variant, span, answer)
    }
}

impl SnapshotStore {
    /// Reads the snapshots of a suite. If `update` is true, new ones are written.
    pub(super) fn load(suite: &Suite, update: bool) -> SnapshotStore {
        let path = snapshot_path(Path::new(suite.name()));
        let new = update.then(Mutex::default);
        let any = snapshots(suite).next().is_some();
        let known = if any || update { read(&path) } else { Ok(Answers::new()) };
        SnapshotStore { path, known, new }
    }

    fn check(
        &self,
        test: &str,
        step: usize,
        variant: Variant,
        span: Span,
        answer: Value,
    ) -> Option<Failure> {
        if let Some(new) = &self.new {
            let key = (test.to_owned(), step);
            let mut new = lock(new);
            // The last try of a test counts.
            new.retain(|it| (&it.key, it.variant) != (&key, variant));
            new.push(NewSnapshot { key, variant, answer });
            return None;
        }
        let known = match &self.known {
            Ok(known) => known,
            Err(error) => return Some(Failure::new(span, error.clone())),
        };
        let snapshot = known.get(test).and_then(|steps| {
            steps.get(&key(step, variant)).or_else(|| steps.get(&key(step, Variant::default())))
        });
        let file = self.path.display();
        match snapshot {
            Some(snapshot) if *snapshot == answer => None,
            Some(snapshot) => {
                let diff = Some(matcher::render_diff(&pretty(snapshot), &pretty(&answer)));
                let message = format!("the answer differs from the snapshot in {file}");
                Some(Failure { diff, ..Failure::new(span, message) })
            }
            None => {
                let message = format!("{file} has no snapshot of this step (`--update` writes it)");
                let diff = Some(matcher::render_diff("", &pretty(&answer)));
                Some(Failure { diff, ..Failure::new(span, message) })
            }
        }
    }

    /// Writes the new snapshots, and removes those that no step has any more.
    pub(super) fn write(self, suite: &Suite) -> Option<Event> {
        let new = self.new?.into_inner().unwrap_or_else(PoisonError::into_inner);
        // The user asked for new snapshots, so an unreadable file is replaced.
        let before = self.known.unwrap_or_default();
        let mut after = merge(before.clone(), new);
        after.retain(|test, steps| {
            steps.retain(|key, _| {
                snapshots(suite).any(|(name, step)| name == test && is_of(key, step))
            });
            !steps.is_empty()
        });
        let changes = count_changes(&before, &after);
        if changes == SnapshotChanges::default() {
            return None;
        }
        let written = match after.is_empty() {
            true => std::fs::remove_file(&self.path),
            false => replace_file(&self.path, text(&after).as_bytes(), FileAccess::Preserve),
        };
        let failed = |error| format!("cannot write {}: {error}", self.path.display());
        let changes = written.map(|()| changes).map_err(failed);
        Some(Event::SnapshotsWritten { file: self.path, changes })
    }
}

/// The snapshot file of a suite: `a.spar.snap.json` beside `a.spar.yaml`.
fn snapshot_path(suite: &Path) -> PathBuf {
    suite.with_extension("snap.json")
}

fn read(path: &Path) -> Result<Answers, String> {
    match read_file(path, MAX_SNAPSHOT_BYTES) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| format!("{} is not a snapshot file: {error}", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Answers::new()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

/// Every step of a suite that has a snapshot.
fn snapshots(suite: &Suite) -> impl Iterator<Item = (&String, usize)> {
    suite.tests.iter().flat_map(|test| {
        let steps = test.steps.iter().zip(1..);
        let with_snapshot = steps.filter(|(step, _)| step.expect.snapshot().is_some());
        with_snapshot.map(|(_, number)| (&test.name, number))
    })
}

/// The key of a snapshot. If the snapshot is equal in every variant, the key names no
/// variant.
fn key(step: usize, variant: Variant) -> String {
    format!("step {step}{variant}")
}

fn is_of(key: &str, step: usize) -> bool {
    let rest = key.strip_prefix("step ").and_then(|key| key.strip_prefix(&step.to_string()));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ["))
}

/// Adds new snapshots: one for all variants if they are equal, else one for each.
fn merge(mut answers: Answers, new: Vec<NewSnapshot>) -> Answers {
    let mut by_step: BTreeMap<(String, usize), Vec<NewSnapshot>> = BTreeMap::new();
    for snapshot in new {
        by_step.entry(snapshot.key.clone()).or_default().push(snapshot);
    }
    for ((test, step), new) in by_step {
        let steps = answers.entry(test).or_default();
        let shared = key(step, Variant::default());
        let differ = steps.keys().any(|key| *key != shared && is_of(key, step));
        let same = new.iter().all(|it| it.answer == new[0].answer);
        for NewSnapshot { variant, answer, .. } in new {
            match same && !differ {
                true => drop(steps.insert(shared.clone(), answer)),
                false => {
                    steps.remove(&shared);
                    steps.insert(key(step, variant), answer);
                }
            }
        }
    }
    answers
}

fn count_changes(before: &Answers, after: &Answers) -> SnapshotChanges {
    let all = |answers: &Answers| -> BTreeMap<(String, String), Value> {
        let of_test = |(test, steps): (&String, &BTreeMap<String, Value>)| {
            let test = test.clone();
            steps
                .iter()
                .map(move |(step, it)| ((test.clone(), step.clone()), it.clone()))
                .collect::<Vec<_>>()
        };
        answers.iter().flat_map(of_test).collect()
    };
    let (before, after) = (all(before), all(after));
    let is_new = |place: &&(String, String)| !before.contains_key(*place);
    let is_changed = |(place, answer): &(&(String, String), &Value)| {
        before.get(*place).is_some_and(|it| it != *answer)
    };
    SnapshotChanges {
        new: after.keys().filter(is_new).count(),
        changed: after.iter().filter(is_changed).count(),
        removed: before.keys().filter(|place| !after.contains_key(*place)).count(),
    }
}

fn pretty(answer: &Value) -> String {
    serde_json::to_string_pretty(answer).unwrap_or_default()
}

fn text(answers: &Answers) -> String {
    serde_json::to_string_pretty(answers).unwrap_or_default() + "\n"
}

fn lock(new: &Mutex<Vec<NewSnapshot>>) -> MutexGuard<'_, Vec<NewSnapshot>> {
    new.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sparring_wire::Revision;

    use super::*;

    fn snapshot(protocol: Option<Revision>, answer: i32) -> NewSnapshot {
        let variant = Variant { protocol, transport: None };
        NewSnapshot { key: ("a".to_owned(), 1), variant, answer: json!(answer) }
    }

    fn check(before: Value, new: Vec<NewSnapshot>, expected: Value) {
        let before: Answers = serde_json::from_value(before).unwrap();
        assert_eq!(json!(merge(before, new)), expected);
    }

    #[test]
    fn writes_one_snapshot_if_all_variants_are_equal() {
        let (old, new) = (Some(Revision::V2025_11_25), Some(Revision::V2026_07_28));
        let separate = json!({"a": {"step 1 [2025-11-25]": 1, "step 1 [2026-07-28]": 2}});
        check(json!({}), vec![snapshot(old, 1), snapshot(new, 1)], json!({"a": {"step 1": 1}}));
        check(
            json!({"a": {"step 1": 3}}),
            vec![snapshot(old, 1), snapshot(new, 2)],
            separate.clone(),
        );
        let expected = json!({"a": {"step 1 [2025-11-25]": 3, "step 1 [2026-07-28]": 2}});
        check(separate, vec![snapshot(old, 3)], expected);
        check(json!({"b": {"step 2": 1}}), Vec::new(), json!({"b": {"step 2": 1}}));
    }
}
