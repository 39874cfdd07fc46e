//! Parsers of argument values: `key=string`, `key:=json`, durations and addresses.

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use sparring_wire::RawJson;

use crate::command_error::CommandError;

/// One named value, as JSON in its original spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct KeyValue {
    pub(crate) key: String,
    pub(crate) value: RawJson,
}

/// Parses `key=string` or `key:=json`.
pub(crate) fn parse_key_value(text: &str) -> Result<KeyValue, String> {
    let (key, value) = split_at_equals(text)?;
    let (key, value) = match key.strip_suffix(':') {
        None => (key, RawJson::string(value)),
        Some(key) => {
            let value = RawJson::parse(value).map_err(|error| format!("{key}: {error}"))?;
            let value = super::text_source::to_one_line(&value);
            (key, value)
        }
    };
    with_key(key, value)
}

/// Parses `key=string`, where only strings are allowed.
pub(crate) fn parse_key_string(text: &str) -> Result<KeyValue, String> {
    let (key, value) = split_at_equals(text)?;
    if key.ends_with(':') {
        return Err("expected KEY=VALUE; the value is always a string here".to_owned());
    }
    with_key(key, RawJson::string(value))
}

/// Parses `NAME=value` of an environment variable.
pub(crate) fn parse_variable(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// Builds one object from the pairs and `rest`. A pair replaces the member of `rest` with
/// the same key.
///
/// # Errors
/// When two pairs have the same key.
pub(crate) fn build_object(
    pairs: &[KeyValue],
    rest: Option<&RawJson>,
) -> Result<RawJson, CommandError> {
    let mut keys = HashSet::new();
    if let Some(pair) = pairs.iter().find(|pair| !keys.insert(&*pair.key)) {
        return Err(CommandError::Usage(format!("the argument `{}` is given twice", pair.key)));
    }
    let set = |object: RawJson, pair: &KeyValue| object.with_member(&pair.key, pair.value.view());
    Ok(pairs.iter().fold(rest.cloned().unwrap_or_else(RawJson::empty_object), set))
}

fn split_at_equals(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=').ok_or_else(|| {
        "expected KEY=STRING or KEY:=JSON (put the server's command after --)".to_owned()
    })
}

fn with_key(key: &str, value: RawJson) -> Result<KeyValue, String> {
    match key {
        "" => Err("the key is missing".to_owned()),
        key => Ok(KeyValue { key: key.to_owned(), value }),
    }
}

/// The longest duration that a flag accepts.
const MAX_DURATION: Duration = Duration::from_secs(24 * 60 * 60);

/// Parses a duration as in files, with units in any case, within the limits of a flag.
pub(crate) fn parse_duration(text: &str) -> Result<Duration, String> {
    match sparring_script::parse_duration(&text.to_ascii_lowercase())? {
        Duration::ZERO => Err("a duration must be longer than zero".to_owned()),
        time if time > MAX_DURATION => Err("longer than the maximum of 24h".to_owned()),
        time => Ok(time),
    }
}

/// Parses the address of a server: `3911`, `:3911` and `localhost:3911` are a port of this
/// machine that other machines cannot reach; otherwise an IP address with a port.
pub(crate) fn parse_listen_address(text: &str) -> Result<SocketAddr, String> {
    let port = match text.split_once(':') {
        None => Some(text),
        Some(("" | "localhost", port)) => Some(port),
        Some(_) => None,
    };
    match port.map(str::parse::<u16>) {
        Some(Ok(port)) => Ok((Ipv4Addr::LOCALHOST, port).into()),
        _ => text.parse().map_err(|_| "expected PORT, localhost:PORT or IP:PORT".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_one_of_this_machine() {
        for (text, expected) in [
            ("3911", "127.0.0.1:3911"),
            (":3911", "127.0.0.1:3911"),
            ("localhost:3911", "127.0.0.1:3911"),
            ("0.0.0.0:80", "0.0.0.0:80"),
            ("[::1]:80", "[::1]:80"),
        ] {
            assert_eq!(parse_listen_address(text), Ok(expected.parse().unwrap()), "{text}");
        }
        for wrong in ["", "localhost", "127.0.0.1", "::1", "70000", "example.com:80"] {
            assert!(parse_listen_address(wrong).is_err(), "{wrong}");
        }
    }

    fn check(text: &str, key: &str, value: &str) {
        let pair = parse_key_value(text).unwrap();
        assert_eq!((&*pair.key, pair.value.text()), (key, value), "{text}");
    }

    #[test]
    fn strings_stay_strings_and_json_keeps_its_spelling() {
        check("a=1", "a", "\"1\"");
        check("a=b=c", "a", "\"b=c\"");
        check("a=", "a", "\"\"");
        check("a:=1.50", "a", "1.50");
        check("a:={\"b\": [2]}", "a", "{\"b\": [2]}");
        check("a:=12345678901234567890123", "a", "12345678901234567890123");
    }

    #[test]
    fn refuses_text_that_is_not_a_pair() {
        for wrong in ["", "a", "=1", ":=1", "a:=", "a:={", "a:=x"] {
            assert!(parse_key_value(wrong).is_err(), "{wrong}");
        }
        assert!(parse_key_string("a:=1").is_err());
        assert!(parse_variable("=x").is_none() && parse_variable("x").is_none());
    }

    #[test]
    fn pairs_replace_members_of_the_object() {
        let rest = RawJson::parse(r#"{"a":1,"b":2}"#).unwrap();
        let pairs = [parse_key_value("b:=3").unwrap(), parse_key_value("c=x").unwrap()];
        let built = build_object(&pairs, Some(&rest)).unwrap();
        assert_eq!(built.text(), r#"{"a":1,"b":3,"c":"x"}"#);
    }

    #[test]
    fn parses_durations_within_the_limits_of_a_flag() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("1.5S"), Ok(Duration::from_millis(1_500)));
        assert_eq!(parse_duration("24h"), Ok(MAX_DURATION));
        for wrong in ["", "5", "-1s", "0s", "25h", "99999999999999999999s"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
