//! Every key of a suite has an effect: for each key at each place, a case compares a suite that
//! has the key with one that does not.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use sparring_suite::{Failure, Outcome, Suite};

use crate::fixture::{block_on, outcomes_of, read};
use crate::grammar_walk::{Case, REFUSED, check_complete, places, read_cases};

/// The files with the cases.
const CASES: [&str; 4] = ["suite.yaml", "steps.yaml", "expectations.yaml", "mocks.yaml"];

/// Their folder.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/effects");

/// Objects that the same code loads and runs at every place. Each key that holds one still has
/// a case of its own.
const SHARED: [&str; 10] = [
    // `Loader::read_step` and `StepRunner`, for tests, setup, teardown and fragments.
    "step",
    "completion",
    "message_to_send",
    "cancellation",
    "check",
    "answer",
    "expectation",
    // `Loader::read_agent` and `run/agent`.
    "agent",
    // `LlmScript::read`.
    "turn",
    "call",
];

/// Objects of LLM scripts, each with its places. The walk of these scripts has their cases.
const OF_LLM_SCRIPTS: [(&str, &[&str]); 6] = [
    ("turn", &["turn"]),
    ("expectation_of_a_request", &["turn.expect", "turn.when"]),
    ("call", &["call"]),
    ("usage", &["usage"]),
    ("error_of_the_API", &["error_of_the_API"]),
    ("fault_of_an_answer", &["fault_of_an_answer"]),
];

/// The number of cases that run at once.
const THREADS: usize = 16;

/// Runs a suite. Returns the files that it watches, and the outcome of each test with its
/// failures.
fn observe(suite: &Value) -> String {
    let text = suite.to_string();
    let suite = match read(&text) {
        Ok(suite) => suite,
        Err(problems) => return format!("{REFUSED}{problems}"),
    };
    let mut seen = String::new();
    for name in watched_names(&text) {
        let _ = writeln!(seen, "watches {name}");
    }
    for test in &suite.tests {
        let _ = writeln!(seen, "{} has the tags {:?}", test.name, test.tags);
    }
    for (name, outcome) in block_on(outcomes_of(suite, false)) {
        let _ = match outcome {
            Some(Outcome::Passed) => writeln!(seen, "{name}: passed"),
            Some(Outcome::Skipped(reason)) => writeln!(seen, "{name}: skipped: {reason}"),
            Some(Outcome::Failed(failed)) => {
                let describe = |it: &Failure| {
                    format!("{}\n{}\n", it.message, it.diff.as_deref().unwrap_or_default())
                };
                let failures: String = failed.failures.iter().map(describe).collect();
                writeln!(seen, "{name}: failed\n{failures}")
            }
            None => writeln!(seen, "{name}: not run"),
        };
    }
    seen
}

/// Returns the names of the files that a suite watches in a folder with the file `note.txt`.
fn watched_names(text: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.spar.yaml");
    std::fs::write(&path, text).unwrap();
    std::fs::write(folder.path().join("note.txt"), "").unwrap();
    let files = Suite::load(&path).watched.files();
    let names = files.iter().filter_map(|file| file.file_name());
    names.map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Runs all cases on some threads, since most of them only wait. Returns the failures.
fn check_all(cases: &[Case]) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut wrong = Vec::new();
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.extend(case.check(&observe(&case.with), &observe(&case.without)).err());
        }
        wrong
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn every_key_of_a_suite_has_an_effect() {
    let (schema, llm_schema) = (sparring_suite::schema(), sparring_mock::llm_schema());
    let mut places = places(&schema, "suite", &SHARED);
    for (name, its_places) in OF_LLM_SCRIPTS {
        assert_eq!(schema["$defs"][name], llm_schema["$defs"][name], "`{name}` differs");
        for place in its_places {
            assert!(places.remove(*place).is_some(), "`{place}` does not exist");
        }
    }
    let cases = read_cases(FOLDER, &CASES);
    let wrong = check_all(&cases);
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    // A rule below `must` is a note, which no outcome has. A golden case of the program shows it.
    check_complete(&places, &cases, &[("check", "level")]);
}
