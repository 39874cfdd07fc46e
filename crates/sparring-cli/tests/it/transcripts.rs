//! Tests that transcripts keep everything that a program can print.

use std::fs;

use crate::transcript::{Transcript, transcripts};

/// Parses a transcript of one case and compares its outcome.
fn check(lines: &str, stdout: &str, stderr: &str, exit: Option<i32>) {
    let text = format!("== a\n$ true\n{lines}");
    let transcript = Transcript::parse(&text).unwrap();
    let outcome = &transcript.cases[0].outcome;
    assert_eq!((&*outcome.stdout, &*outcome.stderr, outcome.exit), (stdout, stderr, exit));
    assert_eq!(transcript.to_string(), text);
}

#[test]
fn a_case_has_stdout_then_stderr_then_the_exit_code() {
    check("", "", "", Some(0));
    check("out\n", "out\n", "", Some(0));
    check("out\n\n more\n! err\n!\n!  more\n? 3\n", "out\n\n more\n", "err\n\n more\n", Some(3));
    check("? signal\n", "", "", None);
}

#[test]
fn lines_that_look_like_marks_begin_with_a_backslash() {
    check(
        "\\$ a\n\\> b\n\\! c\n\\? 1\n\\\\ d\n\\== e\n=== f\n# g\n",
        "$ a\n> b\n! c\n? 1\n\\ d\n== e\n=== f\n# g\n",
        "",
        Some(0),
    );
}

#[test]
fn the_ends_of_streams_are_kept() {
    check("a\n\\ no newline at the end\n", "a", "", Some(0));
    check("a\n! b\n\\ no newline at the end\n? 1\n", "a\n", "b", Some(1));
    check("a\n\\ no newline at the end\n! b\n", "a", "b\n", Some(0));
    check("a\n\n\\\n", "a\n\n\n", "", Some(0));
}

#[test]
fn control_characters_are_visible() {
    check("␛[1mred␛[0m␍\n! ␀\t␡\n", "\u{1b}[1mred\u{1b}[0m\r\n", "\0\t\u{7f}\n", Some(0));
    check("␦␛[2J ␦␦\n", "␛[2J ␦\n", "", Some(0));
}

#[test]
fn reports_a_syntax_error_with_its_line() {
    let check = |text: &str, expected: &str| {
        assert_eq!(Transcript::parse(text).err().as_deref(), Some(expected), "{text}");
    };
    check("Nothing but prose.\n", "1: no case begins with `== NAME`");
    check("Prose.\n\n== a\nNo command.\n", "3: a has no command");
    check("== a\n$ true\n\n== a\n$ true\n", "1: two cases are named a");
    check("== a\n$ true\n== b\n$ true\n", "3: an empty line is missing before a case");
    check("== a\n$ true\n! err\nout\n", "4: stdout after stderr: out");
    check("== a\n$ true\nout\n$ true\n", "4: stdout that needs a `\\`: $ true");
    check("== a\n$ true\n? one\n", "3: not an exit code: ? one");
    check("== a\n$ true\n? 1\nout\n", "4: a line after the exit code: out");
}

#[test]
fn every_transcript_survives_parsing_and_writing() {
    for path in transcripts() {
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(Transcript::read(&path).unwrap().to_string(), text, "{}", path.display());
    }
}
