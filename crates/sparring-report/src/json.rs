//! The JSON report: the complete run, for other programs and for merging.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{Run, VERSION};

/// Renders the JSON report.
pub fn render_json(run: &Run) -> String {
    let mut text = serde_json::to_string_pretty(run).expect("a run is plain data");
    text.push('\n');
    text
}

/// Returns the JSON Schema of the report, generated from [`Run`]. It allows unknown fields,
/// so that later versions can add some.
pub fn json_schema() -> Value {
    let mut schema = schemars::schema_for!(Run).to_value();
    schema["title"] = "A run of spar test, or a check of spar check".into();
    schema
}

/// The error of a text that is not a readable report.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReadError {
    /// The text is not JSON.
    #[error("{line}:{column}: invalid JSON: {why}")]
    InvalidJson {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The description of the error.
        why: String,
    },
    /// The text is other JSON.
    #[error("{line}:{column}: not a report of `spar test --report json`: {why}")]
    NotAReport {
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// The description of the error.
        why: String,
    },
    /// The text is a stream of events.
    #[error("this is a report of --report ndjson; only reports of --report json can be read")]
    IsNdjson,
    /// A newer spar wrote the report.
    #[error("report version {version} is newer than {VERSION}: update spar to read it")]
    NewerVersion {
        /// The version of the report.
        version: u64,
    },
}

impl ReadError {
    /// Returns true if the message begins with a position in the text.
    pub fn has_position(&self) -> bool {
        matches!(self, ReadError::InvalidJson { .. } | ReadError::NotAReport { .. })
    }
}

/// Parses a JSON report. Unknown fields are ignored.
///
/// # Errors
/// Returns an error if the text is not a report, or is of a newer version.
pub fn parse_report(text: &str) -> Result<Run, ReadError> {
    let first = text.lines().next().unwrap_or_default();
    if serde_json::from_str::<NdjsonEvent>(first).is_ok() {
        return Err(ReadError::IsNdjson);
    }
    let _: IgnoredAny = serde_json::from_str(text).map_err(read_error)?;
    if !text.trim_start().starts_with('{') {
        let why = "expected an object".to_owned();
        return Err(ReadError::NotAReport { line: 1, column: 1, why });
    }
    let VersionField { version } = serde_json::from_str(text).map_err(read_error)?;
    if version > u64::from(VERSION) {
        return Err(ReadError::NewerVersion { version });
    }
    serde_json::from_str(text).map_err(read_error)
}

/// The version of a report, which is parsed before the rest.
#[derive(Deserialize)]
struct VersionField {
    version: u64,
}

/// A line of an NDJSON report.
#[derive(Deserialize)]
struct NdjsonEvent {
    #[serde(rename = "event")]
    _event: String,
}

fn read_error(error: serde_json::Error) -> ReadError {
    let (line, column) = (error.line(), error.column());
    let why = error.to_string();
    // The position comes before the message.
    let why = why.split(" at line ").next().unwrap_or_default().to_owned();
    match error.is_data() {
        true => ReadError::NotAReport { line, column, why },
        false => ReadError::InvalidJson { line, column, why },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample_run;

    #[test]
    fn a_report_survives_a_round_trip() {
        let run = sample_run::run();
        assert_eq!(parse_report(&render_json(&run)), Ok(run));
    }

    #[test]
    fn a_full_report_conforms_to_its_schema_and_uses_every_property() {
        let (schema, report) = (json_schema(), serde_json::to_value(sample_run::run()).unwrap());
        let validator = jsonschema::validator_for(&schema).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        let text = report.to_string();
        let properties = |schema: &Value| -> Vec<String> {
            schema["properties"].as_object().into_iter().flat_map(|it| it.keys().cloned()).collect()
        };
        let defined = schema["$defs"].as_object().into_iter().flat_map(|it| it.values());
        for name in std::iter::once(&schema).chain(defined).flat_map(properties) {
            assert!(text.contains(&format!("\"{name}\":")), "the report has no {name}");
        }
        let mut other = report;
        other["tests"][0]["outcome"] = "fine".into();
        assert!(!validator.is_valid(&other));
    }

    #[test]
    fn unknown_fields_are_ignored() {
        let mut report = serde_json::to_value(sample_run::run()).unwrap();
        report["later"] = 1.into();
        report["tests"][0]["frames"][0]["later"] = 1.into();
        assert_eq!(parse_report(&report.to_string()), Ok(sample_run::run()));
    }

    #[test]
    fn an_unreadable_report_is_reported_with_its_position() {
        for (text, expected) in [
            ("", "1:0: invalid JSON: EOF while parsing a value"),
            ("{\n  \"a\": ]}", "2:8: invalid JSON: expected value"),
            ("[]", "1:1: not a report of `spar test --report json`: expected an object"),
            ("{}", "1:2: not a report of `spar test --report json`: missing field `version`"),
            (
                r#"{"version": 1, "spar": 7}"#,
                "1:24: not a report of `spar test --report json`: invalid type: integer `7`, \
                 expected a string",
            ),
            (r#"{"version": 2}"#, "report version 2 is newer than 1: update spar to read it"),
            (
                "{\"event\":\"run\"}\n{}",
                "this is a report of --report ndjson; only reports of --report json can be read",
            ),
        ] {
            assert_eq!(parse_report(text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
