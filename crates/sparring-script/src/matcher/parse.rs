//! Parses matchers.

use serde_json::Value;

use super::{Comparison, JsonType, Rule};
use crate::node::{MapEntry, Node, NodeKind};
use crate::pattern::Pattern;
use crate::problem::Problems;
use crate::schema::Schema;
use crate::suggestion::did_you_mean;

/// The names of all matchers. No field of the protocol has such a name, so a map of the
/// protocol is never mistaken for a matcher.
pub const MATCHER_NAMES: [&str; 19] = [
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

const JSON_TYPES: [(&str, JsonType); 7] = [
    ("null", JsonType::Null),
    ("boolean", JsonType::Boolean),
    ("number", JsonType::Number),
    ("integer", JsonType::Integer),
    ("string", JsonType::String),
    ("array", JsonType::Array),
    ("object", JsonType::Object),
];

pub(super) fn parse_rule(node: &Node, problems: &mut Problems) -> Rule {
    match &node.kind {
        NodeKind::List(items) => Rule::Items(parse_rules(items, problems)),
        NodeKind::Map(entries) if is_matcher(entries) => {
            let mut rules: Vec<Rule> = entries.iter().map(|it| parse_named(it, problems)).collect();
            match rules.len() {
                1 => rules.remove(0),
                _ => Rule::All(rules),
            }
        }
        NodeKind::Map(entries) => {
            let pairs = entries.iter().map(|it| (it.key.clone(), parse_rule(&it.value, problems)));
            Rule::Subset(pairs.collect())
        }
        _ => Rule::Equals(node.to_json()),
    }
}

fn parse_rules(nodes: &[Node], problems: &mut Problems) -> Vec<Rule> {
    nodes.iter().map(|node| parse_rule(node, problems)).collect()
}

/// Returns true if a map is a combination of matchers.
pub(super) fn is_matcher(entries: &[MapEntry]) -> bool {
    !entries.is_empty() && entries.iter().all(|entry| MATCHER_NAMES.contains(&&*entry.key))
}

fn parse_named(entry: &MapEntry, problems: &mut Problems) -> Rule {
    let node = &entry.value;
    match &*entry.key {
        "contains" => Rule::Contains(node.to_json()),
        "matches" => parse_matches(node, problems),
        "starts_with" => Rule::StartsWith(parse_text(node, problems)),
        "ends_with" => Rule::EndsWith(parse_text(node, problems)),
        "one_of" => Rule::OneOf(parse_list(node, problems)),
        "all" => Rule::All(parse_list(node, problems)),
        "any" => Rule::Any(parse_list(node, problems)),
        "not" => Rule::Not(Box::new(parse_rule(node, problems))),
        "exists" => match node.as_bool() {
            Some(exists) => Rule::Exists(exists),
            None => report_wrong_kind(node, "true or false", problems),
        },
        "is" => parse_json_type(node, problems),
        "len" => Rule::Len(Box::new(parse_rule(node, problems))),
        "gt" => parse_comparison(Comparison::Gt, node, problems),
        "ge" => parse_comparison(Comparison::Ge, node, problems),
        "lt" => parse_comparison(Comparison::Lt, node, problems),
        "le" => parse_comparison(Comparison::Le, node, problems),
        "every" => Rule::Every(Box::new(parse_rule(node, problems))),
        "has" => Rule::Has(Box::new(parse_rule(node, problems))),
        "conforms" => match Schema::new(&node.to_json()) {
            Ok(schema) => Rule::Conforms(schema),
            Err(error) => {
                problems.add(node.span, format!("invalid JSON Schema: {error}"));
                Rule::Equals(Value::Null)
            }
        },
        _ => Rule::Equals(node.to_json()),
    }
}

fn parse_matches(node: &Node, problems: &mut Problems) -> Rule {
    match parse_pattern(&parse_text(node, problems)) {
        Ok(pattern) => Rule::Matches(pattern),
        Err(message) => {
            problems.add(node.span, message);
            Rule::Equals(Value::Null)
        }
    }
}

/// Parses a regular expression.
///
/// # Errors
/// Returns a message of one line if the text is not a regular expression.
pub fn parse_pattern(text: &str) -> Result<Pattern, String> {
    Pattern::new(text).map_err(|why| format!("invalid regular expression: {why}"))
}

fn parse_json_type(node: &Node, problems: &mut Problems) -> Rule {
    let name = node.as_str().unwrap_or("null");
    let known = JSON_TYPES.iter().find(|(known, _)| *known == name);
    match known.filter(|_| node.as_str().is_some() || node.kind == NodeKind::Null) {
        Some((_, json_type)) => Rule::Is(*json_type),
        None => {
            let names = JSON_TYPES.map(|(name, _)| name);
            let help = did_you_mean(name, names);
            let message = format!("expected a JSON type: {}", names.join(", "));
            problems.add_with_help(node.span, message, help);
            Rule::Equals(Value::Null)
        }
    }
}

fn parse_comparison(comparison: Comparison, node: &Node, problems: &mut Problems) -> Rule {
    match &node.kind {
        NodeKind::Number(number) => Rule::Compare(comparison, number.clone()),
        _ => report_wrong_kind(node, "a number", problems),
    }
}

fn parse_list(node: &Node, problems: &mut Problems) -> Vec<Rule> {
    if !matches!(node.kind, NodeKind::List(_)) {
        report_wrong_kind(node, "a list", problems);
    } else if node.items().is_empty() {
        problems.add(node.span, "the list is empty; it must have at least one item");
    }
    parse_rules(node.items(), problems)
}

fn parse_text(node: &Node, problems: &mut Problems) -> String {
    node.as_str().map(str::to_owned).unwrap_or_else(|| {
        report_wrong_kind(node, "a string", problems);
        String::new()
    })
}

fn report_wrong_kind(node: &Node, expected: &str, problems: &mut Problems) -> Rule {
    problems.add(node.span, format!("expected {expected}, found {}", node.describe()));
    Rule::Equals(Value::Null)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Matcher, Source};

    fn problems(text: &str) -> String {
        let source = Source::new("a.yaml", text);
        let mut problems = Problems::new(&source);
        Matcher::from_node(&Node::parse(&source).unwrap(), &mut problems);
        problems.to_string()
    }

    #[test]
    fn reports_every_malformed_matcher() {
        let message = problems(
            "a: {matches: \"(\"}\nb: {gt: x}\nc: {is: strng}\nd: {one_of: 1}\n\
             e: {exists: 1}\nf: {conforms: {type: nope}}\n",
        );
        for part in [
            "invalid regular expression: opening parenthesis without closing parenthesis, at position 1",
            "a.yaml:2:9",
            "did you mean 'string'?",
            "expected a list",
            "expected true or false",
            "invalid JSON Schema",
        ] {
            assert!(message.contains(part), "{part} in\n{message}");
        }
    }

    /// The files of the revisions have the name of each field before a colon.
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
        for name in MATCHER_NAMES {
            assert!(!fields.contains(&name), "{name}");
        }
    }
}
