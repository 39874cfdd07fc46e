//! The catalogue of rules: id, source, level, revisions, section, the rule in one
//! sentence, and the change that mends a server that breaks it.
//!
//! Every [`Violation`](crate::Violation) refers to an entry of this catalogue. The
//! checks themselves are in `check` and in the crates that see more than frames.

mod catalogue;

pub use self::catalogue::{RULES, Rule};
use crate::revision::Revision;

/// The strength of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleLevel {
    /// The specification requires it, or a test relies on it. A violation fails a test.
    Must,
    /// The specification recommends it. A violation is a warning.
    Should,
    /// The specification does not ask for it, but hosts, models or users need it. A
    /// violation is a warning.
    Lint,
}

impl RuleLevel {
    /// Returns `must`, `should` or `lint`.
    pub fn name(self) -> &'static str {
        match self {
            RuleLevel::Must => "must",
            RuleLevel::Should => "should",
            RuleLevel::Lint => "lint",
        }
    }
}

/// The kind of work that finds a violation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleSource {
    /// Ordinary traffic shows it, in every verb.
    Traffic,
    /// Only `spar check` finds it: with requests of its own, or by reading definitions.
    Check,
}

/// One entry of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RuleEntry {
    /// The rule.
    pub rule: Rule,
    /// The stable id that suites and reports use, such as `wire/not-json`.
    pub id: &'static str,
    /// The kind of work that finds a violation.
    pub source: RuleSource,
    /// The strength of the rule.
    pub level: RuleLevel,
    /// The revisions that have the rule, oldest first.
    pub revisions: &'static [Revision],
    /// The page and section of the specification, such as
    /// `server/tools#output-schema`, in the newest of `revisions`; empty for rules
    /// that only Sparring has. A violation can name a more exact section.
    pub section: &'static str,
    /// The rule in one sentence.
    pub summary: &'static str,
    /// The change that mends a server that breaks the rule, in one sentence.
    pub advice: &'static str,
}

impl Rule {
    /// Returns the entry of the catalogue.
    pub fn entry(self) -> &'static RuleEntry {
        &RULES[self as usize]
    }

    /// Returns the stable id that suites and reports use, such as `wire/not-json`.
    pub fn id(self) -> &'static str {
        self.entry().id
    }

    /// Returns the strength of the rule.
    pub fn level(self) -> RuleLevel {
        self.entry().level
    }

    /// Returns true if the revision has the rule.
    pub fn applies_in(self, revision: Revision) -> bool {
        self.entry().revisions.contains(&revision)
    }

    /// Returns the rule with that id.
    pub fn from_id(id: &str) -> Option<Rule> {
        RULES.iter().find(|entry| entry.id == id).map(|entry| entry.rule)
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_rule_has_its_own_entry() {
        for entry in RULES {
            assert_eq!(entry.rule.entry(), entry);
            assert_eq!(Rule::from_id(entry.id), Some(entry.rule));
            assert_eq!(entry.rule.to_string(), entry.id);
        }
        assert_eq!(Rule::from_id("wire/no-such-rule"), None);
    }

    #[test]
    fn ids_are_unique_and_well_formed() {
        let is_word = |word: &str| {
            word.starts_with(|first: char| first.is_ascii_lowercase())
                && word.chars().all(|it| it.is_ascii_lowercase() || it.is_ascii_digit())
        };
        let mut seen = HashSet::new();
        for RuleEntry { id, .. } in RULES {
            let (area, name) = id.split_once('/').unwrap();
            assert!(is_word(area), "{id}");
            assert!(name.split('-').all(is_word), "{id}");
            assert!(seen.insert(id), "{id} is there twice");
        }
    }

    #[test]
    fn entries_are_complete() {
        for entry in RULES {
            let RuleEntry { id, revisions, section, summary, advice, .. } = entry;
            assert!(!revisions.is_empty() && revisions.is_sorted(), "{id}");
            let word = format!(" {} ", entry.level.name());
            assert!(summary.ends_with('.') && !summary.contains(". "), "{id}: {summary}");
            let states_level = entry.level == RuleLevel::Lint
                || summary.contains(&word)
                || id == &"wire/batch-not-allowed";
            assert!(states_level, "{id}: {summary}");
            assert!(advice.ends_with('.') && !advice.contains(". "), "{id}: {advice}");
            assert!(!section.starts_with('/') && !section.contains(' '), "{id}: {section}");
        }
    }

    /// Reads the sources of all crates of the workspace.
    #[test]
    fn every_rule_is_used() {
        let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut sources = String::new();
        for folder in std::fs::read_dir(crates).unwrap() {
            read_sources(&folder.unwrap().path().join("src"), &mut sources);
        }
        let names: HashSet<&str> = sources
            .split("Rule::")
            .skip(1)
            .filter_map(|rest| rest.split(|it: char| !it.is_ascii_alphanumeric()).next())
            .collect();
        for entry in RULES {
            let name = format!("{:?}", entry.rule);
            assert!(names.contains(&*name), "{} ({name}) is never reported", entry.id);
        }
    }

    fn read_sources(folder: &Path, sources: &mut String) {
        let Ok(files) = std::fs::read_dir(folder) else { return };
        for path in files.map(|file| file.unwrap().path()) {
            let is_test = path.file_stem().is_some_and(|name| name == "tests");
            if path.is_dir() && !is_test {
                read_sources(&path, sources);
            } else if path.extension().is_some_and(|it| it == "rs") && !is_test {
                sources.push_str(&std::fs::read_to_string(&path).unwrap());
            }
        }
    }
}
