//! Runs for unit tests of reports.

use crate::{
    AnsweredBy, Build, CheckedRule, FailedTry, Failure, Frame, Note, Outcome, Run, Sender,
    SourceLocation, Summary, Test, Timing, TranscriptEntry, VERSION, Violation,
};

/// Returns a run in which every field is set.
pub(crate) fn run() -> Run {
    let tests = vec![full_test(), test("other", Outcome::Passed)];
    Run {
        version: VERSION,
        spar: "0.1.0".to_owned(),
        began: "2026-07-28T12:00:00Z".to_owned(),
        took_ms: 1234.5,
        shard: Some("1/2".to_owned()),
        build: Some(Build {
            project: Some("team/weather".to_owned()),
            commit: Some("4a6d1f0c".to_owned()),
            branch: Some("main".to_owned()),
            url: Some("https://ci.example/7".to_owned()),
        }),
        stopped: true,
        summary: Summary::from_tests(&tests),
        tests,
    }
}

/// Returns a test with only the required fields.
pub(crate) fn test(name: &str, outcome: Outcome) -> Test {
    Test {
        suite: "a.spar.yaml".to_owned(),
        name: name.to_owned(),
        place: place(),
        server: None,
        protocol: None,
        transport: None,
        tags: Vec::new(),
        rule: None,
        outcome,
        reason: None,
        took_ms: 0.0,
        rerun_command: format!("spar test a.spar.yaml --filter '^{name}$'"),
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

fn place() -> SourceLocation {
    SourceLocation { file: "a.spar.yaml".to_owned(), line: 3, column: 5 }
}

fn full_test() -> Test {
    let failure = Failure {
        place: place(),
        span: 0..0,
        source: "  - name: one".to_owned(),
        message: "expected 1, found 2".to_owned(),
        diff: Some("-1\n+2".to_owned()),
    };
    let tried = FailedTry {
        failures: vec![failure],
        stderr: "late".to_owned(),
        stdout: "out".to_owned(),
        did_not_start: true,
        ..FailedTry::default()
    };
    let violation = Violation {
        rule: "wire/not-json".to_owned(),
        level: "must".to_owned(),
        path: "$".to_owned(),
        message: "this is no JSON".to_owned(),
        section: "basic".to_owned(),
    };
    let frame = Frame {
        at_ms: 1.5,
        from: Sender::Server,
        text: "]]> </script> \u{1b}".to_owned(),
        bytes: 15,
        status: Some(200),
        violations: vec![violation],
    };
    let exchange = TranscriptEntry {
        at_ms: 2.5,
        mock: "llm".to_owned(),
        by: AnsweredBy::Model,
        request: "user: hello".to_owned(),
        answer: "turn 1: text: </script> good day".to_owned(),
    };
    Test {
        server: Some("it".to_owned()),
        protocol: Some("2025-11-25".to_owned()),
        transport: Some("http".to_owned()),
        tags: vec!["fast".to_owned()],
        rule: Some(CheckedRule {
            id: "wire/not-json".to_owned(),
            level: "must".to_owned(),
            summary: "Each message must be JSON.".to_owned(),
            section: Some("https://example.org/basic#messages".to_owned()),
            advice: "Write JSON.".to_owned(),
        }),
        reason: Some("it is late".to_owned()),
        took_ms: 12.5,
        failed_tries: vec![tried],
        notes: vec![Note {
            accepted: Some("we know".to_owned()),
            ..Note::new(place(), "unknown argument")
        }],
        timings: vec![Timing { request: "call echo".to_owned(), took_ms: 0.25 }],
        frames: vec![frame],
        frames_left_out: 2,
        frames_shared: true,
        transcript: vec![exchange],
        transcript_left_out: 3,
        ..test("one", Outcome::Failed)
    }
}
