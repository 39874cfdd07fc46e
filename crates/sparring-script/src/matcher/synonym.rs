//! Words that people write instead of the name of a matcher.

use super::parse::MATCHER_NAMES;
use crate::node::{MapEntry, NodeKind};

/// The minimum length of a matcher's name whose misspellings are recognized. Words that
/// resemble a shorter name are ordinary keys, such as `note`, `hash` and `level`.
const MIN_MISSPELLED_CHARS: usize = 6;

/// The operands with which a word can stand for a matcher. With any other operand it is an
/// ordinary key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    Any,
    /// A number, or a matcher of one.
    Number,
    Text,
    List,
}

/// Words of other tools, and the matcher that each one stands for.
const SYNONYMS: [(&str, &str, Operand); 37] = [
    ("==", "equals", Operand::Any),
    ("!=", "not: {equals: …}", Operand::Any),
    (">", "gt", Operand::Any),
    (">=", "ge", Operand::Any),
    ("<", "lt", Operand::Any),
    ("<=", "le", Operand::Any),
    ("eq", "equals", Operand::Any),
    ("equal_to", "equals", Operand::Any),
    ("ne", "not: {equals: …}", Operand::Any),
    ("neq", "not: {equals: …}", Operand::Any),
    ("not_equal", "not: {equals: …}", Operand::Any),
    ("not_equals", "not: {equals: …}", Operand::Any),
    ("gte", "ge", Operand::Any),
    ("greater", "gt", Operand::Any),
    ("greater_than", "gt", Operand::Any),
    ("greater_or_equal", "ge", Operand::Any),
    ("greater_than_or_equal", "ge", Operand::Any),
    ("at_least", "ge", Operand::Any),
    ("lte", "le", Operand::Any),
    ("less", "lt", Operand::Any),
    ("less_than", "lt", Operand::Any),
    ("less_or_equal", "le", Operand::Any),
    ("less_than_or_equal", "le", Operand::Any),
    ("at_most", "le", Operand::Any),
    ("regex", "matches", Operand::Any),
    ("regexp", "matches", Operand::Any),
    ("match", "matches", Operand::Text),
    ("length", "len", Operand::Number),
    ("size", "len", Operand::Number),
    ("include", "contains", Operand::Any),
    ("includes", "contains", Operand::Any),
    ("not_contains", "not: {contains: …}", Operand::Any),
    ("lacks", "not: {has: …}", Operand::Any),
    ("begins_with", "starts_with", Operand::Any),
    ("in", "one_of", Operand::List),
    ("any_of", "any", Operand::List),
    ("all_of", "all", Operand::List),
];

/// Returns the matcher that a key most probably stands for, if it is a synonym or a
/// misspelling of one.
pub(super) fn mistaken_matcher(entry: &MapEntry) -> Option<&'static str> {
    let word = entry.key.to_lowercase();
    let plain = word.replace('_', "");
    let synonym = SYNONYMS.iter().find(|(synonym, _, operand)| {
        synonym.replace('_', "") == plain && is_plausible(*operand, entry)
    });
    let misspelled = || {
        let mut long = MATCHER_NAMES.into_iter().filter(|name| name.len() >= MIN_MISSPELLED_CHARS);
        long.find(|name| {
            strsim::osa_distance(name, &word) <= 1 && is_plausible(operand_of(name), entry)
        })
    };
    synonym.map(|(_, name, _)| *name).or_else(misspelled)
}

/// Renders the suggestion of a matcher.
pub(super) fn suggest(name: &str) -> String {
    format!("did you mean '{name}'?")
}

/// Returns the operands of a matcher whose misspellings are ordinary words too, such as
/// `batches`.
fn operand_of(name: &str) -> Operand {
    match name {
        "matches" => Operand::Text,
        "one_of" => Operand::List,
        _ => Operand::Any,
    }
}

/// Returns true if the value of a key is an operand of the matcher. `KEY: {equals: …}` is
/// always data with that key.
fn is_plausible(operand: Operand, entry: &MapEntry) -> bool {
    if let [only] = entry.value.entries()
        && only.key == "equals"
    {
        return false;
    }
    match operand {
        Operand::Any => true,
        Operand::Text => entry.value.as_str().is_some(),
        Operand::List => matches!(entry.value.kind, NodeKind::List(_)),
        Operand::Number => match &entry.value.kind {
            NodeKind::Number(_) => true,
            NodeKind::Map(entries) => {
                let is_matcher = |it: &MapEntry| {
                    MATCHER_NAMES.contains(&&*it.key) || mistaken_matcher(it).is_some()
                };
                !entries.is_empty() && entries.iter().all(is_matcher)
            }
            NodeKind::String(text) => text.contains("${"),
            _ => false,
        },
    }
}
