//! Strategies for texts: patterns and formats, Unicode, control characters, syntax of other
//! languages, empty and long ones.

use proptest::collection::vec;
use proptest::prelude::Strategy;
use proptest::sample::select;
use proptest::strategy::{BoxedStrategy, Just, NewTree, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use sparring_script::sample::samples;

use super::optional::Optional;
use super::search::Search;

/// The length of a long text without a limit in its schema, in characters.
const LONG: u64 = 20_000;

/// The number of random characters of a text. Longer ones repeat one character.
const MAX_RANDOM: u64 = 1_000;

/// The characters of ordinary texts, the simplest first.
const ORDINARY: [&str; 12] = ["a", "b", "z", "A", "Z", "0", "9", " ", "-", "_", ".", "é"];

/// Emoji, some of several characters.
const EMOJI: [&str; 4] = ["😀", "🚀", "👍🏽", "👩‍👩‍👧"];

/// Letters and signs of many scripts, also such that change their length in another case.
const LETTERS: [&str; 10] =
    ["ü", "ß", "日本語", "ع", "e\u{301}", "İ", "\u{fb01}", "ǅ", "𝒳", "\u{10ffff}"];

/// Characters that cannot be seen or that control a terminal.
const CONTROLS: [&str; 10] = [
    "\n",
    "\t",
    "\r\n",
    "\u{0}",
    "\u{7}",
    "\u{1b}[0m",
    "\u{7f}",
    "\u{200b}",
    "\u{202e}",
    "\u{feff}",
];

/// Texts with a meaning in other languages.
const SYNTAX: [&str; 20] = [
    " ",
    "'",
    "\"",
    "\\",
    "%s",
    "${a}",
    "{{a}}",
    "{}",
    "[",
    "(",
    "<b>",
    "-1",
    "0",
    "null",
    "NaN",
    "true",
    "__proto__",
    "../..",
    "; ls",
    "a\\",
];

/// Returns the strategies for texts, the simplest first.
pub(super) fn texts(schema: &Map<String, Value>) -> Vec<BoxedStrategy<Value>> {
    let size = |key: &str| schema.get(key).and_then(Value::as_u64);
    let least = size("minLength").unwrap_or(0);
    if least > LONG {
        return Vec::new();
    }
    let most = size("maxLength").unwrap_or(LONG).clamp(least, LONG);
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        return of_pattern(schema, pattern);
    }
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let mut strategies = Vec::new();
    let known = texts_of_format(format);
    if !known.is_empty() {
        strategies.push(select(known.to_vec()).prop_map(|it| json!(it)).boxed());
        return strategies;
    }
    let short = |characters: &'static [&'static str], more: u64| {
        let shortest = least.max(1).min(most);
        let length = shortest as usize..=most.min(shortest + more) as usize;
        let texts = vec(select(characters.to_vec()), length);
        texts.prop_map(|parts| json!(parts.concat())).boxed()
    };
    if least <= MAX_RANDOM {
        strategies.push(short(&ORDINARY, 7));
        strategies.push(short(&LETTERS, 2));
        strategies.push(select(SYNTAX.to_vec()).prop_map(|it| json!(it)).boxed());
        strategies.push(short(&CONTROLS, 0));
        strategies.push(short(&EMOJI, 1));
    }
    let fits = |pieces: &[&str]| {
        let length: usize = pieces.iter().map(|it| it.chars().count()).sum();
        (least..=most).contains(&(length as u64))
    };
    let all = [&SYNTAX[..], &LETTERS, &CONTROLS].into_iter();
    strategies.extend(all.filter(|it| fits(it)).map(together));
    strategies.push(RepeatedText { text: "a", least, start: most }.boxed());
    if fits(&EMOJI) {
        strategies.push(together(&EMOJI));
    }
    if least == 0 {
        strategies.push(Just(json!("")).boxed());
    }
    strategies
}

