//! Answers as they were kept, in a file beside their suite: held against what
//! comes, or kept anew.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sparring_script::{Span, matcher};
use sparring_transport::{FileAccess, replace_file};

use crate::event::{Event, Failure, Kept};
use crate::model::{Suite, Variant};

/// The answers of a file of tests: by test, then by step.
type Answers = BTreeMap<String, BTreeMap<String, Value>>;

/// The answers that a suite keeps.
#[derive(Debug)]
pub(super) struct Shots {
    path: PathBuf,
    known: Result<Answers, String>,
    /// What came, where it is to be kept.
    taken: Option<Mutex<Vec<Taken>>>,
}

/// An answer that is to be kept.
#[derive(Debug, PartialEq)]
struct Taken {
    place: (String, usize),
    variant: Variant,
    answer: Value,
}

/// Whose answer it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) test: &'a str,
    /// Which of the test's steps, from 1.
    pub(super) step: usize,
    pub(super) variant: Variant,
}

impl Shots {
    /// Those of a suite; to be kept anew where `update` says so.
    pub(super) fn of(suite: &Suite, update: bool) -> Shots {
        let path = path(Path::new(suite.name()));
        let taken = update.then(Mutex::default);
        let any = snapshots(suite).next().is_some();
        let known = if any || update { read(&path) } else { Ok(Answers::new()) };
        Shots { path, known, taken }
    }

    /// Holds an answer against the one that was kept, or keeps it.
    pub(super) fn check(&self, place: Place<'_>, span: Span, answer: Value) -> Option<Failure> {
        let Place { test, step, variant } = place;
        if let Some(taken) = &self.taken {
            let place = (test.to_owned(), step);
            let mut taken = lock(taken);
            // A test that was tried again has the last word.
            taken.retain(|it| (&it.place, it.variant) != (&place, variant));
            taken.push(Taken { place, variant, answer });
            return None;
        }
        let known = match &self.known {
            Ok(known) => known,
            Err(told) => return Some(Failure::new(span, told.clone())),
        };
        let of_test = known.get(test);
        let kept = of_test.and_then(|steps| {
            steps.get(&key(step, variant)).or_else(|| steps.get(&key(step, Variant::default())))
        });
        let file = self.path.display();
        match kept {
            Some(kept) if *kept == answer => None,
            Some(kept) => {
                let diff = Some(matcher::diff(&spelled(kept), &spelled(&answer)));
                let message = format!("the answer is not the one that {file} has");
                Some(Failure { diff, ..Failure::new(span, message) })
            }
            None => {
                let message = format!("{file} has no answer for this; `--update` keeps one");
                let diff = Some(matcher::diff("", &spelled(&answer)));
                Some(Failure { diff, ..Failure::new(span, message) })
            }
        }
    }

    /// Keeps what was taken, and tells of it.
    pub(super) fn keep(self, suite: &Suite) -> Option<Event> {
        let taken = self.taken?.into_inner().unwrap_or_else(PoisonError::into_inner);
        // A file that cannot be read is written anew, since that was asked for.
        let before = self.known.unwrap_or_default();
        let mut after = merged(before.clone(), taken);
        after.retain(|test, steps| {
            steps.retain(|key, _| {
                snapshots(suite).any(|(name, step)| name == test && is_of(key, step))
            });
            !steps.is_empty()
        });
        let kept = compare(&before, &after);
        if kept == Kept::default() {
            return None;
        }
        let written = match after.is_empty() {
            true => std::fs::remove_file(&self.path),
            false => replace_file(&self.path, text(&after).as_bytes(), FileAccess::Kept),
        };
        let told = |error| format!("cannot write {}: {error}", self.path.display());
        let kept = written.map(|()| kept).map_err(told);
        Some(Event::Kept { file: self.path, kept })
    }
}

/// The file of a suite's answers: `a.spar.snap.json` beside `a.spar.yaml`.
fn path(suite: &Path) -> PathBuf {
    suite.with_extension("snap.json")
}

