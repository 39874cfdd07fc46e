//! The recorded traffic at the end of a test, within limits and without secrets.

use std::num::NonZeroUsize;

use sparring_suite::{
    Event, Options, Outcome, Plan, RunContext, Stop, TestEnd, TestSelection, Traffic, run,
};
use tokio::sync::mpsc;

use crate::fixture::{ON_MOCK, block_on, read, run_context};

/// Runs a suite. Returns the end of each test in order.
fn test_ends(text: &str, traffic: bool) -> Vec<TestEnd> {
    let options = Options {
        jobs: NonZeroUsize::MIN,
        fail_fast: false,
        retry: 0,
        update: false,
        traffic,
        strict: false,
    };
    let mut context = run_context();
    context.variables.insert("SECRET".to_owned(), "hunter-2-hunter".to_owned());
    block_on(run_with_options(text, options, &context))
}

async fn run_with_options(text: &str, options: Options, context: &RunContext) -> Vec<TestEnd> {
    let suite = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    let plan = Plan::new(vec![suite], &TestSelection::default()).unwrap();
    let (event_sender, mut events) = mpsc::unbounded_channel();
    run(&plan, options, context, &Stop::default(), event_sender).await;
    let mut test_ends: Vec<(usize, TestEnd)> = Vec::new();
    while let Some(event) = events.recv().await {
        if let Event::Finished { test, end } = event {
            test_ends.push((test, end));
        }
    }
    test_ends.sort_by_key(|(test, _)| *test);
    test_ends.into_iter().map(|(_, end)| end).collect()
}

/// Returns the frames as `> method` and `< answer`.
fn render_frames(traffic: &Traffic) -> Vec<String> {
    let line = |frame: &sparring_suite::TrafficFrame| {
        let message: serde_json::Value = serde_json::from_str(&frame.text).unwrap_or_default();
        let what = message["method"].as_str().unwrap_or("answer");
        format!("{} {what}", if frame.by_server { "<" } else { ">" })
    };
    traffic.frames.iter().map(line).collect()
}

const TWO_TESTS: &str = "tests: [{name: one, call: echo, with: {message: hi}}, {name: two, call: echo, with: {message: ho}}]";

#[test]
fn a_passed_test_has_its_frames_and_the_first_test_also_the_handshake() {
    let test_ends = test_ends(&format!("{ON_MOCK}{TWO_TESTS}"), true);
    let first = render_frames(&test_ends[0].traffic);
    assert_eq!(first[first.len() - 2..], ["> tools/call", "< answer"]);
    assert!(first.contains(&"> server/discover".to_owned()), "{first:?}");
    assert_eq!(render_frames(&test_ends[1].traffic), ["> tools/call", "< answer"]);
    let frames = &test_ends[1].traffic.frames;
    assert!(frames[0].at <= frames[1].at && frames[1].at <= test_ends[1].took);
    assert_eq!((frames[1].bytes, frames[1].status), (frames[1].text.len(), None));
    assert!(!test_ends[1].traffic.shared);
}

#[test]
fn nothing_is_recorded_without_the_option() {
    let test_ends = test_ends(&format!("{ON_MOCK}{TWO_TESTS}"), false);
    assert!(test_ends.iter().all(|end| end.traffic.frames.is_empty() && end.traffic.left_out == 0));
}

#[test]
fn a_frame_over_http_has_its_status() {
    let text = format!("{}{TWO_TESTS}", ON_MOCK.replace("timeout", "transport: http, timeout"));
    let test_ends = test_ends(&text, true);
    let statuses: Vec<_> = test_ends[1].traffic.frames.iter().map(|frame| frame.status).collect();
    assert_eq!(statuses, [None, Some(200)]);
}

