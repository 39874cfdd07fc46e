//! Converts SQLite's values to JSON and back.
//!
//! A value that JSON cannot express, or that many JSON parsers would round, becomes an
//! object with one member that names its type: `{"blob": "AP8="}` in Base64,
//! `{"integer": "9007199254740993"}`, `{"real": "Infinity"}`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rusqlite::types::{Value as Sql, ValueRef};
use serde_json::{Value, json};

/// The largest integer that JavaScript's numbers represent exactly.
const MAX_EXACT_INTEGER: u64 = (1 << 53) - 1;

/// Converts a value to JSON, with its approximate size in bytes.
pub(super) fn to_json(value: ValueRef<'_>) -> (Value, usize) {
    match value {
        ValueRef::Null => (Value::Null, 4),
        ValueRef::Integer(number) => (integer(number), 36),
        ValueRef::Real(number) if number.is_finite() => (number.into(), 20),
        ValueRef::Real(number) => {
            let sign = if number < 0.0 { "-" } else { "" };
            (json!({"real": format!("{sign}Infinity")}), 24)
        }
        ValueRef::Text(text) => match std::str::from_utf8(text) {
            Ok(text) => (text.into(), text.len() + 2),
            // SQLite does not validate text, so it may not be UTF-8.
            Err(_) => blob(text),
        },
        ValueRef::Blob(bytes) => blob(bytes),
    }
}

/// Converts an integer to JSON.
pub(crate) fn integer(number: i64) -> Value {
    match number.unsigned_abs() <= MAX_EXACT_INTEGER {
        true => number.into(),
        false => json!({"integer": number.to_string()}),
    }
}

fn blob(bytes: &[u8]) -> (Value, usize) {
    let text = STANDARD.encode(bytes);
    let size = text.len() + 12;
    (json!({"blob": text}), size)
}

/// Converts a JSON value to a parameter.
///
/// # Errors
/// If the value has no SQLite type; the message lists the accepted values.
pub(super) fn from_json(value: &Value) -> Result<Sql, String> {
    match value {
        Value::Null => Ok(Sql::Null),
        Value::Bool(yes) => Ok(Sql::Integer((*yes).into())),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) => Ok(Sql::Integer(integer)),
            (None, Some(real)) if number.is_f64() => Ok(Sql::Real(real)),
            _ => Err(format!("{number} is larger than an integer of 64 bits can be")),
        },
        Value::String(text) => Ok(Sql::Text(text.clone())),
        Value::Object(members) if members.len() == 1 => from_object(value)
            .ok_or_else(|| format!("{value} is neither a blob, an integer nor a real number")),
        _ => Err(format!(
            "{value} is not a value; expected null, a boolean, a number, a string, \
             {{\"blob\": BASE64}} or {{\"integer\": DIGITS}}"
        )),
    }
}

fn from_object(value: &Value) -> Option<Sql> {
    let text = |name: &str| value.get(name).and_then(Value::as_str);
    if let Some(blob) = text("blob") {
        return STANDARD.decode(blob).ok().map(Sql::Blob);
    }
    if let Some(digits) = text("integer") {
        return digits.parse().ok().map(Sql::Integer);
    }
    match text("real")? {
        "Infinity" => Some(Sql::Real(f64::INFINITY)),
        "-Infinity" => Some(Sql::Real(f64::NEG_INFINITY)),
        _ => None,
    }
}

/// The JSON Schema of a value in a result.
pub(crate) fn schema() -> Value {
    let object = |name: &str| {
        json!({"type": "object", "properties": {name: {"type": "string"}},
               "required": [name], "additionalProperties": false})
    };
    let mut kinds = vec![json!({"type": ["null", "number", "string"]})];
    kinds.extend(["blob", "integer", "real"].map(object));
    json!({"anyOf": kinds})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_survive_a_round_trip() {
        for value in [
            Sql::Null,
            Sql::Integer(9_007_199_254_740_991),
            Sql::Integer(9_007_199_254_740_993),
            Sql::Integer(i64::MIN),
            Sql::Real(1.5),
            Sql::Real(f64::NEG_INFINITY),
            Sql::Text("naïve \"quotes\"".to_owned()),
            Sql::Blob(vec![0, 255]),
        ] {
            let (json, _) = to_json(ValueRef::from(&value));
            assert_eq!(from_json(&json), Ok(value), "{json}");
        }
        let (json, _) = to_json(ValueRef::Text(b"a\xff"));
        assert_eq!(json, json!({"blob": "Yf8="}));
    }

    #[test]
    fn rejects_json_that_is_not_a_value() {
        for (value, expected) in [
            (json!([1]), "[1] is not a value"),
            (json!({"blob": "%"}), "neither a blob"),
            (json!({"integer": "1.5"}), "neither a blob"),
            (json!(u64::MAX), "larger than an integer of 64 bits"),
        ] {
            let error = from_json(&value).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
