//! Hostile texts in a run break no report, and are never mistaken for a part of it.

use std::collections::HashSet;

use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser, Tag};
use quick_xml::Reader;
use quick_xml::events::Event as Xml;
use serde_json::Value;
use sparring_report::{
    AnsweredBy, CheckedRule, FailedTry, Failure, Frame, Note, Outcome, Run, Sender, SourceLocation,
    Test, TranscriptEntry, Violation, render_agent, render_github, render_gitlab, render_junit,
    render_markdown, render_sarif, render_tap,
};

use super::{sample, tap_reader};

/// Returns a run with tests of each outcome, and these texts in turn in every field.
fn everywhere(texts: &[String]) -> Run {
    let mut turn = texts.iter().cycle();
    let mut text = || turn.next().unwrap().clone();
    let outcomes = [Outcome::Passed, Outcome::Failed, Outcome::Skipped, Outcome::NotRun];
    let tests = outcomes.into_iter().chain(outcomes).enumerate().map(|(number, outcome)| {
        let ran = matches!(outcome, Outcome::Passed | Outcome::Failed);
        Test {
            suite: text(),
            name: text(),
            place: place(text(), number),
            server: Some(text()),
            protocol: (number > 3).then(&mut text),
            transport: (number > 3).then(&mut text),
            tags: vec![text()],
            rule: (number % 2 == 1).then(|| rule(&mut text)),
            outcome,
            reason: Some(text()),
            took_ms: [f64::NAN, 1e308, -1.0, f64::INFINITY][number % 4],
            rerun_command: text(),
            failed_tries: if ran { vec![a_try(&mut text), a_try(&mut text)] } else { Vec::new() },
            notes: vec![Note {
                accepted: Some(text()),
                ..Note::new(place(text(), number), text())
            }],
            timings: Vec::new(),
            frames: vec![frame(Sender::Client, &mut text), frame(Sender::Server, &mut text)],
            frames_left_out: number,
            frames_shared: number > 3,
            transcript: vec![exchange(&mut text)],
            transcript_left_out: number,
        }
    });
    let mut run = sample::of(tests.collect());
    (run.spar, run.began, run.shard) = (text(), text(), Some(text()));
    run
}

fn rule(text: &mut impl FnMut() -> String) -> CheckedRule {
    CheckedRule {
        id: text(),
        level: text(),
        summary: text(),
        section: Some(text()),
        advice: text(),
    }
}

fn exchange(text: &mut impl FnMut() -> String) -> TranscriptEntry {
    TranscriptEntry {
        at_ms: f64::NAN,
        mock: text(),
        by: AnsweredBy::Model,
        request: text(),
        answer: text(),
    }
}

fn place(file: String, number: usize) -> SourceLocation {
    SourceLocation { file, line: if number == 0 { 0 } else { usize::MAX }, column: number }
}

fn a_try(text: &mut impl FnMut() -> String) -> FailedTry {
    let mut failure = |number| Failure {
        span: 0..0,
        place: place(text(), number),
        source: text(),
        message: text(),
        diff: Some(text()),
    };
    let failures = vec![failure(0), failure(1)];
    FailedTry { failures, stderr: text(), stdout: text(), ..FailedTry::default() }
}

fn frame(from: Sender, text: &mut impl FnMut() -> String) -> Frame {
    let violation =
        Violation { rule: text(), level: text(), path: text(), message: text(), section: text() };
    let violations = vec![violation];
    Frame { violations, status: Some(503), ..sample::frame(from, &text()) }
}

fn check(texts: &[String]) {
    all_hold(&everywhere(texts));
}

fn all_hold(run: &Run) {
    xml_holds(run);
    tap_holds(run);
    markdown_holds(run);
    github_holds(run);
    gitlab_holds(run);
    sarif_holds(run);
    agent_holds(run);
}

fn has_no_control(text: &str) {
    let odd = text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    assert_eq!(odd, None);
    assert!(!text.contains(['\u{202e}', '\u{2028}', '\u{fffe}', '\u{ffff}']));
}

