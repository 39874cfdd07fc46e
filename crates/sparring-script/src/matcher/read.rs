//! From what a user wrote to a rule.

use serde_json::Value;

use super::{JsonType, Matcher, Ordering, Rule};
use crate::nearest::did_you_mean;
use crate::node::{Entry, Kind, Node};
use crate::pattern::Pattern;
use crate::problem::Problems;
use crate::schema::Schema;

/// The names of all matchers. None is a field of the protocol's own, so that a
/// map of the protocol's is never taken for one.
pub const NAMES: [&str; 19] = [
    "equals",
    "contains",
    "matches",
    "starts_with",
    "ends_with",
    "one_of",
    "all",
    "any",
    "not",
    "exists",
    "is",
    "len",
    "gt",
    "ge",
    "lt",
    "le",
    "every",
    "has",
    "conforms",
];

const TYPES: [(&str, JsonType); 7] = [
    ("null", JsonType::Null),
    ("boolean", JsonType::Boolean),
    ("number", JsonType::Number),
    ("integer", JsonType::Integer),
    ("string", JsonType::String),
    ("array", JsonType::Array),
    ("object", JsonType::Object),
];

pub(super) fn rule(node: &Node, problems: &mut Problems) -> Rule {
    match &node.kind {
        Kind::List(items) => Rule::Items(rules(items, problems)),
        Kind::Map(entries) if is_matcher(entries) => {
            let mut rules: Vec<Rule> = entries.iter().map(|it| named(it, problems)).collect();
            match rules.len() {
                1 => rules.remove(0),
                _ => Rule::All(rules),
            }
        }
        Kind::Map(entries) => {
            let read = |problems: &mut Problems, node| rule(node, problems);
            let pairs = entries.iter().map(|it| (it.key.clone(), read(problems, &it.value)));
            Rule::Subset(pairs.collect())
        }
        _ => Rule::Equals(node.to_json()),
    }
}

fn rules(nodes: &[Node], problems: &mut Problems) -> Vec<Rule> {
    nodes.iter().map(|node| rule(node, problems)).collect()
}

fn is_matcher(entries: &[Entry]) -> bool {
    !entries.is_empty() && entries.iter().all(|entry| NAMES.contains(&&*entry.key))
}

fn named(entry: &Entry, problems: &mut Problems) -> Rule {
    let node = &entry.value;
    match &*entry.key {
        "contains" => Rule::Contains(node.to_json()),
        "matches" => matches(node, problems),
        "starts_with" => Rule::StartsWith(text(node, problems)),
        "ends_with" => Rule::EndsWith(text(node, problems)),
        "one_of" => Rule::OneOf(list(node, problems)),
        "all" => Rule::All(list(node, problems)),
        "any" => Rule::Any(list(node, problems)),
        "not" => Rule::Not(Box::new(rule(node, problems))),
        "exists" => match node.as_bool() {
            Some(exists) => Rule::Exists(exists),
            None => wrong(node, "true or false", problems),
        },
        "is" => json_type(node, problems),
        "len" => Rule::Len(Box::new(rule(node, problems))),
        "gt" => compare(Ordering::Gt, node, problems),
        "ge" => compare(Ordering::Ge, node, problems),
        "lt" => compare(Ordering::Lt, node, problems),
        "le" => compare(Ordering::Le, node, problems),
        "every" => Rule::Every(Box::new(rule(node, problems))),
        "has" => Rule::Has(Box::new(rule(node, problems))),
        "conforms" => match Schema::new(&node.to_json()) {
            Ok(schema) => Rule::Conforms(schema),
            Err(error) => {
                problems.add(node.span, format!("this is no JSON Schema: {error}"));
                Rule::Equals(Value::Null)
            }
        },
        _ => Rule::Equals(node.to_json()),
    }
}

