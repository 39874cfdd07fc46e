//! The code quality report of GitLab, which shows failures in merge requests.

use std::collections::HashMap;

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{Failure, Note, Outcome, Run, SourceLocation, Test, grouping, truncate};

/// The maximum length of a message, in bytes.
const MAX_MESSAGE_BYTES: usize = 1_000;

/// Renders the failures as major issues, those of flaky tests as minor ones, and notes as
/// information.
///
/// The fingerprint of an issue is the same in every run, so it contains neither the line
/// nor the actual value.
pub fn render_gitlab(run: &Run) -> String {
    let mut used = HashMap::new();
    let issues: Vec<Value> =
        run.tests.iter().flat_map(issues).map(|it| it.to_json(&mut used)).collect();
    format!("{:#}\n", Value::Array(issues))
}

struct Issue<'a> {
    test: &'a Test,
    check: &'static str,
    severity: &'static str,
    message: &'a str,
    place: &'a SourceLocation,
}

fn issues(test: &Test) -> Vec<Issue<'_>> {
    let notes = test.notes.iter().map(|Note { message, place, .. }| {
        let (check, severity) = ("spar-note", "info");
        Issue { test, check, severity, message, place }
    });
    failures(test).into_iter().chain(notes).collect()
}

fn failures(test: &Test) -> Vec<Issue<'_>> {
    let (check, severity) = match test.outcome {
        Outcome::Failed => ("spar-failed", "major"),
        Outcome::Passed if test.is_flaky() => ("spar-flaky", "minor"),
        Outcome::Passed | Outcome::Skipped | Outcome::NotRun => return Vec::new(),
    };
    let issue = |message, place| Issue { test, check, severity, message, place };
    match test.failed_tries.last().map(|last| last.failures.as_slice()) {
        None | Some([]) => vec![issue("failed without a message", &test.place)],
        Some(failures) => {
            failures.iter().map(|Failure { message, place, .. }| issue(message, place)).collect()
        }
    }
}

impl Issue<'_> {
    fn to_json(&self, used: &mut HashMap<String, usize>) -> Value {
        let message = truncate::one_line(self.message, MAX_MESSAGE_BYTES);
        let flaky = if self.check == "spar-flaky" { " (passed when retried)" } else { "" };
        // GitLab requires a path.
        let places = [&self.place.file, &self.test.place.file, &self.test.suite];
        let file = places.into_iter().find(|it| !it.is_empty()).map_or("", String::as_str);
        let path = truncate::one_line(file, MAX_MESSAGE_BYTES);
        let check = self.test.rule.as_ref().map_or(self.check, |rule| rule.id.as_str());
        json!({
            "description": format!("{}{flaky}: {message}", truncate::one_line(&self.test.title(), MAX_MESSAGE_BYTES)),
            "check_name": check,
            "fingerprint": self.fingerprint(used),
            "severity": self.severity,
            "location": {
                "path": path.strip_prefix("./").unwrap_or(&path),
                "lines": {"begin": self.place.line.max(1)},
            },
        })
    }

    /// Returns a unique fingerprint: issues with the same parts are numbered.
    fn fingerprint(&self, used: &mut HashMap<String, usize>) -> String {
        let (suite, name) = (&self.test.suite, &self.test.name);
        let (variant, kind) = (grouping::variant_label(self.test), message_kind(self.message));
        let parts = json!([self.check, suite, name, variant, kind]).to_string();
        let number = used.entry(parts.clone()).or_default();
        let hash = digest(&SHA256, format!("{number}{parts}").as_bytes());
        *number += 1;
        hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Returns the kind of a failure: its message without the actual value, quotes and numbers,
/// which may differ between runs.
pub(crate) fn message_kind(message: &str) -> String {
    let message = message.split(", found ").next().unwrap_or_default();
    let unquoted = message.split('"').step_by(2);
    unquoted.flat_map(str::chars).filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_kind_is_the_same_in_every_run() {
        assert_eq!(message_kind(r#"text: expected "a", found "b""#), "text: expected ");
        assert_eq!(message_kind("no answer within 12s"), message_kind("no answer within 7s"));
        assert_ne!(message_kind("text: expected 1"), message_kind("json: expected 1"));
    }
}
