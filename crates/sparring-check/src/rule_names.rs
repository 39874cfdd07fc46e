//! Finds the rules that a user names: by id, or by a pattern such as `tools/*`. The names of tools
//! use the same patterns.

use sparring_wire::{RULES, Rule};

use crate::options::concerns_servers;

/// Returns the rules about servers whose ids match. A `*` in the name matches any text,
/// `tools/` names all rules of the area, and any other name is a whole id. Empty if no rule matches.
pub fn rules_named(name: &str) -> Vec<Rule> {
    let rules = server_rules();
    match name.contains('*') {
        false if name.ends_with('/') => rules.filter(|it| it.id().starts_with(name)).collect(),
        true => rules.filter(|rule| matches_pattern(name, rule.id())).collect(),
        false => rules.filter(|rule| rule.id() == name).collect(),
    }
}

/// Returns all rules that a check can judge, in the order of the catalogue.
pub fn server_rules() -> impl Iterator<Item = Rule> {
    RULES.iter().map(|entry| entry.rule).filter(|rule| concerns_servers(*rule))
}

/// Returns true if the text matches the pattern, in which a `*` matches any text.
pub(crate) fn matches_pattern(pattern: &str, text: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(first) else { return false };
    let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    starts.into_iter().any(|at| matches_pattern(rest, &text[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_rule_by_its_id_and_several_by_a_pattern() {
        assert_eq!(rules_named("wire/not-json"), [Rule::NotJson]);
        assert!(rules_named("wire/not-jsons").is_empty());
        assert!(rules_named("suite/*").is_empty());
        assert!(rules_named("wire/*").len() > 3);
        assert!(rules_named("wire/*").iter().all(|rule| rule.id().starts_with("wire/")));
        assert_eq!(rules_named("*").len(), server_rules().count());
    }

    #[test]
    fn a_star_matches_any_text() {
        for (pattern, text) in [
            ("a*c", "abc"),
            ("*c", "abc"),
            ("a*", "a"),
            ("*", ""),
            ("a*b*c", "axbxc"),
            ("get_weather", "get_weather"),
            ("get_*", "get_weather"),
            ("*weather", "get_weather"),
            ("*et*ea*", "get_weather"),
            ("*", "get_weather"),
        ] {
            assert!(matches_pattern(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("a*c", "abcd"),
            ("a", "ab"),
            ("*x", "abc"),
            ("get", "get_weather"),
            ("*x*", "get_weather"),
        ] {
            assert!(!matches_pattern(pattern, text), "{pattern} {text}");
        }
    }
}
