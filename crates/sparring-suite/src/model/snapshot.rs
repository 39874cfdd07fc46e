//! What of an answer is the same every time: all but what the user leaves out,
//! what the user replaces, and what is different by its nature.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use sparring_script::casing::camel;
use sparring_script::{GaveUp, Pattern};

/// What is different each time, and what stands instead of it.
static BY_NATURE: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rules = [
        (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "[uuid]"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "[time]"),
        (r"\b(127\.0\.0\.1|localhost|\[::1\]):\d+\b", "$1:[port]"),
    ];
    let compiled = rules.into_iter().filter_map(|(rule, by)| Some((Regex::new(rule).ok()?, by)));
    compiled.collect()
});

/// What a revision puts around every result.
const ENVELOPE: [&str; 2] = ["_meta", "resultType"];

/// What is not kept of an answer.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    /// Keys, wherever they stand; by our names or by those of the wire.
    pub(crate) without: Vec<String>,
    /// What the user replaces in texts.
    pub(crate) replace: Vec<(Pattern, String)>,
}

impl Rules {
    /// What is kept of an answer. Texts that are `folders` become `[tmp]`.
    ///
    /// # Errors
    /// When a pattern of the user takes too many steps.
    pub(crate) fn keep(&self, mut answer: Value, folders: &[String]) -> Result<Value, GaveUp> {
        if let Value::Object(result) = &mut answer {
            ENVELOPE.iter().for_each(|key| drop(result.shift_remove(*key)));
        }
        self.settle(&mut answer, folders)?;
        Ok(answer)
    }

    fn settle(&self, value: &mut Value, folders: &[String]) -> Result<(), GaveUp> {
        match value {
            Value::String(text) => {
                for folder in folders {
                    *text = text.replace(folder, "[tmp]");
                }
                for (rule, by) in &self.replace {
                    if let Cow::Owned(kept) = rule.replace_all(text, by)? {
                        *text = kept;
                    }
                }
                for (rule, by) in BY_NATURE.iter() {
                    if let Cow::Owned(kept) = rule.replace_all(text, *by) {
                        *text = kept;
                    }
                }
            }
            Value::Array(items) => {
                items.iter_mut().try_for_each(|it| self.settle(it, folders))?;
            }
            Value::Object(map) => {
                map.retain(|key, _| !self.without.iter().any(|it| it == key || camel(it) == *key));
                if map.contains_key("type") || map.contains_key("uri") {
                    map.entry("text").and_modify(unfold);
                }
                map.values_mut().try_for_each(|it| self.settle(it, folders))?;
            }
            _ => {}
        }
        Ok(())
    }
}

/// A text that is JSON is kept as what it says, so that keys can be left out of
/// it and a difference is small.
fn unfold(text: &mut Value) {
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
    fn what_is_different_each_time_is_not_kept() {
        let rules = Rules {
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
        let kept = rules.keep(answer, &["/tmp/x".to_owned()]).unwrap();
        assert_eq!(
            kept,
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
        let rules = Rules { without: Vec::new(), replace: vec![(slow, "x".to_owned())] };
        let error = rules.keep(json!(["a".repeat(50) + "!"]), &[]).unwrap_err();
        assert!(error.to_string().contains("/^(?:(?=a)a+)+$/"), "{error}");
    }

    #[test]
    fn all_rules_are_regular_expressions() {
        assert_eq!(BY_NATURE.len(), 3);
    }
}
