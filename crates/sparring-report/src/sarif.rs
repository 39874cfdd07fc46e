//! SARIF 2.1.0, which GitHub, editors and other tools show as findings of a program.
//!
//! A broken rule of `spar check` is a result of its rule, and a failed test is one of a rule
//! with the name of the test. The same finding in several variants is one result. Tests that
//! passed are left out: many readers show every result as a finding.

use std::collections::HashMap;

use ring::digest::{SHA256, digest};
use serde_json::{Map, Value, json};

use crate::gitlab::message_kind;
use crate::{Note, Outcome, Run, SourceLocation, Test, format, grouping, traffic, truncate};

/// The address of the schema, which readers compare as a text.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";
/// The maximum number of results; readers refuse files with very many.
const MAX_RESULTS: usize = 5_000;
/// The maximum length of a text, in bytes, and the maximum number of frames of a result.
const MAX_TEXT_BYTES: usize = 4_000;
const MAX_FRAMES: usize = 10;
const MAX_FRAME_BYTES: usize = 1_000;

/// Renders SARIF 2.1.0 with one run.
pub fn render_sarif(run: &Run) -> String {
    let mut log = Log::default();
    run.tests.iter().for_each(|test| log.add_test(test));
    let mut invocation =
        json!({ "executionSuccessful": !run.stopped, "startTimeUtc": one_line(&run.began) });
    if log.omitted > 0 {
        let text = format!("{} omitted", format::more(log.omitted, "result"));
        invocation["toolExecutionNotifications"] =
            json!([{ "level": "warning", "message": { "text": text } }]);
    }
    let driver = json!({
        "name": "spar",
        "version": one_line(&run.spar),
        "rules": log.rules,
    });
    let results: Vec<Value> = log.results.into_iter().map(Finding::into_json).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver },
            "columnKind": "unicodeCodePoints",
            "invocations": [invocation],
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

/// The rules and results so far.
#[derive(Default)]
struct Log<'a> {
    rules: Vec<Value>,
    /// The positions of the rules by their ids.
    rule_indices: HashMap<String, usize>,
    results: Vec<Finding<'a>>,
    /// The positions of the results by their rules, places and messages.
    result_indices: HashMap<(usize, &'a str, usize, &'a str), usize>,
    omitted: usize,
}

/// A result. The same finding in several variants is one.
struct Finding<'a> {
    test: &'a Test,
    rule_id: String,
    rule_index: usize,
    level: &'static str,
    message: &'a str,
    place: &'a SourceLocation,
    /// The reason, if the finding is accepted.
    accepted: Option<&'a str>,
    variants: Vec<String>,
}

impl<'a> Log<'a> {
    fn add_test(&mut self, test: &'a Test) {
        let failures = match test.outcome {
            Outcome::Failed => test.failed_tries.last(),
            Outcome::Passed if test.is_flaky() => test.failed_tries.last(),
            Outcome::Passed | Outcome::Skipped | Outcome::NotRun => None,
        };
        let level = match test.outcome {
            Outcome::Failed => failure_level(test),
            _ => "warning",
        };
        for failure in failures.into_iter().flat_map(|last| &last.failures) {
            self.add(test, level, &failure.message, &failure.place, None);
        }
        if test.outcome == Outcome::Failed && failures.is_none_or(|it| it.failures.is_empty()) {
            self.add(test, level, "failed without a message", &test.place, None);
        }
        for Note { place, message, accepted } in &test.notes {
            let level = match (&test.rule, accepted) {
                (Some(_), None) => "warning",
                (Some(_), Some(_)) | (None, _) => "note",
            };
            self.add(test, level, message, place, accepted.as_deref());
        }
    }

    fn add(
        &mut self,
        test: &'a Test,
        level: &'static str,
        message: &'a str,
        place: &'a SourceLocation,
        accepted: Option<&'a str>,
    ) {
        let place = if place.has_file() { place } else { &test.place };
        let rule_id = rule_id(test);
        let rule_index = self.rule_index(test, &rule_id);
        let key = (rule_index, place.file.as_str(), place.line, message);
        let variant = grouping::variant_label(test);
        if let Some(known) = self.result_indices.get(&key) {
            self.results[*known].variants.push(variant);
        } else if self.results.len() == MAX_RESULTS {
            self.omitted += 1;
        } else {
            self.result_indices.insert(key, self.results.len());
            let variants = vec![variant];
            self.results.push(Finding {
                test,
                rule_id,
                rule_index,
                level,
                message,
                place,
                accepted,
                variants,
            });
        }
    }

    /// Returns the position of the rule; adds it if it is new.
    fn rule_index(&mut self, test: &Test, id: &str) -> usize {
        if let Some(known) = self.rule_indices.get(id) {
            return *known;
        }
        let index = self.rules.len();
        self.rule_indices.insert(id.to_owned(), index);
        self.rules.push(rule_as_json(test, id));
        index
    }
}

