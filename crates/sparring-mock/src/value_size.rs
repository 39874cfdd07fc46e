//! Estimates the memory that a JSON value takes, which can be many times the length of its text.

use serde_json::{Map, Value};

/// The memory of a member of a map beside its name and its value.
const MEMBER_BYTES: usize = 48;

/// Estimates the memory of a value in bytes.
pub(crate) fn value_size(value: &Value) -> usize {
    let mut size = 0;
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        size += size_of::<Value>();
        match value {
            Value::String(text) => size += text.len(),
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => {
                size += names_size(members);
                pending.extend(members.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    size
}

/// Estimates the memory of a map in bytes.
pub(crate) fn map_size(members: &Map<String, Value>) -> usize {
    names_size(members) + members.values().map(value_size).sum::<usize>()
}

fn names_size(members: &Map<String, Value>) -> usize {
    members.keys().map(|name| name.len() + MEMBER_BYTES).sum()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_more_than_the_text() {
        let value = json!({"a": vec![json!({}); 1_000], "b": "x".repeat(5_000)});
        let size = value_size(&value);
        assert!(size > 5_000 + 1_000 * size_of::<Value>(), "{size}");
        assert!(map_size(value.as_object().unwrap()) < size);
    }
}
