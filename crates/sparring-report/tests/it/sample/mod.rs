//! Sample runs for the HTML report: a rich one, a big one, and a hostile one.

mod big;
mod hostile;
mod rich;
mod traffic;

pub(crate) use big::big;
pub(crate) use hostile::{HOSTILE, hostile, huge};
pub(crate) use rich::rich;

use sparring_report::{Outcome, Run, SourceLocation, Summary, Test, VERSION};

/// Returns a run of these tests.
pub(crate) fn run(tests: Vec<Test>) -> Run {
    Run {
        version: VERSION,
        spar: "0.1.0".to_owned(),
        began: "2026-11-14T09:26:53Z".to_owned(),
        took_ms: tests.iter().map(|test| test.took_ms).sum::<f64>() / 4.0,
        shard: None,
        build: None,
        stopped: false,
        summary: Summary::from_tests(&tests),
        tests,
    }
}

/// Returns a passed test with only the required fields.
pub(crate) fn test(suite: &str, line: usize, name: &str) -> Test {
    let place = SourceLocation { file: suite.to_owned(), line, column: 5 };
    Test {
        suite: suite.to_owned(),
        name: name.to_owned(),
        rerun_command: format!("spar test {suite}:{line}"),
        place,
        server: None,
        protocol: None,
        transport: None,
        tags: Vec::new(),
        rule: None,
        outcome: Outcome::Passed,
        reason: None,
        took_ms: 0.0,
        failed_tries: Vec::new(),
        notes: Vec::new(),
        timings: Vec::new(),
        frames: Vec::new(),
        frames_left_out: 0,
        frames_shared: false,
        transcript: Vec::new(),
        transcript_left_out: 0,
    }
}
