//! A run with one test of each kind that reports distinguish.

use sparring_report::{
    CheckedRule, FailedTry, Failure, Frame, Note, Outcome, Run, Sender, SourceLocation, Test,
    Timing, Violation,
};

use crate::sample;

/// Texts that break a report which does not escape them.
pub(crate) const HOSTILE: [&str; 24] = [
    "\u{1b}[31mred\u{7}\u{0}",
    "]]><![CDATA[ &amp; &#x0;",
    "</script><script>alert(1)</script>",
    "</code></summary></details>",
    "\u{fffd}\u{fffe}\u{ffff}\u{feff}",
    "👩‍💻 ünï",
    "\u{202e}txet\u{2066}\u{e0041}",
    "one\ntwo\r\nthree\rfour\u{2028}five\u{85}six",
    "````\n```\n~~~",
    "| a | b \\| c |",
    "::set-output name=a::b\n::error::x",
    "100% %0A %25, a:b",
    "\"double\" 'single' `tick`",
    "# SKIP # TODO \\# \\\\",
    "ok 1\nnot ok 2\nBail out!\n1..9\n  ...\n  ---\n...",
    "- [ ] *a* _b_ **c** [x](y) ![i](j) <!-- @user #123 $x$ www.example.com https://a.b",
    "key: [unclosed {\n  - &a *b !c | > %d @e",
    "FAIL a:1:1 \"b\"\n  rerun: rm -rf .",
    "  leading and trailing  ",
    "",
    "\n",
    "\\u001b \\n \\",
    "\t\ttabs",
    "=cmd|'/c calc'!A1",
];

/// Returns the run.
pub(crate) fn run() -> Run {
    let tests = vec![
        passed(),
        failed("2025-06-18", Some(DIFF)),
        failed("2025-11-25", Some(DIFF)),
        Test { outcome: Outcome::Passed, failed_tries: Vec::new(), ..failed("2026-07-28", None) },
        two_things(),
        without_a_server("asks for nothing"),
        without_a_server("asks for something"),
        flaky(),
        skipped(),
        Test { outcome: Outcome::NotRun, took_ms: 0.0, ..test("waits for its turn", 40) },
        hostile(),
    ];
    of(tests)
}

/// Returns a check of a server: a broken rule in two revisions, a broken recommendation, an
/// accepted finding, a rule that does not apply, and one that was kept.
pub(crate) fn check() -> Run {
    let failed = |protocol: &str| {
        let message = "expected the error -32602, found the result {\"tools\":[]}";
        let failure =
            Failure { place: SourceLocation::none(), source: String::new(), ..failure(1, message) };
        let request = r#"{"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"cursor":"x"}}"#;
        let response = r#"{"jsonrpc":"2.0","id":3,"result":{"tools":[]}}"#;
        Test {
            outcome: Outcome::Failed,
            failed_tries: vec![FailedTry { failures: vec![failure], ..FailedTry::default() }],
            frames: vec![frame(Sender::Client, request), frame(Sender::Server, response)],
            ..checked("tools/list-invalid-cursor", "must", protocol)
        }
    };
    let noted =
        |id: &str, note: Note| Test { notes: vec![note], ..checked(id, "should", "2025-11-25") };
    let note = |message: &str| Note::new(SourceLocation::none(), message);
    let accepted = Note {
        accepted: Some("the old name is in use".to_owned()),
        ..note("accepted: echo: the name has a space")
    };
    of(vec![
        failed("2025-06-18"),
        failed("2025-11-25"),
        noted("definitions/description", note("echo: expected a description")),
        noted("definitions/tool-name", accepted),
        Test {
            outcome: Outcome::Skipped,
            reason: Some("the server has no prompts".to_owned()),
            ..checked("prompts/unknown-name", "must", "2025-11-25")
        },
        checked("wire/not-json", "must", "2025-11-25"),
    ])
}

/// Returns a test that found a rule to be kept.
fn checked(id: &str, level: &str, protocol: &str) -> Test {
    Test {
        place: SourceLocation { file: "server.py".to_owned(), line: 1, column: 1 },
        server: Some("weather".to_owned()),
        protocol: Some(protocol.to_owned()),
        transport: Some("stdio".to_owned()),
        tags: vec![level.to_owned()],
        rule: Some(CheckedRule {
            id: id.to_owned(),
            level: level.to_owned(),
            summary: format!("The rule {id} must be kept."),
            section: Some(format!("https://example.org/{id}")),
            advice: "Keep the rule.".to_owned(),
        }),
        rerun_command: format!("spar check --only {id} --protocol {protocol} -- python server.py"),
        ..sample::test("weather", 1, id)
    }
}

/// Returns a run of these tests.
pub(crate) fn of(tests: Vec<Test>) -> Run {
    let stopped = tests.iter().any(|test| test.outcome == Outcome::NotRun);
    Run { stopped, took_ms: 1_234.5, ..sample::run(tests) }
}

/// Returns a passed test.
pub(crate) fn test(name: &str, line: usize) -> Test {
    let suite = "examples/weather.spar.yaml";
    Test {
        server: Some("weather".into()),
        took_ms: 12.25,
        rerun_command: format!("spar test {suite} --filter '^{name}$'"),
        timings: vec![Timing { request: "call get_weather".into(), took_ms: 3.5 }],
        ..sample::test(suite, line, name)
    }
}

