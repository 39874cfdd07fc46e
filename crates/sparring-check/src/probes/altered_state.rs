//! Alters a `requestState` in ways that a verified state does not survive, and that a state
//! without verification may.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use serde_json::Value;

/// Returns different alterations of a state.
pub(super) fn altered_states(state: &str) -> Vec<String> {
    let mut altered = Vec::new();
    let parts: Vec<&str> = state.split('.').collect();
    let mut add = |text: Option<String>| {
        if let Some(text) = text.filter(|it| it != state && !altered.contains(it)) {
            altered.push(text);
        }
    };
    let with_part = |index: usize, part: String| {
        let mut parts: Vec<&str> = parts.clone();
        parts[index] = &part;
        parts.join(".")
    };
    // The last part is often the signature.
    for (index, part) in parts.iter().enumerate().rev() {
        add(alter_json(part).map(|part| with_part(index, part)));
        add(alter_character(part, part.len() / 2).map(|part| with_part(index, part)));
    }
    add(alter_character(state, state.len() / 4));
    add(alter_character(state, state.len() * 3 / 4));
    if let Some((payload, signature)) = state.rsplit_once(['.', ':', '|']) {
        add((!signature.is_empty()).then(|| payload.to_owned()));
        // The signature is empty, and the separator stays.
        add(state.strip_suffix(signature).map(str::to_owned));
    }
    altered
}

/// Replaces the character at a position by another of the same kind. The last character is
/// never replaced: in base64 it can have bits without a meaning.
fn alter_character(text: &str, position: usize) -> Option<String> {
    let last = text.len().checked_sub(2)?;
    let start = position.min(last);
    let at = (start..=last).chain(0..start).find(|at| text.as_bytes()[*at].is_ascii_alphanumeric());
    let mut bytes = text.as_bytes().to_vec();
    let byte = bytes.get_mut(at?)?;
    *byte = match *byte {
        b'9' => b'8',
        // Stays a hexadecimal digit.
        b'f' => b'e',
        b'F' => b'E',
        b'z' => b'y',
        b'Z' => b'Y',
        other => other + 1,
    };
    String::from_utf8(bytes).ok()
}

/// Changes the values of a state that is JSON, or JSON in base64.
fn alter_json(text: &str) -> Option<String> {
    let parse = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok().filter(Value::is_object);
    if let Some(mut value) = parse(text.as_bytes()) {
        alter_values(&mut value);
        return Some(value.to_string());
    }
    for engine in [URL_SAFE_NO_PAD, STANDARD_NO_PAD, URL_SAFE, STANDARD] {
        let decoded = engine.decode(text).ok();
        if let Some(mut value) = decoded.and_then(|bytes| parse(&bytes)) {
            alter_values(&mut value);
            return Some(engine.encode(value.to_string()));
        }
    }
    None
}

/// Changes each text and number of a value, and keeps its structure.
fn alter_values(value: &mut Value) {
    match value {
        Value::String(text) => {
            *text = alter_character(text, text.len() / 2).unwrap_or_else(|| format!("{text}x"));
        }
        Value::Number(number) => {
            if let Some(larger) = number.as_i64().and_then(|it| it.checked_add(1)) {
                *value = larger.into();
            }
        }
        Value::Bool(flag) => *flag = !*flag,
        Value::Array(items) => items.iter_mut().for_each(alter_values),
        Value::Object(members) => members.values_mut().for_each(alter_values),
        Value::Null => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alters_every_part_of_a_signed_state() {
        let payload = URL_SAFE_NO_PAD.encode(r#"{"step":1,"user":"ann"}"#);
        let state = format!("{payload}.c2lnbmF0dXJl");
        let altered = altered_states(&state);
        assert!(altered.iter().all(|it| *it != state), "{altered:?}");
        let other_payload = URL_SAFE_NO_PAD.encode(r#"{"step":2,"user":"aon"}"#);
        assert!(altered.contains(&format!("{other_payload}.c2lnbmF0dXJl")), "{altered:?}");
        assert!(altered.iter().any(|it| it.starts_with(&payload) && it.contains('.')));
        assert!(altered.contains(&payload));
        assert!(altered.contains(&format!("{payload}.")), "{altered:?}");
    }

    #[test]
    fn alters_short_and_plain_states() {
        assert_eq!(altered_states(""), Vec::<String>::new());
        assert!(!altered_states("step-1").is_empty());
        assert!(!altered_states("d0f3").is_empty());
    }
}
