//! The conditions of an expectation, their evaluation, and their description.

use std::fmt;

use sparring_script::{InvalidPattern, any_true_if_known};
use sparring_wire::json::parse_value;

/// One condition of a text.
#[derive(Debug, Clone)]
pub(super) enum Condition {
    Contains(SearchTerm),
    StartsWith(SearchTerm),
    EndsWith(SearchTerm),
    Exactly(String),
    Empty,
    NotEmpty,
    Json,
    Number,
    Lines(usize),
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
}

/// A text or regular expression to search for.
#[derive(Debug, Clone)]
pub(super) enum SearchTerm {
    /// Ignores case: the text in lower case, and as it was written.
    AnyCase(String, String),
    ExactCase(String),
    Regex(Box<sparring_script::Pattern>),
}

impl SearchTerm {
    pub(super) fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        SearchTerm::AnyCase(text.to_lowercase(), text)
    }

    pub(super) fn regex(pattern: &str) -> Result<Self, InvalidPattern> {
        let regex = sparring_script::Pattern::case_insensitive(pattern)?;
        Ok(SearchTerm::Regex(Box::new(regex)))
    }

    fn case_sensitive(self) -> Self {
        match self {
            SearchTerm::AnyCase(_, text) | SearchTerm::ExactCase(text) => {
                SearchTerm::ExactCase(text)
            }
            SearchTerm::Regex(regex) => {
                let case_sensitive = sparring_script::Pattern::new(regex.as_str());
                SearchTerm::Regex(Box::new(
                    case_sensitive.expect("the regular expression is valid"),
                ))
            }
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            SearchTerm::AnyCase(_, text) | SearchTerm::ExactCase(text) => text.is_empty(),
            SearchTerm::Regex(regex) => regex.as_str().is_empty(),
        }
    }

    /// Searches a text by `matches`, or by the regular expression. Returns `None` if
    /// the regular expression takes too long.
    fn search(&self, text: &str, matches: fn(&str, &str) -> bool) -> Option<bool> {
        match self {
            SearchTerm::AnyCase(folded, _) => Some(matches(&text.to_lowercase(), folded)),
            SearchTerm::ExactCase(wanted) => Some(matches(text, wanted)),
            SearchTerm::Regex(regex) => regex.is_match(text).ok(),
        }
    }
}

impl fmt::Display for SearchTerm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchTerm::AnyCase(_, text) => write!(f, "{text:?}"),
            SearchTerm::ExactCase(text) => write!(f, "{text:?} (case-sensitive)"),
            SearchTerm::Regex(regex) => write!(f, "/{regex}/"),
        }
    }
}

impl Condition {
    pub(super) fn case_sensitive(self) -> Self {
        let each = |conditions: Vec<Condition>| {
            conditions.into_iter().map(Condition::case_sensitive).collect()
        };
        match self {
            Condition::Contains(term) => Condition::Contains(term.case_sensitive()),
            Condition::StartsWith(term) => Condition::StartsWith(term.case_sensitive()),
            Condition::EndsWith(term) => Condition::EndsWith(term.case_sensitive()),
            Condition::All(conditions) => Condition::All(each(conditions)),
            Condition::Any(conditions) => Condition::Any(each(conditions)),
            Condition::Not(condition) => Condition::Not(Box::new(condition.case_sensitive())),
            other => other,
        }
    }

    /// Returns true if no part of it is empty.
    pub(super) fn has_expectation(&self) -> bool {
        match self {
            Condition::Contains(term) | Condition::StartsWith(term) | Condition::EndsWith(term) => {
                !term.is_empty()
            }
            Condition::All(conditions) | Condition::Any(conditions) => {
                !conditions.is_empty() && conditions.iter().all(Condition::has_expectation)
            }
            Condition::Not(condition) => condition.has_expectation(),
            _ => true,
        }
    }

    pub(super) fn matches(&self, text: &str) -> bool {
        self.evaluate(text) == Some(true)
    }

    /// Returns true if a text matches. Returns `None` if the evaluation takes too long;
    /// then neither the condition nor its opposite matches.
    fn evaluate(&self, text: &str) -> Option<bool> {
        Some(match self {
            Condition::Contains(term) => {
                return term.search(text, |text, wanted| text.contains(wanted));
            }
            Condition::StartsWith(term) => {
                return term.search(text, |text, wanted| text.starts_with(wanted));
            }
            Condition::EndsWith(term) => {
                return term.search(text, |text, wanted| text.ends_with(wanted));
            }
            Condition::Exactly(wanted) => text == wanted,
            Condition::Empty => text.is_empty(),
            Condition::NotEmpty => !text.trim().is_empty(),
            Condition::Json => parse_value(text.as_bytes()).is_ok(),
            Condition::Number => text.trim().parse::<f64>().is_ok_and(f64::is_finite),
            Condition::Lines(count) => text.lines().count() == *count,
            Condition::All(conditions) => {
                let unmet = conditions
                    .iter()
                    .map(|condition| condition.evaluate(text).map(|matches| !matches));
                !any_true_if_known(unmet)?
            }
            Condition::Any(conditions) => {
                any_true_if_known(conditions.iter().map(|condition| condition.evaluate(text)))?
            }
            Condition::Not(condition) => !condition.evaluate(text)?,
        })
    }

    /// Collects the conditions that a text does not meet.
    pub(super) fn collect_failed<'a>(&'a self, text: &str, failed: &mut Vec<&'a Condition>) {
        match self {
            Condition::All(conditions) => {
                conditions.iter().for_each(|condition| condition.collect_failed(text, failed))
            }
            condition if condition.matches(text) => {}
            condition => failed.push(condition),
        }
    }

    /// Formats the condition as part of another: a combination gets brackets.
    fn fmt_nested(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::All(conditions) | Condition::Any(conditions) if conditions.len() > 1 => {
                write!(f, "({self})")
            }
            _ => write!(f, "{self}"),
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut joined = |conditions: &[Condition], word: &str| {
            for (index, condition) in conditions.iter().enumerate() {
                if index > 0 {
                    f.write_str(word)?;
                }
                condition.fmt_nested(f)?;
            }
            if conditions.is_empty() { f.write_str("an empty list") } else { Ok(()) }
        };
        match self {
            Condition::All(conditions) => joined(conditions, " and "),
            Condition::Any(conditions) => joined(conditions, " or "),
            Condition::Not(condition) => {
                f.write_str("not ")?;
                condition.fmt_nested(f)
            }
            Condition::Contains(term) => write!(f, "{term}"),
            Condition::StartsWith(term) => write!(f, "{term} at the start"),
            Condition::EndsWith(term) => write!(f, "{term} at the end"),
            Condition::Exactly(text) => write!(f, "exactly {text:?}"),
            Condition::Empty => f.write_str("an empty text"),
            Condition::NotEmpty => f.write_str("a text that is not empty"),
            Condition::Json => f.write_str("JSON"),
            Condition::Number => f.write_str("a number"),
            Condition::Lines(1) => f.write_str("1 line"),
            Condition::Lines(count) => write!(f, "{count} lines"),
        }
    }
}
