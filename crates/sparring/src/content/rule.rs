//! The rules an expectation of a text is made of, and how one is told.

use std::fmt;

use sparring_script::{InvalidPattern, any_known};
use sparring_wire::json::tree;

/// One expectation.
#[derive(Debug, Clone)]
pub(super) enum Rule {
    Contains(Pattern),
    StartsWith(Pattern),
    EndsWith(Pattern),
    Exactly(String),
    Empty,
    NotEmpty,
    Json,
    Number,
    Lines(usize),
    All(Vec<Rule>),
    Any(Vec<Rule>),
    Not(Box<Rule>),
}

/// Something to be found in a text.
#[derive(Debug, Clone)]
pub(super) enum Pattern {
    /// In any case; in lower case already.
    Folded(String, String),
    /// In this case.
    Text(String),
    Regex(Box<sparring_script::Pattern>),
}

impl Pattern {
    pub(super) fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Pattern::Folded(text.to_lowercase(), text)
    }

    pub(super) fn regex(pattern: &str) -> Result<Self, InvalidPattern> {
        let regex = sparring_script::Pattern::case_insensitive(pattern)?;
        Ok(Pattern::Regex(Box::new(regex)))
    }

    fn case_sensitive(self) -> Self {
        match self {
            Pattern::Folded(_, text) | Pattern::Text(text) => Pattern::Text(text),
            Pattern::Regex(regex) => {
                let heeded = sparring_script::Pattern::new(regex.as_str());
                Pattern::Regex(Box::new(heeded.expect("it was a regular expression before")))
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Pattern::Folded(_, text) | Pattern::Text(text) => text.is_empty(),
            Pattern::Regex(regex) => regex.as_str().is_empty(),
        }
    }

    /// Holds the pattern against a text by `how`, or as a regular expression; none
    /// where that takes too long.
    fn fits(&self, text: &str, how: fn(&str, &str) -> bool) -> Option<bool> {
        match self {
            Pattern::Folded(folded, _) => Some(how(&text.to_lowercase(), folded)),
            Pattern::Text(wanted) => Some(how(text, wanted)),
            Pattern::Regex(regex) => regex.is_match(text).ok(),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Folded(_, text) => write!(f, "{text:?}"),
            Pattern::Text(text) => write!(f, "{text:?} (in this case)"),
            Pattern::Regex(regex) => write!(f, "/{regex}/"),
        }
    }
}

impl Rule {
    pub(super) fn case_sensitive(self) -> Self {
        let each = |rules: Vec<Rule>| rules.into_iter().map(Rule::case_sensitive).collect();
        match self {
            Rule::Contains(pattern) => Rule::Contains(pattern.case_sensitive()),
            Rule::StartsWith(pattern) => Rule::StartsWith(pattern.case_sensitive()),
            Rule::EndsWith(pattern) => Rule::EndsWith(pattern.case_sensitive()),
            Rule::All(rules) => Rule::All(each(rules)),
            Rule::Any(rules) => Rule::Any(each(rules)),
            Rule::Not(rule) => Rule::Not(Box::new(rule.case_sensitive())),
            other => other,
        }
    }

    /// Whether every part of it expects something.
    pub(super) fn is_whole(&self) -> bool {
        match self {
            Rule::Contains(pattern) | Rule::StartsWith(pattern) | Rule::EndsWith(pattern) => {
                !pattern.is_empty()
            }
            Rule::All(rules) | Rule::Any(rules) => {
                !rules.is_empty() && rules.iter().all(Rule::is_whole)
            }
            Rule::Not(rule) => rule.is_whole(),
            _ => true,
        }
    }

    pub(super) fn fits(&self, text: &str) -> bool {
        self.judge(text) == Some(true)
    }

    /// Whether a text fits; none where that takes too long to be found out, and then
    /// its opposite does not fit either.
    fn judge(&self, text: &str) -> Option<bool> {
        Some(match self {
            Rule::Contains(pattern) => {
                return pattern.fits(text, |text, wanted| text.contains(wanted));
            }
            Rule::StartsWith(pattern) => {
                return pattern.fits(text, |text, wanted| text.starts_with(wanted));
            }
            Rule::EndsWith(pattern) => {
                return pattern.fits(text, |text, wanted| text.ends_with(wanted));
            }
            Rule::Exactly(wanted) => text == wanted,
            Rule::Empty => text.is_empty(),
            Rule::NotEmpty => !text.trim().is_empty(),
            Rule::Json => tree(text.as_bytes()).is_ok(),
            Rule::Number => text.trim().parse::<f64>().is_ok_and(f64::is_finite),
            Rule::Lines(count) => text.lines().count() == *count,
            Rule::All(rules) => {
                let unfit = rules.iter().map(|rule| rule.judge(text).map(|fits| !fits));
                !any_known(unfit)?
            }
            Rule::Any(rules) => any_known(rules.iter().map(|rule| rule.judge(text)))?,
            Rule::Not(rule) => !rule.judge(text)?,
        })
    }

    /// The parts that keep a text from fitting: those that are missing, and those
    /// that should be.
    pub(super) fn missed<'a>(&'a self, text: &str, missed: &mut Vec<&'a Rule>) {
        match self {
            Rule::All(rules) => rules.iter().for_each(|rule| rule.missed(text, missed)),
            rule if rule.fits(text) => {}
            rule => missed.push(rule),
        }
    }

    /// The rule inside of another: what is put together gets brackets.
    fn inner(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rule::All(rules) | Rule::Any(rules) if rules.len() > 1 => write!(f, "({self})"),
            _ => write!(f, "{self}"),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut joined = |rules: &[Rule], word: &str| {
            for (index, rule) in rules.iter().enumerate() {
                if index > 0 {
                    f.write_str(word)?;
                }
                rule.inner(f)?;
            }
            if rules.is_empty() { f.write_str("nothing at all") } else { Ok(()) }
        };
        match self {
            Rule::All(rules) => joined(rules, " and "),
            Rule::Any(rules) => joined(rules, " or "),
            Rule::Not(rule) => {
                f.write_str("not ")?;
                rule.inner(f)
            }
            Rule::Contains(pattern) => write!(f, "{pattern}"),
            Rule::StartsWith(pattern) => write!(f, "{pattern} at the start"),
            Rule::EndsWith(pattern) => write!(f, "{pattern} at the end"),
            Rule::Exactly(text) => write!(f, "exactly {text:?}"),
            Rule::Empty => f.write_str("nothing"),
            Rule::NotEmpty => f.write_str("something"),
            Rule::Json => f.write_str("JSON"),
            Rule::Number => f.write_str("a number"),
            Rule::Lines(1) => f.write_str("1 line"),
            Rule::Lines(count) => write!(f, "{count} lines"),
        }
    }
}
