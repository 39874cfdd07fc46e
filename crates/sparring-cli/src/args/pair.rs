//! Arguments of tools and prompts: `key=string` and `key:=json`.

use sparring_wire::RawJson;

/// One named value, as JSON in the spelling of whoever gave it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) key: String,
    pub(crate) value: RawJson,
}

/// Reads `key=string` or `key:=json`.
pub(crate) fn any(text: &str) -> Result<Pair, String> {
    let (key, value) = split(text)?;
    let (key, value) = match key.strip_suffix(':') {
        None => (key, RawJson::string(value)),
        Some(key) => {
            let value = RawJson::parse(value).map_err(|error| format!("{key}: {error}"))?;
            let value = super::given::one_line(&value);
            (key, value)
        }
    };
    named(key, value)
}

/// Reads `key=string`, where only strings have a meaning.
pub(crate) fn string(text: &str) -> Result<Pair, String> {
    let (key, value) = split(text)?;
    if key.ends_with(':') {
        return Err("the value is always a string here; write KEY=VALUE".to_owned());
    }
    named(key, RawJson::string(value))
}

/// Reads `NAME=value` of the environment.
pub(crate) fn variable(text: &str) -> Option<(String, String)> {
    let (name, value) = text.split_once('=')?;
    (!name.is_empty()).then(|| (name.to_owned(), value.to_owned()))
}

/// One object of all of them, and of what else it shall have. A key of its own
/// stands before one of `rest`.
pub(crate) fn object(pairs: &[Pair], rest: Option<&RawJson>) -> RawJson {
    let set = |object: RawJson, pair: &Pair| object.with_member(&pair.key, pair.value.view());
    pairs.iter().fold(rest.cloned().unwrap_or_else(RawJson::empty_object), set)
}

fn split(text: &str) -> Result<(&str, &str), String> {
    text.split_once('=').ok_or_else(|| {
        "write KEY=STRING or KEY:=JSON, and the server's command after --".to_owned()
    })
}

fn named(key: &str, value: RawJson) -> Result<Pair, String> {
    match key {
        "" => Err("the key is missing".to_owned()),
        key => Ok(Pair { key: key.to_owned(), value }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, key: &str, value: &str) {
        let pair = any(text).unwrap();
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
    fn what_is_no_pair_is_refused() {
        for wrong in ["", "a", "=1", ":=1", "a:=", "a:={", "a:=x"] {
            assert!(any(wrong).is_err(), "{wrong}");
        }
        assert!(string("a:=1").is_err());
        assert!(variable("=x").is_none() && variable("x").is_none());
    }

    #[test]
    fn pairs_replace_what_the_object_has() {
        let rest = RawJson::parse(r#"{"a":1,"b":2}"#).unwrap();
        let pairs = [any("b:=3").unwrap(), any("c=x").unwrap()];
        assert_eq!(object(&pairs, Some(&rest)).text(), r#"{"a":1,"b":3,"c":"x"}"#);
    }
}
