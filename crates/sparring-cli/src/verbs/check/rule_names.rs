//! The rules that `--only`, `--skip` and `--explain` name.

use std::str::FromStr;

use sparring_check::{rules_named, server_rules};
use sparring_script::did_you_mean;
use sparring_wire::{RULES, Rule};

/// The rules of one value: one rule, or all of an area.
#[derive(Debug, Clone)]
pub(super) struct NamedRules {
    pub(super) rules: Vec<Rule>,
}

impl FromStr for NamedRules {
    type Err = String;

    fn from_str(text: &str) -> Result<NamedRules, String> {
        let rules = rules_named(text);
        if !rules.is_empty() {
            return Ok(NamedRules { rules });
        }
        if RULES.iter().any(|entry| entry.rule.id() == text) {
            return Err(format!(
                "the rule `{text}` does not apply to `spar check`; `spar check --list` lists all \
                 that do"
            ));
        }
        // The name of an area with its `/` is a part of each of its ids.
        let areas = server_rules().filter_map(|rule| rule.id().split_inclusive('/').next());
        let mut known: Vec<&str> = server_rules().map(Rule::id).chain(areas).collect();
        known.sort_unstable();
        known.dedup();
        let meant = did_you_mean(text, known);
        let meant = meant.unwrap_or_else(|| "`spar check --list` lists all rules".to_owned());
        Err(format!("unknown rule `{text}`; {meant}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_rules_of_other_verbs_from_unknown_ones() {
        let problem = |text: &str| text.parse::<NamedRules>().unwrap_err();
        let other = problem("tools/unlisted");
        assert!(other.contains("does not apply to `spar check`"), "{other}");
        assert!(problem("tools/unlistet").starts_with("unknown rule"));
        assert_eq!("wire/not-json".parse::<NamedRules>().unwrap().rules, [Rule::NotJson]);
    }
}