#[test]
fn frames_beyond_the_limit_are_omitted_from_the_middle_and_counted() {
    let steps = "{call: echo, with: {message: hi}}, ".repeat(149);
    let last = "{call: echo, with: {message: last}}";
    let test_ends =
        test_ends(&format!("{ON_MOCK}tests: [{{name: many, steps: [{steps}{last}]}}]"), true);
    let Traffic { frames, left_out, .. } = &test_ends[0].traffic;
    assert_eq!(frames.len(), 200);
    assert!(*left_out >= 100, "{left_out}");
    assert_eq!(render_frames(&test_ends[0].traffic)[0], "> server/discover");
    assert!(frames[199].text.contains("last"), "{}", frames[199].text);
}

#[test]
fn a_long_frame_is_truncated_and_the_total_size_is_limited() {
    let long = "x".repeat(40_000);
    let step = format!("{{call: echo, with: {{message: {long}}}}}, ");
    let test_ends =
        test_ends(&format!("{ON_MOCK}tests: [{{name: long, steps: [{}]}}]", step.repeat(10)), true);
    let Traffic { frames, left_out, .. } = &test_ends[0].traffic;
    let size: usize = frames.iter().map(|frame| frame.text.len()).sum();
    assert!(size <= 256 * 1024 && *left_out > 0, "{size} {left_out}");
    let last = frames.last().unwrap();
    assert!(last.bytes > 40_000 && last.text.len() < 17_000 && last.text.ends_with('…'));
}

#[test]
fn tests_that_run_at_once_share_frames_and_are_marked() {
    let text = "servers: {it: {mock: trainer.mock.yaml, concurrency: 3}}\n\
                tests: [{name: one, call: half}, {name: two, call: half}, {name: three, call: half}]";
    let test_ends = test_ends(text, true);
    assert!(test_ends.iter().all(|end| end.traffic.shared));
    let calls =
        render_frames(&test_ends[0].traffic).iter().filter(|it| *it == "> tools/call").count();
    assert!(calls > 1, "{calls}");
}

#[test]
fn an_invalid_frame_is_recorded_with_its_violations() {
    let server = "printf 'no \\377 frame \\033[2J\\n'";
    let text = format!(
        "servers: {{it: {{command: sh, args: [-c, {server:?}]}}}}\n\
         tests: [{{name: one, ping: true}}]"
    );
    let test_ends = test_ends(&text, true);
    assert!(matches!(test_ends[0].outcome, Outcome::Failed(_)));
    let mut frames = test_ends[0].traffic.frames.iter();
    let noise = frames.find(|frame| frame.by_server).unwrap();
    assert_eq!(noise.text, "no \u{fffd} frame \u{1b}[2J");
    assert_eq!(noise.violations[0].rule.id(), "wire/invalid-utf8");
}

#[test]
fn secrets_are_masked_in_failures_output_and_traffic() {
    let server = "echo leaked $KEY >&2";
    let text = format!(
        "servers: {{it: {{command: sh, args: [-c, {server:?}], \
         env: {{KEY: \"${{SECRET}}\"}}}}, mock: {{mock: trainer.mock.yaml}}}}\n\
         tests: [{{name: one, ping: true}}, \
         {{name: two, server: mock, call: echo, with: {{message: \"a ${{env:SECRET}}\"}}, \
         expect: {{text: {{equals: b}}}}}}, \
         {{name: three, server: mock, call: echo, with: {{message: c, password: p}}}}]"
    );
    let test_ends = test_ends(&text, true);
    let all = format!("{test_ends:?}");
    assert!(!all.contains("hunter"), "{all}");
    let Outcome::Failed(failed) = &test_ends[0].outcome else { panic!("{all}") };
    assert_eq!(failed.stderr, "leaked (hidden)");
    let Outcome::Failed(failed) = &test_ends[1].outcome else { panic!("{all}") };
    assert!(failed.failures[0].message.contains("a (hidden)"), "{}", failed.failures[0].message);
    assert!(failed.frames.iter().any(|frame| frame.text.contains("a (hidden)")), "{all}");
    let call = &test_ends[2].traffic.frames[0].text;
    assert!(call.contains(r#""password":"(hidden)""#), "{call}");
}
