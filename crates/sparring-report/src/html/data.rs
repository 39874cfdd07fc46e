//! What the scripts of the page read: the run, and the traffic of each test.
//!
//! The traffic is most of it and is seldom looked at, so it stands in elements
//! of its own, which are read when a test is opened.

use serde::Serialize;

use crate::{Outcome, Place, Run, Summary, Test, Timing, Try};

use super::escape;

/// A run without its traffic.
#[derive(Serialize)]
struct Index<'a> {
    spar: &'a str,
    began: &'a str,
    took_ms: f64,
    shard: Option<&'a str>,
    stopped: bool,
    summary: Summary,
    tests: Vec<Row<'a>>,
}

/// A test without its traffic, of which it says only what lists need.
#[derive(Serialize)]
struct Row<'a> {
    suite: &'a str,
    name: &'a str,
    place: &'a Place,
    server: Option<&'a str>,
    protocol: Option<&'a str>,
    transport: Option<&'a str>,
    tags: &'a [String],
    outcome: Outcome,
    reason: Option<&'a str>,
    took_ms: f64,
    again: &'a str,
    failed_tries: &'a [Try],
    timings: &'a [Timing],
    frames: usize,
    frames_left_out: usize,
    frames_shared: bool,
    /// The rules that frames broke, one entry a breach.
    rules: Vec<&'a str>,
}

/// Writes all of it as elements that are no scripts.
pub(super) fn write(run: &Run, page: &mut String) {
    element("run", &Index::of(run), page);
    for (index, test) in run.tests.iter().enumerate().filter(|(_, test)| !test.frames.is_empty()) {
        element(&format!("frames-{index}"), &test.frames, page);
    }
}

fn element(id: &str, value: &impl Serialize, page: &mut String) {
    let json = serde_json::to_string(value).expect("a run is plain data with keys that are texts");
    page.push_str(&format!("<script type=\"application/json\" id=\"{id}\">"));
    escape::json(&json, page);
    page.push_str("</script>\n");
}

impl<'a> Index<'a> {
    fn of(run: &'a Run) -> Self {
        Index {
            spar: &run.spar,
            began: &run.began,
            took_ms: run.took_ms,
            shard: run.shard.as_deref(),
            stopped: run.stopped,
            summary: run.summary,
            tests: run.tests.iter().map(Row::of).collect(),
        }
    }
}

impl<'a> Row<'a> {
    fn of(test: &'a Test) -> Self {
        let violations = test.frames.iter().flat_map(|frame| &frame.violations);
        Row {
            suite: &test.suite,
            name: &test.name,
            place: &test.place,
            server: test.server.as_deref(),
            protocol: test.protocol.as_deref(),
            transport: test.transport.as_deref(),
            tags: &test.tags,
            outcome: test.outcome,
            reason: test.reason.as_deref(),
            took_ms: test.took_ms,
            again: &test.again,
            failed_tries: &test.failed_tries,
            timings: &test.timings,
            frames: test.frames.len(),
            frames_left_out: test.frames_left_out,
            frames_shared: test.frames_shared,
            rules: violations.map(|violation| violation.rule.as_str()).collect(),
        }
    }
}