fn sarif_holds(run: &Run) {
    let text = render_sarif(run);
    has_no_control(&text);
    let log: Value = serde_json::from_str(&text).unwrap();
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    for result in run["results"].as_array().unwrap() {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(result["ruleId"], rules[index]["id"]);
        let uri = &result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
        let is_uri = |uri: &str| uri.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'<');
        assert!(uri.as_str().is_none_or(is_uri), "{uri}");
    }
}

fn xml_holds(run: &Run) {
    let text = render_junit(run);
    has_no_control(&text);
    let mut reader = Reader::from_str(&text);
    let (mut cases, mut depth) = (HashSet::new(), 0);
    loop {
        let event = reader.read_event().unwrap();
        depth += match &event {
            Xml::Start(_) => 1,
            Xml::End(_) => -1,
            Xml::Eof => break,
            Xml::Empty(_) | Xml::Text(_) | Xml::Decl(_) | Xml::GeneralRef(_) => 0,
            other => panic!("{other:?}"),
        };
        if let Xml::Start(element) | Xml::Empty(element) = &event {
            let attributes: Vec<_> = element.attributes().map(Result::unwrap).collect();
            if element.name().as_ref() == "testcase" {
                let known =
                    attributes[..2].iter().map(|it| it.value.to_string()).collect::<Vec<_>>();
                assert!(cases.insert(known), "two tests have the same name");
            }
        }
    }
    assert_eq!((depth, cases.len()), (0, run.tests.len()));
}

fn tap_holds(run: &Run) {
    let text = render_tap(run);
    has_no_control(&text);
    let (points, bail) = tap_reader::read(&text);
    assert_eq!(bail.is_some(), run.stopped);
    assert_eq!(points.len(), run.tests.len());
    for (point, test) in points.iter().zip(&run.tests) {
        assert_eq!(point.ok, test.outcome != Outcome::Failed);
        let skipped = matches!(test.outcome, Outcome::Skipped | Outcome::NotRun);
        assert_eq!((point.skip.is_some(), point.block.is_none()), (skipped, skipped), "{point:?}");
        if test.outcome == Outcome::Failed {
            assert!(point.block.as_ref().unwrap()["again"].is_string());
        }
    }
}

/// Checks that only the markup of the report is markup.
fn markdown_holds(run: &Run) {
    let text = render_markdown(run);
    has_no_control(&text);
    assert!(text.len() <= 60_000, "{}", text.len());
    let mut details = 0;
    for event in Parser::new_ext(&text, Options::all()) {
        match event {
            Event::Start(Tag::CodeBlock(_) | Tag::Paragraph | Tag::Heading { .. }) => {}
            Event::Start(Tag::Table(_) | Tag::TableHead | Tag::TableRow | Tag::TableCell) => {}
            Event::Start(Tag::List(None) | Tag::Item | Tag::HtmlBlock) => {}
            Event::Start(other) => panic!("{other:?} in {text}"),
            Event::InlineHtml(html) => {
                assert!(["<code>", "</code>"].contains(&&*html), "{html} in {text}");
            }
            Event::Html(html) if &*html == "</details>\n" => details -= 1,
            Event::Html(html) => {
                details += 1;
                let summary = html.strip_prefix("<details><summary><code>");
                let summary = summary.and_then(|it| it.strip_suffix("</code></summary>\n"));
                let summary = summary.expect(&html).replacen("</code>: <code>", "", 1);
                assert!(!summary.contains(['<', '>', '\n']), "{html}");
            }
            Event::Text(_) | Event::End(_) | Event::SoftBreak => {}
            other => panic!("{other:?} in {text}"),
        }
    }
    assert_eq!(details, 0, "{text}");
}

