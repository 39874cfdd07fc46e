//! Parses YAML scalars by the core schema of YAML 1.2, in which only `true` and `false`
//! are booleans.

use std::borrow::Cow;

use granit_parser::{ScalarStyle, Tag};
use serde_json::Number;

use super::NodeKind;

/// The prefix of the tags that YAML defines.
const YAML_TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// Parses a scalar.
///
/// # Errors
/// Returns a message if the text does not match its tag, or has no equivalent in JSON.
pub(super) fn parse_scalar(
    text: Cow<'_, str>,
    style: ScalarStyle,
    tag: Option<&Tag>,
) -> Result<NodeKind, String> {
    let tag_name = tag.and_then(|tag| tag.suffix_in_namespace(YAML_TAG_PREFIX));
    let not = |what: &str| format!("`{text}` is not {what}");
    Ok(match tag_name.as_deref() {
        Some("null") => NodeKind::Null,
        Some("bool") => NodeKind::Bool(
            parse_boolean(trim_yaml_whitespace(&text)).ok_or_else(|| not("a boolean"))?,
        ),
        Some("int") => NodeKind::Number(
            parse_integer(trim_yaml_whitespace(&text)).ok_or_else(|| not("an integer"))?,
        ),
        Some("float") => NodeKind::Number(
            parse_float(trim_yaml_whitespace(&text))?.ok_or_else(|| not("a number"))?,
        ),
        Some("binary") => return Err("`!!binary` is not supported".to_owned()),
        Some("str") => NodeKind::String(text.into_owned()),
        _ if style != ScalarStyle::Plain || tag.is_some_and(is_non_specific) => {
            NodeKind::String(text.into_owned())
        }
        _ => parse_plain(text)?,
    })
}

/// Returns true if a tag is `!`, which makes any scalar a string.
fn is_non_specific(tag: &Tag) -> bool {
    tag.handle().is_empty() && tag.suffix() == "!" || tag.handle() == "!" && tag.suffix().is_empty()
}

fn parse_plain(text: Cow<'_, str>) -> Result<NodeKind, String> {
    let trimmed = trim_yaml_whitespace(&text);
    if trimmed.is_empty() || trimmed == "~" || trimmed.eq_ignore_ascii_case("null") {
        return Ok(NodeKind::Null);
    }
    if let Some(value) = parse_boolean(trimmed) {
        return Ok(NodeKind::Bool(value));
    }
    if let Some(number) = parse_integer(trimmed) {
        return Ok(NodeKind::Number(number));
    }
    if let Some(number) = parse_float(trimmed)? {
        return Ok(NodeKind::Number(number));
    }
    Ok(NodeKind::String(text.into_owned()))
}

/// Trims the white space of YAML; any other white space belongs to the text.
fn trim_yaml_whitespace(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

fn parse_boolean(text: &str) -> Option<bool> {
    match text {
        _ if text.eq_ignore_ascii_case("true") => Some(true),
        _ if text.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

fn parse_integer(text: &str) -> Option<Number> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x" | "0X") => (16, &digits[2..]),
        Some("0o" | "0O") => (8, &digits[2..]),
        Some("0b" | "0B") => (2, &digits[2..]),
        _ if digits.len() > 1 && digits.starts_with('0') => return None,
        _ => (10, digits),
    };
    // A single underscore may separate digits.
    let is_separated = digits.split('_').all(|part| !part.is_empty());
    let is_alphanumeric = digits.bytes().all(|byte| byte == b'_' || byte.is_ascii_alphanumeric());
    if !is_separated || !is_alphanumeric {
        return None;
    }
    let value = i128::from_str_radix(&digits.replace('_', ""), radix).ok()?;
    match negative {
        true => i64::try_from(-value).ok().map(Number::from),
        false => u64::try_from(value).ok().map(Number::from),
    }
}

/// Parses a number with a fraction or an exponent.
///
/// # Errors
/// Returns a message if JSON has no such number.
fn parse_float(text: &str) -> Result<Option<Number>, String> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let lower = unsigned.to_ascii_lowercase();
    let named = lower == ".inf" || lower == ".nan";
    // Rust also parses `inf` and `nan`, which are strings in YAML.
    let numeral = unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.');
    let value = text.parse::<f64>().ok().filter(|_| numeral);
    match value.map(Number::from_f64) {
        Some(Some(number)) => Ok(Some(number)),
        None if !named => Ok(None),
        _ => Err(format!("`{text}` has no equivalent in JSON")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::{Node, Source};

    fn parse(text: &str) -> Value {
        let node = Node::parse(&Source::new("a.yaml", format!("v: {text}\n"))).unwrap();
        node.get("v").unwrap().to_json()
    }

    #[test]
    fn numbers_follow_the_core_schema() {
        for (text, value) in [
            ("+12", json!(12)),
            ("-0", json!(0)),
            ("1_000", json!(1000)),
            ("0x1F", json!(31)),
            ("-0o17", json!(-15)),
            ("0b101", json!(5)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("18446744073709551616", json!(18446744073709551616.0)),
            ("1e3", json!(1000.0)),
            (".5", json!(0.5)),
            ("5.", json!(5.0)),
            ("007", json!(7.0)),
        ] {
            assert_eq!(parse(text), value, "{text}");
        }
    }

    #[test]
    fn a_malformed_number_is_a_string() {
        for text in ["1__0", "_1", "1_", "0x", "0xG", "+", ".", "inf", "nan", "1:30", "1 2"] {
            assert_eq!(parse(text), json!(text), "{text}");
        }
    }

    #[test]
    fn tags_select_the_type() {
        for (text, value) in [
            ("!!str 1", json!("1")),
            ("! 1", json!("1")),
            ("!!int \"7\"", json!(7)),
            ("!!float 7", json!(7.0)),
            ("!!bool \"TRUE\"", json!(true)),
            ("!!null x", json!(null)),
            ("!own 1", json!(1)),
        ] {
            assert_eq!(parse(text), value, "{text}");
        }
        for wrong in ["!!int x", "!!bool yes", "!!float x", "!!binary aGk=", "1e999", "-.Inf"] {
            let source = Source::new("a.yaml", format!("v: {wrong}\n"));
            let message = Node::parse(&source).unwrap_err().to_string();
            assert!(message.contains("invalid YAML"), "{wrong}: {message}");
        }
    }
}
