//! Directives in a text: `[test_case_id=…]` and `[mcp_responses_json=BASE64]`.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use serde_json::Value;
use sparring_wire::RawJson;
use sparring_wire::json::tree;

use super::wire;

static CASE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\[test_case_id=([\p{L}\p{M}\p{N}_.-]+)\]").expect("a pattern of our own")
});
static RESPONSES: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\[mcp_responses_json=([^\]]*)\]").expect("a pattern of our own"));

/// What a text says by directives.
pub(super) struct Directives<'a> {
    pub(super) case: Option<&'a str>,
    pub(super) responses: Option<&'a str>,
}

impl<'a> Directives<'a> {
    pub(super) fn find(text: &'a str) -> Self {
        let first = |pattern: &Regex| Some(pattern.captures(text)?.get(1)?.as_str());
        Directives { case: first(&CASE), responses: first(&RESPONSES) }
    }
}

/// The test case that a text names.
#[cfg(feature = "llm")]
pub(crate) fn case_of(text: &str) -> Option<&str> {
    Directives::find(text).case
}

/// The responses that a directive has.
pub(super) fn decode(encoded: &str) -> Result<Vec<RawJson>, String> {
    let directive = "[mcp_responses_json=…]";
    let bytes = STANDARD
        .decode(encoded.trim())
        .map_err(|error| format!("{directive} is no Base64: {error}"))?;
    let responses = tree(&bytes).map_err(|error| format!("{directive} has no JSON: {error}"))?;
    let Value::Array(responses) = responses else {
        return Err(format!("{directive} has no list of responses"));
    };
    if let Some(at) = responses.iter().position(|response| !response.is_object()) {
        return Err(format!("{directive}: response {} is no map", at + 1));
    }
    Ok(responses.into_iter().map(wire).collect())
}

/// The directives that a runner puts into an agent's input, for a case and its
/// responses.
pub fn directives(case: &str, responses: &Value) -> String {
    let encoded = STANDARD.encode(responses.to_string());
    format!("[test_case_id={case}] [mcp_responses_json={encoded}]")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn directives_are_found_anywhere_in_a_text() {
        let text = format!("please {} do it", directives("a.b-c_1", &json!([{"mime_type": 1}])));
        let found = Directives::find(&text);
        assert_eq!(found.case, Some("a.b-c_1"));
        let responses = decode(found.responses.unwrap()).unwrap();
        assert_eq!(responses[0].text(), r#"{"mimeType":1}"#);
        assert!(Directives::find("[test_case_id=]").case.is_none());
        assert!(Directives::find("[test_case_id=a b]").case.is_none());
        assert_eq!(Directives::find("[test_case_id=a\u{e9}]").case, Some("a\u{e9}"));
    }

    #[test]
    fn what_cannot_be_read_is_told() {
        let encoded = |text: &str| STANDARD.encode(text);
        for (directive, why) in [
            ("%%%".to_owned(), "no Base64"),
            (encoded("[1"), "no JSON"),
            (encoded("{}"), "no list"),
            (encoded("[{}, 1]"), "response 2 is no map"),
        ] {
            let told = decode(&directive).unwrap_err();
            assert!(told.contains(why), "{told}");
        }
    }
}
