//! Walks the list of matchers: each has a case that passes if it is ignored, and fails because
//! it has an effect.

use sparring_script::matcher::MATCHER_NAMES;
use sparring_suite::Outcome;

use crate::fixture::{block_on, outcomes};

const MOCK: &str = "servers: {it: {mock: trainer.mock.yaml, timeout: 2s}}\n";
/// Each matcher with an operand that does not match `{"a": "text", "n": 3, "l": [1]}`.
const MATCHERS: [(&str, &str); 19] = [
    ("equals", "a: {equals: other}"),
    ("contains", "a: {contains: x-}"),
    ("matches", "a: {matches: ^b}"),
    ("starts_with", "a: {starts_with: b}"),
    ("ends_with", "a: {ends_with: b}"),
    ("one_of", "a: {one_of: [b, c]}"),
    ("all", "a: {all: [text, b]}"),
    ("any", "a: {any: [b, c]}"),
    ("not", "a: {not: text}"),
    ("exists", "a: {exists: false}"),
    ("is", "a: {is: integer}"),
    ("len", "a: {len: 3}"),
    ("gt", "n: {gt: 3}"),
    ("ge", "n: {ge: 4}"),
    ("lt", "n: {lt: 3}"),
    ("le", "n: {le: 2}"),
    ("every", "l: {every: 2}"),
    ("has", "l: {has: 2}"),
    ("conforms", "a: {conforms: {type: integer}}"),
];

/// Runs one test. Returns true if it passes.
#[track_caller]
fn passes(top: &str, test: &str) -> bool {
    let text = format!("{top}tests: [{{name: the effect of a key, {test}}}]\n");
    let (_, outcome) = block_on(outcomes(&text, false)).pop().unwrap();
    matches!(outcome, Some(Outcome::Passed))
}

#[test]
fn every_matcher_has_an_effect_and_is_refused_where_it_has_none() {
    let step = "call: echo, with: {message: '{\"a\": \"text\", \"n\": 3, \"l\": [1]}'}";
    assert!(passes(MOCK, &format!("{step}, expect: {{json: {{}}}}")));
    for name in MATCHER_NAMES {
        let case = MATCHERS.iter().find(|(known, _)| *known == name);
        let (_, matcher) = case.unwrap_or_else(|| panic!("no case for `{name}`"));
        let test = format!("{step}, expect: {{json: {{{matcher}}}}}");
        assert!(!passes(MOCK, &test), "`{name}` is ignored");
        // A misspelled matcher of a text is refused at every place.
        let test = format!("call: two, expect: {{text: {{not: {{{name}x: a}}}}}}");
        let text = format!("{MOCK}tests: [{{name: a, {test}}}]");
        let message = crate::fixture::read(&text).unwrap_err();
        assert!(message.contains(&format!("`{name}x` is not a matcher")), "{message}");
    }
}
