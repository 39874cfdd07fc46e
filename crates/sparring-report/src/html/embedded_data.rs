//! Embeds the run in the page as JSON for the scripts.
//!
//! The traffic is the largest part and is rarely needed, so the frames of each test are in a
//! separate element, which the scripts parse when the test is opened.

use serde::Serialize;

use crate::{
    Build, CheckedRule, FailedTry, Note, Outcome, Run, SourceLocation, Summary, Test, Timing,
    TranscriptEntry,
};

/// A run without its traffic.
#[derive(Serialize)]
struct PageData<'a> {
    spar: &'a str,
    began: &'a str,
    took_ms: f64,
    shard: Option<&'a str>,
    build: Option<&'a Build>,
    stopped: bool,
    summary: Summary,
    tests: Vec<TestRow<'a>>,
}

/// A test without its traffic.
#[derive(Serialize)]
struct TestRow<'a> {
    suite: &'a str,
    name: &'a str,
    place: &'a SourceLocation,
    server: Option<&'a str>,
    protocol: Option<&'a str>,
    transport: Option<&'a str>,
    tags: &'a [String],
    rule: Option<&'a CheckedRule>,
    outcome: Outcome,
    reason: Option<&'a str>,
    took_ms: f64,
    again: &'a str,
    failed_tries: &'a [FailedTry],
    notes: &'a [Note],
    timings: &'a [Timing],
    frames: usize,
    frames_left_out: usize,
    frames_shared: bool,
    transcript: &'a [TranscriptEntry],
    transcript_left_out: usize,
    /// The broken rules, with one entry for each violation.
    rules: Vec<&'a str>,
}

/// Writes the run and the frames as `script` elements of the type JSON.
pub(super) fn write(run: &Run, page: &mut String) {
    write_element("run", &PageData::from_run(run), page);
    for (index, test) in run.tests.iter().enumerate().filter(|(_, test)| !test.frames.is_empty()) {
        write_element(&format!("frames-{index}"), &test.frames, page);
    }
}

fn write_element(id: &str, value: &impl Serialize, page: &mut String) {
    let json = serde_json::to_string(value).expect("a run is plain data with string keys");
    page.push_str(&format!("<script type=\"application/json\" id=\"{id}\">"));
    write_escaped_json(&json, page);
    page.push_str("</script>\n");
}

/// Writes JSON as the content of a `script` element. These characters occur only in strings,
/// in which the escape means the same.
fn write_escaped_json(json: &str, out: &mut String) {
    let json = json.replace('<', "\\u003c");
    let json = json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    out.push_str(&json);
}

impl<'a> PageData<'a> {
    fn from_run(run: &'a Run) -> Self {
        PageData {
            spar: &run.spar,
            began: &run.began,
            took_ms: run.took_ms,
            shard: run.shard.as_deref(),
            build: run.build.as_ref(),
            stopped: run.stopped,
            summary: run.summary,
            tests: run.tests.iter().map(TestRow::from_test).collect(),
        }
    }
}

impl<'a> TestRow<'a> {
    fn from_test(test: &'a Test) -> Self {
        let violations = test.frames.iter().flat_map(|frame| &frame.violations);
        TestRow {
            suite: &test.suite,
            name: &test.name,
            place: &test.place,
            server: test.server.as_deref(),
            protocol: test.protocol.as_deref(),
            transport: test.transport.as_deref(),
            tags: &test.tags,
            rule: test.rule.as_ref(),
            outcome: test.outcome,
            reason: test.reason.as_deref(),
            took_ms: test.took_ms,
            again: &test.rerun_command,
            failed_tries: &test.failed_tries,
            notes: &test.notes,
            timings: &test.timings,
            frames: test.frames.len(),
            frames_left_out: test.frames_left_out,
            frames_shared: test.frames_shared,
            transcript: &test.transcript,
            transcript_left_out: test.transcript_left_out,
            rules: violations.map(|violation| violation.rule.as_str()).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::write_escaped_json;

    fn check(json: &str, expected: &str) {
        let mut out = String::new();
        write_escaped_json(json, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn json_cannot_end_its_script() {
        check(r#"{"a":"</script><!--"}"#, r#"{"a":"\u003c/script>\u003c!--"}"#);
        check("\"\u{2028}\u{2029}\"", "\"\\u2028\\u2029\"");
    }
}