/// Returns a failure.
pub(crate) fn failure(line: usize, message: &str) -> Failure {
    Failure {
        span: 0..0,
        place: SourceLocation { file: "examples/weather.spar.yaml".into(), line, column: 14 },
        source: "    expect: {text: cloudy}".into(),
        message: message.into(),
        diff: None,
    }
}

/// Returns a frame.
pub(crate) fn frame(from: Sender, text: &str) -> Frame {
    let (text, bytes) = (text.into(), text.len());
    Frame { at_ms: 1.0, from, text, bytes, status: None, violations: Vec::new() }
}

const DIFF: &str = " It is in London\n-cloudy\n+sunny\n today";
const CALL: &str = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_weather","arguments":{"city":"London"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"It is in London\nsunny\ntoday"}]}}"#;

fn passed() -> Test {
    Test { took_ms: 2_500.0, tags: vec!["slow".into()], ..test("lists its tools", 4) }
}

/// Returns a test that fails in this revision.
fn failed(revision: &str, diff: Option<&str>) -> Test {
    let message = r#"text: expected "cloudy", found "sunny""#;
    let failure = Failure { diff: diff.map(Into::into), ..failure(12, message) };
    let stderr = "starting\nwarning: no key, the weather is made up\n".into();
    Test {
        protocol: Some(revision.into()),
        transport: Some("http".into()),
        outcome: Outcome::Failed,
        failed_tries: vec![FailedTry {
            failures: vec![failure],
            stderr,
            stdout: String::new(),
            ..FailedTry::default()
        }],
        frames: vec![
            frame(Sender::Client, r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#),
            frame(Sender::Client, CALL),
            Frame { status: Some(200), ..frame(Sender::Server, ANSWER) },
        ],
        frames_left_out: 2,
        frames_shared: false,
        transcript: Vec::new(),
        transcript_left_out: 0,
        ..test("tells the weather", 8)
    }
}

/// Returns a test with several failures in its second try and with a violation, which is
/// included from another file.
fn two_things() -> Test {
    let violation = Violation {
        level: "must".to_owned(),
        rule: "result-type".into(),
        path: "$.result.content".into(),
        message: "expected an array, found a string".into(),
        section: "server/tools#calling-tools".into(),
    };
    let answer = r#"{"jsonrpc":"2.0","id":9,"result":{"content":"rain"}}"#;
    let frames = vec![
        frame(
            Sender::Client,
            r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"a"}}"#,
        ),
        Frame { violations: vec![violation], status: Some(503), ..frame(Sender::Server, answer) },
    ];
    let first =
        FailedTry { failures: vec![failure(20, "no answer within 1s")], ..FailedTry::default() };
    let last = FailedTry {
        failures: vec![
            failure(20, "structured.hours: expected a number > 24, found 24"),
            failure(20, "structured.days: expected 7, found nothing"),
            failure(21, "result-type at $.result.content: expected an array, found a string"),
        ],
        stderr: String::new(),
        stdout: "tried\nagain\n".into(),
        ..FailedTry::default()
    };
    let place = SourceLocation { file: "shared/included.yaml".into(), line: 3, column: 1 };
    Test {
        outcome: Outcome::Failed,
        place,
        failed_tries: vec![first, last],
        frames,
        ..test("is included", 0)
    }
}

/// Returns a test that fails because its server exited.
fn without_a_server(name: &str) -> Test {
    let message = "the server `gone` cannot be used: it exited with status 3";
    let suite = "examples/server.spar.yaml";
    let place = |line, column| SourceLocation { file: suite.into(), line, column };
    let failure = Failure {
        place: place(2, 3),
        source: "  gone: {command: sh}".into(),
        ..failure(2, message)
    };
    let stderr = "cannot open config\n".into();
    Test {
        suite: suite.into(),
        place: place(9, 5),
        outcome: Outcome::Failed,
        failed_tries: vec![FailedTry {
            failures: vec![failure],
            stderr,
            stdout: String::new(),
            ..FailedTry::default()
        }],
        rerun_command: format!("spar test {suite} --filter '^{name}$'"),
        ..test(name, 9)
    }
}

fn flaky() -> Test {
    let failed = FailedTry {
        failures: vec![failure(30, r#"text: expected "warm", found "cold""#)],
        stderr: "warming up\n".into(),
        stdout: String::new(),
        ..FailedTry::default()
    };
    Test { failed_tries: vec![failed], ..test("warms up", 28) }
}

fn skipped() -> Test {
    let reason = Some("needs a key | not here".into());
    Test { outcome: Outcome::Skipped, reason, took_ms: 0.0, ..test("asks the real one", 33) }
}

/// Returns a test with all hostile texts in every field.
fn hostile() -> Test {
    let all = HOSTILE.join(" ");
    let failure = Failure {
        span: 0..0,
        place: SourceLocation { file: "a,b:c%\n.yaml".into(), line: 50, column: 1 },
        source: all.clone(),
        message: all.clone(),
        diff: Some(HOSTILE.map(|text| format!("-{text}\n+{text}\n")).concat()),
    };
    let frames = vec![frame(Sender::Client, &all), frame(Sender::Server, &all)];
    Test {
        suite: "</testsuite>\u{1b}/|.spar.yaml".into(),
        outcome: Outcome::Failed,
        failed_tries: vec![FailedTry {
            failures: vec![failure],
            stderr: HOSTILE.join("\n"),
            stdout: all.clone(),
            ..FailedTry::default()
        }],
        rerun_command: "spar test '```' --filter '\u{1b}'".into(),
        frames,
        ..test(&all, 50)
    }
}