/// Returns the id of the rule that a test checks, or one made of its suite and name.
fn rule_id(test: &Test) -> String {
    match &test.rule {
        Some(rule) => one_line(&rule.id),
        None => one_line(&format!("{}/{}", test.suite, test.name)),
    }
}

fn one_line(text: &str) -> String {
    truncate::one_line(text, MAX_TEXT_BYTES)
}

fn rule_as_json(test: &Test, id: &str) -> Value {
    let Some(rule) = &test.rule else {
        return json!({ "id": id, "shortDescription": { "text": one_line(&test.name) } });
    };
    let level = if rule.level == "must" { "error" } else { "warning" };
    let mut value = json!({
        "id": id,
        "shortDescription": { "text": one_line(&rule.summary) },
        "help": { "text": one_line(&rule.advice) },
        "defaultConfiguration": { "level": level },
        "properties": { "tags": [one_line(&rule.level)] },
    });
    if let Some(section) = &rule.section {
        value["helpUri"] = json!(one_line(section));
    }
    value
}

/// A broken recommendation is a warning, also if it failed the check.
fn failure_level(test: &Test) -> &'static str {
    match &test.rule {
        Some(rule) if rule.level != "must" => "warning",
        _ => "error",
    }
}

impl Finding<'_> {
    fn into_json(self) -> Value {
        let text = truncate::first_lines(self.message, 50, MAX_TEXT_BYTES).join("\n");
        let fingerprint = self.fingerprint();
        let mut value = json!({
            "ruleId": self.rule_id,
            "ruleIndex": self.rule_index,
            "level": self.level,
            "message": { "text": text },
            "locations": [self.location()],
            "partialFingerprints": { "sparring/v1": fingerprint },
            "properties": self.properties(),
        });
        if let Some(reason) = self.accepted {
            let mut suppression = json!({ "kind": "external" });
            if !reason.is_empty() {
                suppression["justification"] = json!(one_line(reason));
            }
            value["suppressions"] = json!([suppression]);
        }
        value
    }

    /// Returns the place in a file. A server without a file is a logical location.
    fn location(&self) -> Value {
        let SourceLocation { file, line, column } = self.place;
        if !self.place.has_file() {
            let name = one_line(&self.test.suite);
            return json!({ "logicalLocations": [{ "name": name, "kind": "module" }] });
        }
        json!({ "physicalLocation": {
            "artifactLocation": { "uri": encode_path(file) },
            "region": { "startLine": (*line).max(1), "startColumn": (*column).max(1) },
        } })
    }

    /// Returns the variants, the command that repeats the finding, and the frames.
    fn properties(&self) -> Value {
        let mut properties = Map::new();
        let variants = self.variants.iter().filter(|it| !it.is_empty());
        let variants: Vec<String> = variants.map(|it| one_line(it)).collect();
        if !variants.is_empty() {
            properties.insert("variants".to_owned(), json!(variants));
        }
        properties.insert("again".to_owned(), json!(one_line(&self.test.rerun_command)));
        let frames = traffic::render_last_frames(self.test, MAX_FRAMES, MAX_FRAME_BYTES);
        if self.test.outcome == Outcome::Failed && !frames.is_empty() {
            properties.insert("frames".to_owned(), json!(frames));
        }
        Value::Object(properties)
    }

    /// Returns a text that is the same in every run, with neither the line nor the actual
    /// value.
    fn fingerprint(&self) -> String {
        let parts = json!([self.rule_id, self.test.suite, message_kind(self.message)]);
        let hash = digest(&SHA256, parts.to_string().as_bytes());
        hash.as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Encodes a path as a relative URI.
fn encode_path(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let mut encoded = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            _ => encoded.push_str(&format!("%{byte:02X}")),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_run;

    fn parse(run: &Run) -> Value {
        serde_json::from_str(&render_sarif(run)).unwrap()
    }

    #[test]
    fn the_same_finding_in_several_variants_is_one_result() {
        let mut run = sample_run::run();
        let mut other = run.tests[0].clone();
        other.protocol = Some("2026-07-28".to_owned());
        run.tests.push(other);
        let log = parse(&run);
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), 2, "{log:#}");
        let variants = &results[0]["properties"]["variants"];
        assert_eq!(*variants, json!(["[2025-11-25, http]", "[2026-07-28, http]"]));
        assert_eq!(log["runs"][0]["tool"]["driver"]["rules"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn an_accepted_finding_is_suppressed_with_its_reason() {
        let log = parse(&sample_run::run());
        let result = &log["runs"][0]["results"][1];
        assert_eq!(result["level"], "note");
        let expected = json!([{ "kind": "external", "justification": "we know" }]);
        assert_eq!(result["suppressions"], expected);
    }

    #[test]
    fn a_path_is_a_uri() {
        assert_eq!(encode_path("./a b/ü.yaml"), "a%20b/%C3%BC.yaml");
    }
}
