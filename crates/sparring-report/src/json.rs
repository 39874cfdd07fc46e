//! JSON: a run as it is, to be read again and by other programs.

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;

use crate::{Run, VERSION};

/// The report.
pub fn json(run: &Run) -> String {
    let mut text = serde_json::to_string_pretty(run).expect("a run is plain data");
    text.push('\n');
    text
}

/// The JSON Schema of the report, made from the data itself. It forbids nothing
/// that is not there: what is added later is no breach of it.
pub fn schema() -> Value {
    let mut schema = schemars::schema_for!(Run).to_value();
    schema["title"] = "A run of spar test".into();
    schema
}

/// Why a text is not a report that can be read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ReadError {
    /// It is no JSON.
    #[error("{line}:{column}: this is no JSON: {why}")]
    NoJson {
        /// The line, from 1.
        line: usize,
        /// The column in it.
        column: usize,
        /// What is wrong.
        why: String,
    },
    /// It is some other JSON.
    #[error("{line}:{column}: this is no report of `spar test --report json`: {why}")]
    NoReport {
        /// The line, from 1.
        line: usize,
        /// The column in it.
        column: usize,
        /// What is wrong.
        why: String,
    },
    /// It is the stream of events.
    #[error("this is a report of --report ndjson, and only those of --report json can be read")]
    Stream,
    /// A newer program wrote it.
    #[error(
        "this is a report of version {version}, and this program knows {VERSION}: a newer spar \
         wrote it"
    )]
    Newer {
        /// Its version.
        version: u64,
    },
}

impl ReadError {
    /// Whether it begins with a place in the text.
    pub fn has_place(&self) -> bool {
        matches!(self, ReadError::NoJson { .. } | ReadError::NoReport { .. })
    }
}

/// Reads a report. What it does not know is passed over.
///
/// # Errors
/// When it is none, or of a newer version.
pub fn read(text: &str) -> Result<Run, ReadError> {
    let first = text.lines().next().unwrap_or_default();
    if serde_json::from_str::<Event>(first).is_ok() {
        return Err(ReadError::Stream);
    }
    let _: IgnoredAny = serde_json::from_str(text).map_err(told)?;
    if !text.trim_start().starts_with('{') {
        let why = "it is no object".to_owned();
        return Err(ReadError::NoReport { line: 1, column: 1, why });
    }
    let Head { version } = serde_json::from_str(text).map_err(told)?;
    if version > u64::from(VERSION) {
        return Err(ReadError::Newer { version });
    }
    serde_json::from_str(text).map_err(told)
}

/// What is read first, since the rest may be of another version.
#[derive(Deserialize)]
struct Head {
    version: u64,
}

/// A line of the stream.
#[derive(Deserialize)]
struct Event {
    #[serde(rename = "event")]
    _event: String,
}

fn told(error: serde_json::Error) -> ReadError {
    let (line, column) = (error.line(), error.column());
    let why = error.to_string();
    // The place is told before.
    let why = why.split(" at line ").next().unwrap_or_default().to_owned();
    match error.is_data() {
        true => ReadError::NoReport { line, column, why },
        false => ReadError::NoJson { line, column, why },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;

    #[test]
    fn a_report_is_read_as_it_was_written() {
        let run = example::whole();
        assert_eq!(read(&json(&run)), Ok(run));
    }

    #[test]
    fn a_report_with_everything_fits_its_schema_and_uses_all_of_it() {
        let (schema, report) = (schema(), serde_json::to_value(example::whole()).unwrap());
        let validator = jsonschema::validator_for(&schema).unwrap();
        let wrong: Vec<String> =
            validator.iter_errors(&report).map(|error| error.to_string()).collect();
        assert!(wrong.is_empty(), "{wrong:#?}");
        let text = report.to_string();
        let named = |of: &Value| -> Vec<String> {
            of["properties"].as_object().into_iter().flat_map(|it| it.keys().cloned()).collect()
        };
        let defined = schema["$defs"].as_object().into_iter().flat_map(|it| it.values());
        for name in std::iter::once(&schema).chain(defined).flat_map(named) {
            assert!(text.contains(&format!("\"{name}\":")), "the report has no {name}");
        }
        let mut other = report;
        other["tests"][0]["outcome"] = "fine".into();
        assert!(!validator.is_valid(&other));
    }

    #[test]
    fn what_is_not_known_is_passed_over() {
        let mut report = serde_json::to_value(example::whole()).unwrap();
        report["later"] = 1.into();
        report["tests"][0]["frames"][0]["later"] = 1.into();
        assert_eq!(read(&report.to_string()), Ok(example::whole()));
    }

    #[test]
    fn what_is_no_report_is_told_with_its_place() {
        for (text, expected) in [
            ("", "1:0: this is no JSON: EOF while parsing a value"),
            ("{\n  \"a\": ]}", "2:8: this is no JSON: expected value"),
            ("[]", "1:1: this is no report of `spar test --report json`: it is no object"),
            ("{}", "1:2: this is no report of `spar test --report json`: missing field `version`"),
            (
                r#"{"version": 1, "spar": 7}"#,
                "1:24: this is no report of `spar test --report json`: invalid type: integer `7`, \
                 expected a string",
            ),
            (
                r#"{"version": 2}"#,
                "this is a report of version 2, and this program knows 1: a newer spar wrote it",
            ),
            (
                "{\"event\":\"run\"}\n{}",
                "this is a report of --report ndjson, and only those of --report json can be read",
            ),
        ] {
            assert_eq!(read(text).unwrap_err().to_string(), expected, "{text}");
        }
    }
}
