//! Checks that a golden case shows every message about a file that fails to load.
//!
//! The messages are the string literals of several words in the sources. Of a format
//! string, the longest part between its placeholders must have been printed.

use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::transcript::all_cases;

/// The sources of messages about a user's file.
const SOURCES: [&str; 18] = [
    "sparring-host/src/config/configuration.rs",
    "sparring-host/src/config/auth.rs",
    "sparring-host/src/config/edit",
    "sparring-host/src/config/entry.rs",
    "sparring-host/src/config/expand.rs",
    "sparring-host/src/config/merge.rs",
    "sparring-host/src/config/read",
    "sparring-host/src/config/trust.rs",
    "sparring-mock/src/load",
    "sparring-script/src/grammar/check.rs",
    "sparring-script/src/input_schema.rs",
    "sparring-script/src/matcher/parse.rs",
    "sparring-script/src/matcher/subject.rs",
    "sparring-script/src/suggestion.rs",
    "sparring-script/src/node",
    "sparring-script/src/quantity.rs",
    "sparring-script/src/template",
    "sparring-suite/src/load",
];

/// String literals that are not messages, and messages that no file can cause.
const OTHERS: [(&str, &str); 22] = [
    ("no such file, or its path is not valid UTF-8", "needs a file that goes away meanwhile"),
    ("another process has locked its folder for {LOCK_TIMEOUT:?}", "needs a process that hangs"),
    ("any value", "describes a kind of value that every matcher can match"),
    ("the tool", "names a text without a file"),
    ("the reply", "names a text without a file"),
    ("the change", "names a text without a file"),
    ("the token", "names a text without a file"),
    ("%% not a frame %%", "is sent"),
    ("%% not JSON %%", "is sent"),
    ("scripted error", "is part of an error"),
    ("Returns the next response of a test case.", "describes a tool"),
    (
        "The task, with the directives [test_case_id=…] and [mcp_responses_json=BASE64].",
        "describes an argument",
    ),
    (
        "`{key}` needs the feature `{feature}`, which this build does not have",
        "needs a build without that feature",
    ),
    ("server `{}` is invalid", "needs an entry that no other check reports"),
    ("only a script can run programs, not a change over HTTP", "is reported over HTTP"),
    ("a change over HTTP cannot use `http`", "is reported over HTTP"),
    ("a change over HTTP cannot use `file`", "is reported over HTTP"),
    ("`{}`: a change over HTTP cannot use this header", "is reported over HTTP"),
    ("allow it with --allow-control http, or with `control_keys` in Rust", "is reported over HTTP"),
    ("allow it with --allow-control file, or with `control_keys` in Rust", "is reported over HTTP"),
    ("no such file below the folder of the script", "is reported over HTTP"),
    ("${{{path}}}: a change over HTTP cannot use this header", "is reported over HTTP"),
];

#[test]
fn every_diagnostic_has_a_golden_case() {
    let outcomes = all_cases().into_iter().map(|case| case.outcome);
    let printed: String = outcomes.flat_map(|it| [it.stdout, it.stderr]).collect();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let sources = SOURCES.iter().flat_map(|part| texts(&sources.join(part), is_source));
    let messages: Vec<String> = sources.flat_map(|source| messages(&source)).collect();
    assert!(messages.len() > 100, "{messages:#?}");
    // A literal that is not a format is printed with its braces.
    let is_seen = |it: &str| printed.contains(it) || printed.contains(&longest_part(it));
    let unseen: Vec<&String> = messages.iter().filter(|message| !is_seen(message)).collect();
    assert!(unseen.is_empty(), "no golden case has {unseen:#?}");
}

/// Returns the string literals of a source, without its tests, that may be messages.
fn messages(source: &str) -> Vec<String> {
    let code = source.split("#[cfg(test)]").next().unwrap_or_default();
    let is_code = |line: &&str| !line.trim_start().starts_with("//") && !line.contains("#[");
    let code: Vec<&str> = code.lines().filter(is_code).collect();
    let literal = Regex::new(r#"(?s)(expect\()?"((?:[^"\\]|\\.)*)""#).unwrap();
    // A quote character begins no literal.
    let code = code.join("\n").replace("'\"'", "").replace("'\\\"'", "");
    let found = literal.captures_iter(&code).filter(|found| found.get(1).is_none());
    let broken = Regex::new(r"\\\n\s*").unwrap();
    let texts = found.map(|found| broken.replace_all(&found[2], "").replace("\\\"", "\""));
    let is_other = |text: &str| OTHERS.iter().any(|(other, _)| *other == text);
    texts.filter(|text| longest_part(text).trim().contains(' ') && !is_other(text)).collect()
}

/// Returns the longest part of a format string between its placeholders.
fn longest_part(format: &str) -> String {
    let hole = Regex::new(r"\{[^{}]*\}").unwrap();
    let format = format.replace("{{", "\u{1}").replace("}}", "\u{2}");
    let parts = hole.split(&format).max_by_key(|part| part.len()).unwrap_or_default();
    parts.replace('\u{1}', "{").replace('\u{2}', "}")
}

fn is_source(name: &str) -> bool {
    name.ends_with(".rs")
}

/// Returns the texts of the files below a path whose names match.
fn texts(path: &Path, wanted: fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut left: Vec<PathBuf> = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        if path.is_dir() {
            left.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else if wanted(&path.file_name().unwrap().to_string_lossy()) {
            found.push(fs::read_to_string(path).unwrap());
        }
    }
    found
}
