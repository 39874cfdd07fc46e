//! GitLab's code quality report: what failed, at its line of the suite, in merge
//! requests.

use std::collections::HashMap;

use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use crate::{Failure, Outcome, Place, Run, Test, cut, variants};

/// How much of a message is told.
const LONGEST: usize = 1_000;

/// What tests failed of, and as minor what flaky ones did before they passed.
///
/// A fingerprint is made of what stays the same from run to run: neither of the
/// line nor of what was found.
pub fn gitlab(run: &Run) -> String {
    let mut given = HashMap::new();
    let issues: Vec<Value> =
        run.tests.iter().flat_map(issues).map(|it| it.told(&mut given)).collect();
    format!("{:#}\n", Value::Array(issues))
}

struct Issue<'a> {
    test: &'a Test,
    check: &'static str,
    severity: &'static str,
    message: &'a str,
    place: &'a Place,
}

fn issues(test: &Test) -> Vec<Issue<'_>> {
    let (check, severity) = match test.outcome {
        Outcome::Failed => ("spar-failed", "major"),
        Outcome::Passed if test.is_flaky() => ("spar-flaky", "minor"),
        Outcome::Passed | Outcome::Skipped | Outcome::NotRun => return Vec::new(),
    };
    let of = |message, place| Issue { test, check, severity, message, place };
    match test.failed_tries.last().map(|last| last.failures.as_slice()) {
        None | Some([]) => vec![of("it failed", &test.place)],
        Some(failures) => {
            failures.iter().map(|Failure { message, place, .. }| of(message, place)).collect()
        }
    }
}

impl Issue<'_> {
    fn told(&self, given: &mut HashMap<String, usize>) -> Value {
        let message = cut::line(self.message, LONGEST);
        let flaky = if self.check == "spar-flaky" { " (passed when tried again)" } else { "" };
        let path = cut::line(&self.place.file, LONGEST);
        json!({
            "description": format!("{}{flaky}: {message}", cut::line(&self.test.title(), LONGEST)),
            "check_name": self.check,
            "fingerprint": self.fingerprint(given),
            "severity": self.severity,
            "location": {
                "path": path.strip_prefix("./").unwrap_or(&path),
                "lines": {"begin": self.place.line.max(1)},
            },
        })
    }

    /// Another one for each: what is the same in all that it is made of is counted.
    fn fingerprint(&self, given: &mut HashMap<String, usize>) -> String {
        let (suite, name) = (&self.test.suite, &self.test.name);
        let (variant, kind) = (variants::variant(self.test), kind(self.message));
        let known = json!([self.check, suite, name, variant, kind]).to_string();
        let number = given.entry(known.clone()).or_default();
        let hash = digest(&SHA256, format!("{number}{known}").as_bytes());
        *number += 1;
        hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// What kind of a thing did not hold: a message without what was found, and
/// without quotes and numbers, which may be other ones in each run.
fn kind(message: &str) -> String {
    let message = message.split(", found ").next().unwrap_or_default();
    let unquoted = message.split('"').step_by(2);
    unquoted.flat_map(str::chars).filter(|c| !c.is_ascii_digit()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_has_nothing_that_changes_from_run_to_run() {
        assert_eq!(kind(r#"text: expected "a", found "b""#), "text: expected ");
        assert_eq!(kind("no answer within 12s"), kind("no answer within 7s"));
        assert_ne!(kind("text: expected 1"), kind("json: expected 1"));
    }
}
