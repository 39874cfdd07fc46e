//! Directives in a text: `[test_case_id=…]` and `[mcp_responses_json=BASE64]`.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use regex::Regex;
use serde_json::Value;
use sparring_wire::json::parse_value;
use sparring_wire::{Json, JsonKind, RawJson};

use super::to_wire_response;

/// The maximum length of a case id; a longer one is ignored.
pub(super) const MAX_CASE_ID_BYTES: usize = 256;

/// The maximum number of responses of a case.
const MAX_RESPONSES: usize = 10_000;

static CASE_PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\[test_case_id=([\p{L}\p{M}\p{N}_.-]+)\]").expect("a built-in pattern is valid")
});
static RESPONSES_PATTERN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\[mcp_responses_json=([^\]]*)\]").expect("a built-in pattern is valid")
});

/// The directives of a text.
pub(super) struct Directives<'a> {
    pub(super) case: Option<&'a str>,
    pub(super) responses: Option<&'a str>,
}

impl<'a> Directives<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let first = |pattern: &Regex| Some(pattern.captures(text)?.get(1)?.as_str());
        let case = first(&CASE_PATTERN).filter(|case| case.len() <= MAX_CASE_ID_BYTES);
        Directives { case, responses: first(&RESPONSES_PATTERN) }
    }
}

/// Returns the test case id that a text contains.
#[cfg(feature = "llm")]
pub(crate) fn find_case_id(text: &str) -> Option<&str> {
    Directives::parse(text).case
}

/// Decodes the responses of a directive.
pub(super) fn decode_responses(encoded: &str) -> Result<Vec<RawJson>, String> {
    let directive = "[mcp_responses_json=…]";
    let bytes = STANDARD
        .decode(encoded.trim())
        .map_err(|error| format!("{directive} is not Base64: {error}"))?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{directive} is not UTF-8"))?;
    let responses =
        RawJson::parse(&text).map_err(|error| format!("{directive} is not JSON: {error}"))?;
    if responses.view().kind() != JsonKind::Array {
        return Err(format!("{directive} is not a list of responses"));
    }
    // Before they are parsed one by one, since a small map takes much more memory than text.
    let responses: Vec<Json<'_>> = responses.view().items().take(MAX_RESPONSES + 1).collect();
    if responses.len() > MAX_RESPONSES {
        return Err(format!("{directive} has more than {MAX_RESPONSES} responses"));
    }
    if let Some(at) = responses.iter().position(|response| !response.is_object()) {
        return Err(format!("{directive}: response {} is not a map", at + 1));
    }
    let parsed = responses.into_iter().map(|response| parse_value(response.bytes()));
    let parsed = parsed.collect::<Result<Vec<Value>, _>>();
    let parsed = parsed.map_err(|error| format!("{directive} is not JSON: {error}"))?;
    Ok(parsed.into_iter().map(to_wire_response).collect())
}

/// Renders the directives that a runner puts into the input of an agent, for a case and its
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
        let found = Directives::parse(&text);
        assert_eq!(found.case, Some("a.b-c_1"));
        let responses = decode_responses(found.responses.unwrap()).unwrap();
        assert_eq!(responses[0].text(), r#"{"mimeType":1}"#);
        assert!(Directives::parse("[test_case_id=]").case.is_none());
        assert!(Directives::parse("[test_case_id=a b]").case.is_none());
        let of_length = |length| format!("[test_case_id={}]", "a".repeat(length));
        assert!(Directives::parse(&of_length(MAX_CASE_ID_BYTES)).case.is_some());
        assert!(Directives::parse(&of_length(MAX_CASE_ID_BYTES + 1)).case.is_none());
        assert_eq!(Directives::parse("[test_case_id=a\u{e9}]").case, Some("a\u{e9}"));
    }

    #[test]
    fn reports_unreadable_responses() {
        let encoded = |text: &str| STANDARD.encode(text);
        for (directive, why) in [
            ("%%%".to_owned(), "not Base64"),
            (encoded("[1"), "not JSON"),
            (encoded("{}"), "not a list"),
            (encoded("[{}, 1]"), "response 2 is not a map"),
            (
                encoded(&format!("[{}{{}}]", "{},".repeat(MAX_RESPONSES))),
                "more than 10000 responses",
            ),
            (STANDARD.encode(b"[\"\xff\"]"), "not UTF-8"),
        ] {
            let error = decode_responses(&directive).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
    }
}
