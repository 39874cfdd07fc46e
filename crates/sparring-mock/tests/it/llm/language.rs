//! LLM scripts: reported problems, schema and reference page.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;
use sparring_mock::LlmScript;
use sparring_script::{Node, Source, casing};

use crate::mutations::{keys, mutations, properties};

const EVERY_KEY: &str = include_str!("../../every_key.llm.yaml");
const PAGE: &str = "docs/llm-keys.md";

#[track_caller]
fn check(script: &str, place: &str, message: &str) {
    let reported = match LlmScript::from_yaml(script) {
        Ok(_) => panic!("{script}\nis taken for good"),
        Err(problems) => problems.to_string(),
    };
    assert!(reported.contains(message), "{message} is not in\n{reported}");
    assert!(reported.contains(&format!("llm.yaml:{place}\n")), "{place} is not in\n{reported}");
}

/// The position of an empty map in `openai: [{text: a, KEY: {}}]`.
fn empty_place(keys: &str) -> String {
    format!("1:{}", "openai: [{text: a, ".len() + keys.len() - 1)
}

#[test]
fn arguments_may_have_the_names_of_keys() {
    for with in ["{expect: a}", "{expect: {city: a}}", "{when: {user: a, day: b}}", "{text: a}"] {
        let script = format!("openai: [{{call: {{tool: a, with: {with}}}}}]");
        LlmScript::from_yaml(&script).unwrap_or_else(|problems| panic!("{problems}"));
    }
    let script = "openai: [{text: a, error: {status: 429}, usage: {input: 1}, stop: length}]";
    LlmScript::from_yaml(script).unwrap_or_else(|problems| panic!("{problems}"));
}

#[test]
fn reports_problems_with_their_position() {
    check("{}", "1:1", "give exactly one of `turns`, `openai`, `anthropic` and `gemini`");
    check(
        "openai: []\nanthropic: []",
        "1:1",
        "give exactly one of `turns`, `openai`, `anthropic` and `gemini`",
    );
    check(
        "openai: [{}]",
        "1:10",
        "the turn has no answer: give one of text, refusal, call, calls, error, fault",
    );
    check(
        "openai: [{text: a, call: {tool: b}, calls: []}]",
        "1:20",
        "give either `call` or `calls`",
    );
    check("openai: [{call: {with: {}}}]", "1:17", "missing key `tool` in a call");
    check(
        "openai: [{call: {tool: a, with: {}, arguments: x}}]",
        "1:37",
        "give either `arguments` or `with`",
    );
    check(
        "turns: [{call: {tool: {ends_with: a}, undeclared: true}}]",
        "1:23",
        "`undeclared` needs the name of the tool, not a matcher",
    );
    check(
        "turns: [{text: a, refusal: b}]",
        "1:19",
        "`refusal` cannot be used with `text`, `call` and `calls`",
    );
    check(
        "anthropic: [{error: {status: 400, code: x}}]",
        "1:35",
        "errors of Anthropic's API have no code",
    );
    for keys in ["expect: {}", "when: {}", "usage: {}"] {
        check(&format!("openai: [{{text: a, {keys}}}]"), &empty_place(keys), "the map is empty");
    }
    check(
        "openai: [{text: a, fault: {silent: false}}]",
        "1:20",
        "`fault` has no effect: it names no fault",
    );
    for key in ["usage: {input: 1}", "stop: length", "pace: 1s"] {
        let script = format!("openai: [{{error: {{status: 429}}, {key}}}]");
        check(&script, "1:33", "has no effect: an error without an answer has none");
    }
    check(
        "openai: [{text: a, error: {status: 429}, fault: {silent: true}}]",
        "1:20",
        "`error` has no effect: the fault prevents any answer",
    );
    check(
        "openai: [{call: {tool: a, with: {city: b, expect: {user: c}}}}]",
        "1:43",
        "`expect` is below `with`; move it to the turn",
    );
    check("openai: [{error: {status: 600}}]", "1:27", "an error status is at most 599");
    check(
        "openai: [{fault: {silent: true, slow: 1}}]",
        "1:18",
        "only one of disconnect, silent, slow",
    );
    check(
        "openai: [{text: a, fault: {bad_content_type: \"a\\nb\"}}]",
        "1:27",
        "`bad_content_type` is not a valid header value",
    );
    check("openai: [{text: a, repeat: always}, {text: b}]", "1:37", "this turn is never reached");
    check("openai: []\ncases: {\"a b\": []}", "2:9", "a case id can have only letters");
    check("openai: [{text: \"${lst.text}\"}]", "1:17", "${lst.text}: unknown name `lst`");
    check("openai: [{text: \"${vars.x}\"}]", "1:17", "${vars.x}: vars has no key `x`");
    check(
        "openai: [{expect: {user: \"${last.text}\"}, text: a}]",
        "1:26",
        "only `vars` can be used here",
    );
    check(
        "openai: [{expect: {user: {matches: \"(\"}}, text: a}]",
        "1:36",
        "invalid regular expression",
    );
    check(
        "openai: [{expect: {usr: a}, text: a}]",
        "1:20",
        "unknown key `usr` in an expectation of a request",
    );
}

#[test]
fn the_example_loads() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/agent.llm.yaml");
    let script = LlmScript::from_file(example, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(script.summary(), "openai, 2 turns, 3 cases");
}

fn value(script: &str) -> Value {
    Node::parse(&Source::new("a.yaml", script)).unwrap().to_json()
}

#[test]
fn schema_and_parser_know_the_same_keys() {
    let schema = jsonschema::validator_for(&sparring_mock::llm_schema()).unwrap();
    let script = value(EVERY_KEY);
    assert!(schema.is_valid(&script));
    LlmScript::from_yaml(EVERY_KEY).unwrap_or_else(|problems| panic!("{problems}"));
    let (mut used, mut known) = (BTreeSet::new(), BTreeSet::new());
    keys(&script, &mut used);
    properties(&sparring_mock::llm_schema(), &mut known);
    let untried: Vec<_> = known
        .iter()
        .filter(|key| casing::to_snake_case(key) == **key && !used.contains(*key))
        .collect();
    // A script can have only one API.
    assert_eq!(untried, ["anthropic", "gemini", "openai"]);
    let mut refused = 0;
    for (place, changed) in mutations(&script) {
        let by_schema = !schema.is_valid(&changed);
        let reported = LlmScript::from_yaml(&changed.to_string()).err().map(|it| it.to_string());
        assert!(!by_schema || reported.is_some(), "only the schema refuses {place}");
        let by_shape =
            reported.is_some_and(|it| it.contains("unknown key") || it.contains("is missing in a"));
        assert!(!by_shape || by_schema, "only the parser refuses {place}");
        refused += usize::from(by_schema);
    }
    assert!(refused > 40, "{refused}");
}

/// `SPAR_BLESS=1` rewrites the page.
#[test]
fn the_reference_page_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = sparring_mock::llm_reference();
    if std::env::var_os("SPAR_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{PAGE} is outdated; SPAR_BLESS=1 rewrites it");
}