fn matches(node: &Node, problems: &mut Problems) -> Rule {
    match pattern(&text(node, problems)) {
        Ok(pattern) => Rule::Matches(pattern),
        Err(told) => {
            problems.add(node.span, told);
            Rule::Equals(Value::Null)
        }
    }
}

/// Reads a regular expression.
///
/// # Errors
/// When it is none; the error says why in one line.
pub fn pattern(text: &str) -> Result<Pattern, String> {
    Pattern::new(text).map_err(|why| format!("this is no regular expression: {why}"))
}

fn json_type(node: &Node, problems: &mut Problems) -> Rule {
    let name = node.as_str().unwrap_or("null");
    let known = TYPES.iter().find(|(known, _)| *known == name);
    match known.filter(|_| node.as_str().is_some() || node.kind == Kind::Null) {
        Some((_, json_type)) => Rule::Is(*json_type),
        None => {
            let names = TYPES.map(|(name, _)| name);
            let help = did_you_mean(name, names);
            let message = format!("expected a type of JSON: {}", names.join(", "));
            problems.add_with_help(node.span, message, help);
            Rule::Equals(Value::Null)
        }
    }
}

fn compare(ordering: Ordering, node: &Node, problems: &mut Problems) -> Rule {
    match &node.kind {
        Kind::Number(number) => Rule::Compare(ordering, number.clone()),
        _ => wrong(node, "a number", problems),
    }
}

fn list(node: &Node, problems: &mut Problems) -> Vec<Rule> {
    if !matches!(node.kind, Kind::List(_)) {
        wrong(node, "a list", problems);
    } else if node.items().is_empty() {
        problems.add(node.span, "the list is empty, so that everything fits or nothing does");
    }
    rules(node.items(), problems)
}

fn text(node: &Node, problems: &mut Problems) -> String {
    node.as_str().map(str::to_owned).unwrap_or_else(|| {
        wrong(node, "a text", problems);
        String::new()
    })
}

fn wrong(node: &Node, expected: &str, problems: &mut Problems) -> Rule {
    problems.add(node.span, format!("expected {expected}, found {}", node.what()));
    Rule::Equals(Value::Null)
}

impl Default for Matcher {
    /// One that takes anything.
    fn default() -> Self {
        Matcher(Rule::All(Vec::new()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn problems(text: &str) -> String {
        let source = Source::new("a.yaml", text);
        let mut problems = Problems::new(&source);
        Matcher::read(&Node::parse(&source).unwrap(), &mut problems);
        problems.to_string()
    }

    #[test]
    fn all_that_is_wrong_is_told_at_once() {
        let told = problems(
            "a: {matches: \"(\"}\nb: {gt: x}\nc: {is: strng}\nd: {one_of: 1}\n\
             e: {exists: 1}\nf: {conforms: {type: nope}}\n",
        );
        for part in [
            "no regular expression: Parsing error at position 1: Opening parenthesis without closing parenthesis",
            "a.yaml:2:9",
            "did you mean 'string'?",
            "expected a list",
            "expected true or false",
            "no JSON Schema",
        ] {
            assert!(told.contains(part), "{part} in\n{told}");
        }
    }

    /// The notation of the revisions' files names each field before a colon.
    #[test]
    fn no_name_of_a_matcher_is_a_field_of_the_protocol() {
        let rules = include_str!("../../../sparring-wire/src/revision/v2026_07_28.rs");
        let older = include_str!("../../../sparring-wire/src/revision/v2025_11_25.rs");
        let field = regex::Regex::new(r"([A-Za-z_]+)\??:").unwrap();
        let mut fields: Vec<&str> = Vec::new();
        for text in [rules, older] {
            fields
                .extend(field.captures_iter(text).filter_map(|it| it.get(1)).map(|it| it.as_str()));
        }
        assert!(fields.contains(&"inputSchema") && fields.contains(&"nextCursor"));
        for name in NAMES {
            assert!(!fields.contains(&name), "{name}");
        }
    }
}