/// Returns a strategy for one text of all these pieces. It shrinks to the guilty ones:
/// to the first of `pieces` if each of them is.
fn together(pieces: &[&'static str]) -> BoxedStrategy<Value> {
    let piece = |text: &&'static str| Optional {
        inner: Just(*text),
        is_always_present: true,
        is_required: false,
    };
    let pieces: Vec<_> = pieces.iter().rev().map(piece).collect();
    pieces.prop_map(|pieces| json!(pieces.into_iter().flatten().collect::<String>())).boxed()
}

fn of_pattern(schema: &Map<String, Value>, pattern: &str) -> Vec<BoxedStrategy<Value>> {
    let inner = pattern.strip_prefix('^').unwrap_or(pattern);
    let inner = match inner.strip_suffix('$') {
        Some(inner) if !inner.ends_with('\\') => inner,
        _ => inner,
    };
    // In the patterns of JSON Schema these classes are those of ASCII.
    let inner =
        inner.replace(r"\d", "[0-9]").replace(r"\w", "[A-Za-z0-9_]").replace(r"\s", "[ \t]");
    let sample = samples(&Value::Object(schema.clone()), false).values;
    let mut strategies = vec![select(sample).boxed()];
    if let Ok(texts) = string_regex(&inner) {
        strategies.push(texts.prop_map(|it| json!(it)).boxed());
    }
    strategies
}

/// Returns valid texts of a format, the simplest first.
fn texts_of_format(format: &str) -> &'static [&'static str] {
    match format {
        "date-time" => &[
            "2026-01-01T12:00:00Z",
            "2024-02-29T23:59:59.999999999+14:00",
            "0001-01-01T00:00:00Z",
            "9999-12-31T23:59:59-12:00",
        ],
        "date" => &["2026-01-01", "2024-02-29", "0001-01-01", "9999-12-31"],
        "time" => &["12:00:00Z", "00:00:00.000000001Z", "23:59:59+14:00"],
        "duration" => &["PT1M", "P1Y2M3DT4H5M6S", "P0D"],
        "email" | "idn-email" => {
            &["someone@example.com", "a.b+c@sub.example.co", "\"a b\"@example.com"]
        }
        "uri" | "iri" | "url" => &[
            "https://example.com/",
            "https://user@example.com:8443/a%20b?c=d&e=%F0%9F%98%80#f",
            "urn:example:a",
            "data:,a",
        ],
        "uri-reference" | "iri-reference" => &["https://example.com/", "/a?b#c", ""],
        "hostname" | "idn-hostname" => &["example.com", "a", "xn--bcher-kva.example"],
        "ipv4" => &["127.0.0.1", "0.0.0.0", "255.255.255.255"],
        "ipv6" => &["::1", "::", "fe80::ffff:127.0.0.1"],
        "uuid" => &[
            "00000000-0000-4000-8000-000000000000",
            "FFFFFFFF-FFFF-4FFF-BFFF-FFFFFFFFFFFF",
            "00000000-0000-0000-0000-000000000000",
        ],
        "json-pointer" => &["", "/a~1b/0"],
        "regex" => &["a", "^[a-z]+$", "(a+)+$"],
        "byte" => &["YQ==", ""],
        _ => &[],
    }
}

/// A text that is repeated. It shrinks to fewer repetitions.
#[derive(Debug, Clone)]
struct RepeatedText {
    text: &'static str,
    least: u64,
    start: u64,
}

#[derive(Debug, Clone)]
struct RepeatedTextTree {
    text: &'static str,
    count: Search,
}

impl Strategy for RepeatedText {
    type Tree = RepeatedTextTree;
    type Value = Value;

    fn new_tree(&self, _: &mut TestRunner) -> NewTree<Self> {
        Ok(RepeatedTextTree { text: self.text, count: Search::new(self.least, self.start) })
    }
}

impl ValueTree for RepeatedTextTree {
    type Value = Value;

    fn current(&self) -> Value {
        json!(self.text.repeat(self.count.current() as usize))
    }

    fn simplify(&mut self) -> bool {
        self.count.simplify()
    }

    fn complicate(&mut self) -> bool {
        self.count.complicate()
    }
}
