//! Removes the parts of an answer that differ between runs, before it becomes a snapshot.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use sparring_script::casing::to_camel_case;
use sparring_script::{BacktrackLimitExceeded, Pattern};

/// Values that differ between runs, and their replacements.
static VOLATILE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rules = [
        (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "[uuid]"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "[time]"),
        (r"\b(127\.0\.0\.1|localhost|\[::1\]):\d+\b", "$1:[port]"),
    ];
    let compiled = rules.into_iter().filter_map(|(rule, by)| Some((Regex::new(rule).ok()?, by)));
    compiled.collect()
});

/// Members that a revision adds to every result.
const ENVELOPE: [&str; 2] = ["_meta", "resultType"];

/// The rules of a snapshot.
#[derive(Debug, Clone, Default)]
pub(crate) struct SnapshotRules {
    /// Keys to remove at any depth, in snake_case or camelCase.
    pub(crate) without: Vec<String>,
    /// Replacements in strings.
    pub(crate) replace: Vec<(Pattern, String)>,
}

impl SnapshotRules {
    /// Applies the rules to an answer. Paths of `folders` become `[tmp]`.
    ///
    /// # Errors
    /// When a pattern takes too many steps.
    pub(crate) fn apply(
        &self,
        mut answer: Value,
        folders: &[String],
    ) -> Result<Value, BacktrackLimitExceeded> {
        if let Value::Object(result) = &mut answer {
            ENVELOPE.iter().for_each(|key| drop(result.shift_remove(*key)));
        }
        self.apply_to(&mut answer, folders)?;
        Ok(answer)
    }

    fn apply_to(
        &self,
        value: &mut Value,
        folders: &[String],
    ) -> Result<(), BacktrackLimitExceeded> {
        match value {
            Value::String(text) => {
                for folder in folders {
                    *text = text.replace(folder, "[tmp]");
                }
                for (rule, by) in &self.replace {
                    if let Cow::Owned(replaced) = rule.replace_all(text, by)? {
                        *text = replaced;
                    }
                }
                for (rule, by) in VOLATILE.iter() {
                    if let Cow::Owned(replaced) = rule.replace_all(text, *by) {
                        *text = replaced;
                    }
                }
            }
            Value::Array(items) => {
                items.iter_mut().try_for_each(|it| self.apply_to(it, folders))?;
            }
            Value::Object(map) => {
                map.retain(|key, _| {
                    !self.without.iter().any(|it| it == key || to_camel_case(it) == *key)
                });
                if map.contains_key("type") || map.contains_key("uri") {
                    map.entry("text").and_modify(parse_json_text);
                }
                map.values_mut().try_for_each(|it| self.apply_to(it, folders))?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// Parses a string that is JSON, so that its keys can be removed and diffs are small.
fn parse_json_text(text: &mut Value) {
    let read = text.as_str().and_then(|text| serde_json::from_str(text).ok());
    if let Some(read @ (Value::Object(_) | Value::Array(_))) = read {
        *text = read;
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn removes_what_differs_between_runs() {
        let rules = SnapshotRules {
            without: vec!["id".to_owned(), "my_key".to_owned()],
            replace: vec![(Pattern::new("(build) [0-9]+").unwrap(), "$1 [n]".to_owned())],
        };
        let answer = json!({
            "_meta": {"a": 1}, "resultType": "complete",
            "a": [{"id": 7, "myKey": 1, "at": "on 2026-07-28T10:00:00.5Z"}],
            "b": "/tmp/x/y of build 12", "c": "http://127.0.0.1:4711/a?b",
            "d": "6f1c2f7e-8a0b-4c3d-9e5f-001122334455.",
            "content": [{"type": "text", "text": "{\"id\": 1, \"e\": 2}"}],
        });
        let snapshot = rules.apply(answer, &["/tmp/x".to_owned()]).unwrap();
        assert_eq!(
            snapshot,
            json!({
                "a": [{"at": "on [time]"}], "b": "[tmp]/y of build [n]",
                "c": "http://127.0.0.1:[port]/a?b", "d": "[uuid].",
                "content": [{"type": "text", "text": {"e": 2}}],
            })
        );
    }

    #[test]
    fn a_replacement_that_takes_too_many_steps_is_an_error() {
        let slow = Pattern::new("^(?:(?=a)a+)+$").unwrap();
        let rules = SnapshotRules { without: Vec::new(), replace: vec![(slow, "x".to_owned())] };
        let error = rules.apply(json!(["a".repeat(50) + "!"]), &[]).unwrap_err();
        assert!(error.to_string().contains("/^(?:(?=a)a+)+$/"), "{error}");
    }

    #[test]
    fn all_patterns_compile() {
        assert_eq!(VOLATILE.len(), 3);
    }
}
