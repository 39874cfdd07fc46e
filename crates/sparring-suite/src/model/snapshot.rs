//! What of an answer is the same every time: all but what the user leaves out,
//! what the user replaces, and what is different by its nature.

use std::borrow::Cow;
use std::sync::LazyLock;

use serde_json::Value;
use sparring_pattern::Pattern;
use sparring_script::casing::camel;

/// What is different each time, and what stands instead of it.
static BY_NATURE: LazyLock<Vec<(Pattern, &str)>> = LazyLock::new(|| {
    let rules = [
        (r"(?i)\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "[uuid]"),
        (r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:?\d\d)?", "[time]"),
        (r"\b(127\.0\.0\.1|localhost|\[::1\]):\d+\b", "$1:[port]"),
    ];
    let compiled = rules.into_iter().filter_map(|(rule, by)| Some((Pattern::new(rule).ok()?, by)));
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
    /// What is kept of an answer. Texts that are `folders` are told as `[tmp]`.
    pub(crate) fn keep(&self, mut answer: Value, folders: &[String]) -> Value {
        if let Value::Object(result) = &mut answer {
            ENVELOPE.iter().for_each(|key| drop(result.shift_remove(*key)));
        }
        self.settle(&mut answer, folders);
        answer
    }

    fn settle(&self, value: &mut Value, folders: &[String]) {
        match value {
            Value::String(text) => {
                for folder in folders {
                    *text = text.replace(folder, "[tmp]");
                }
                let own = self.replace.iter().map(|(rule, by)| (rule, &**by));
                let by_nature = BY_NATURE.iter().map(|(rule, by)| (rule, *by));
                for (rule, by) in own.chain(by_nature) {
                    // What takes too long stays as it is, and so is seen.
                    if let Some(Cow::Owned(kept)) = rule.replace_all(text, by) {
                        *text = kept;
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|it| self.settle(it, folders)),
            Value::Object(map) => {
                map.retain(|key, _| !self.without.iter().any(|it| it == key || camel(it) == *key));
                if map.contains_key("type") || map.contains_key("uri") {
                    map.entry("text").and_modify(unfold);
                }
                map.values_mut().for_each(|it| self.settle(it, folders));
            }
            _ => {}
        }
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
        let kept = rules.keep(answer, &["/tmp/x".to_owned()]);
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
    fn all_rules_are_regular_expressions() {
        assert_eq!(BY_NATURE.len(), 3);
    }
}