fn read(path: &Path) -> Result<Answers, String> {
    match std::fs::read(path) {
        Ok(bytes) => serde_json::from_slice(&bytes)
            .map_err(|error| format!("{} has no answers to read: {error}", path.display())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Answers::new()),
        Err(error) => Err(format!("cannot read {}: {error}", path.display())),
    }
}

/// Every step of a suite whose answer is kept.
fn snapshots(suite: &Suite) -> impl Iterator<Item = (&String, usize)> {
    suite.tests.iter().flat_map(|test| {
        let steps = test.steps.iter().zip(1..);
        let kept = steps.filter(|(step, _)| step.expect.snapshot().is_some());
        kept.map(|(_, number)| (&test.name, number))
    })
}

/// What an answer is called; one that is the same in every variant belongs to
/// none of them.
fn key(step: usize, variant: Variant) -> String {
    format!("step {step}{variant}")
}

fn is_of(key: &str, step: usize) -> bool {
    let rest = key.strip_prefix("step ").and_then(|key| key.strip_prefix(&step.to_string()));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(" ["))
}

/// What was kept, with what came in its place: once where it is the same in all
/// variants, and else for each.
fn merged(mut answers: Answers, taken: Vec<Taken>) -> Answers {
    let mut by_place: BTreeMap<(String, usize), Vec<Taken>> = BTreeMap::new();
    for taken in taken {
        by_place.entry(taken.place.clone()).or_default().push(taken);
    }
    for ((test, step), taken) in by_place {
        let steps = answers.entry(test).or_default();
        let shared = key(step, Variant::default());
        let apart = steps.keys().any(|key| *key != shared && is_of(key, step));
        let same = taken.iter().all(|it| it.answer == taken[0].answer);
        for Taken { variant, answer, .. } in taken {
            match same && !apart {
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

fn compare(before: &Answers, after: &Answers) -> Kept {
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
    Kept {
        new: after.keys().filter(is_new).count(),
        changed: after.iter().filter(is_changed).count(),
        removed: before.keys().filter(|place| !after.contains_key(*place)).count(),
    }
}

fn spelled(answer: &Value) -> String {
    serde_json::to_string_pretty(answer).unwrap_or_default()
}

fn text(answers: &Answers) -> String {
    serde_json::to_string_pretty(answers).unwrap_or_default() + "\n"
}

fn lock(taken: &Mutex<Vec<Taken>>) -> MutexGuard<'_, Vec<Taken>> {
    taken.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use sparring_wire::Revision;

    use super::*;

    fn taken(protocol: Option<Revision>, answer: i32) -> Taken {
        let variant = Variant { protocol, transport: None };
        Taken { place: ("a".to_owned(), 1), variant, answer: json!(answer) }
    }

    fn check(before: Value, taken: Vec<Taken>, expected: Value) {
        let before: Answers = serde_json::from_value(before).unwrap();
        assert_eq!(json!(merged(before, taken)), expected);
    }

    #[test]
    fn an_answer_is_kept_once_where_it_is_the_same_in_all_variants() {
        let (old, new) = (Some(Revision::V2025_11_25), Some(Revision::V2026_07_28));
        let apart = json!({"a": {"step 1 [2025-11-25]": 1, "step 1 [2026-07-28]": 2}});
        check(json!({}), vec![taken(old, 1), taken(new, 1)], json!({"a": {"step 1": 1}}));
        check(json!({"a": {"step 1": 3}}), vec![taken(old, 1), taken(new, 2)], apart.clone());
        let expected = json!({"a": {"step 1 [2025-11-25]": 3, "step 1 [2026-07-28]": 2}});
        check(apart, vec![taken(old, 3)], expected);
        check(json!({"b": {"step 2": 1}}), Vec::new(), json!({"b": {"step 2": 1}}));
    }
}