fn github_holds(run: &Run) {
    let text = render_github(run);
    has_no_control(&text);
    for line in text.lines() {
        if line.starts_with("::notice title=spar ") {
            continue;
        }
        let (kind, rest) = line.strip_prefix("::").and_then(|it| it.split_once(' ')).expect(line);
        assert!(["error", "warning", "notice"].contains(&kind), "{line}");
        let (properties, _) = rest.split_once("::").expect(line);
        let names: Vec<&str> =
            properties.split(',').map(|it| it.split_once('=').expect(line).0).collect();
        let has_file = names.contains(&"file");
        let expected: &[&str] =
            if has_file { &["file", "line", "col", "title"] } else { &["title"] };
        assert_eq!(names, expected, "{line}");
    }
    assert!(!text.is_empty());
}

fn gitlab_holds(run: &Run) {
    let issues: Vec<Value> = serde_json::from_str(&render_gitlab(run)).unwrap();
    let fingerprints: HashSet<&str> =
        issues.iter().map(|it| it["fingerprint"].as_str().unwrap()).collect();
    let issues_of = |test: &Test| match test.outcome {
        Outcome::Passed | Outcome::Failed => {
            test.failed_tries.last().map_or(0, |it| it.failures.len())
        }
        Outcome::Skipped | Outcome::NotRun => 0,
    };
    let expected: usize = run.tests.iter().map(|test| issues_of(test) + test.notes.len()).sum();
    assert_eq!((fingerprints.len(), issues.len()), (expected, expected));
    for issue in &issues {
        has_no_control(issue["description"].as_str().unwrap());
        assert!(issue["location"]["lines"]["begin"].as_u64() >= Some(1));
        assert!(issue["location"]["path"].is_string());
    }
}

/// The prefixes of the lines of an agent's report, except the first line.
const LINE_PREFIXES: [&str; 20] = [
    "NOTE ",
    "FAIL ",
    "FLAKY ",
    "and ",
    "    ",
    "  at ",
    "  and ",
    "  same failure in",
    "  passes in: ",
    "  tries: ",
    "  diff ",
    "  request: ",
    "  response: ",
    "  violation: ",
    "  end of ",
    "  rule: ",
    "  section: ",
    "  change: ",
    "  rerun: ",
    "  (",
];

/// Checks that each line has a known prefix or is indented below one.
fn agent_holds(run: &Run) {
    let text = render_agent(run);
    has_no_control(&text);
    assert!(text.len() <= 16 * 1024, "{}", text.len());
    for line in text.lines().skip(1).filter(|line| !line.is_empty()) {
        assert!(LINE_PREFIXES.iter().any(|prefix| line.starts_with(prefix)), "{line:?} in {text}");
    }
    assert!(text.contains("\n  rerun: "), "{text}");
}

#[test]
fn hostile_texts_break_no_report() {
    for text in sample::HOSTILE {
        check(&[text.to_owned()]);
    }
    check(&sample::HOSTILE.map(str::to_owned));
}

#[test]
fn the_runs_of_the_html_tests_break_no_report() {
    all_hold(&crate::sample::rich());
    all_hold(&crate::sample::hostile());
}

#[test]
fn a_mebibyte_of_text_breaks_no_report() {
    let long = 1 << 20;
    for piece in ["a\n", "\u{1b}`|"] {
        check(&[piece.repeat(long / piece.len()), piece.to_owned()]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn no_text_breaks_any_report(texts in texts()) {
        check(&texts);
    }
}

/// Generates arbitrary texts and texts of special pieces.
fn texts() -> impl Strategy<Value = Vec<String>> {
    let piece = prop_oneof![
        any::<String>(),
        proptest::sample::select(sample::HOSTILE.to_vec()).prop_map(str::to_owned),
        "[-`~|#*_<>\\[\\]&;:\"'\\\\ \n\r\t\u{0}-\u{8}=+.%@!{}]{0,12}",
    ];
    let text = proptest::collection::vec(piece, 0..4).prop_map(|pieces| pieces.concat());
    proptest::collection::vec(text, 1..5)
}
