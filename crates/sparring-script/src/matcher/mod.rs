//! Matchers: expectations of a value.
//!
//! A scalar expects an equal value, a map expects a superset of its entries, and a list
//! expects matching items in order. A map whose keys are all names of matchers is a
//! combination of those matchers.

mod check;
mod mismatch;
mod parse;
mod schema_keywords;
mod subject;
mod synonym;

use serde_json::{Number, Value};

use crate::node::Node;
use crate::pattern::Pattern;
use crate::problem::Problems;
use crate::schema::Schema;

pub use mismatch::{Mismatch, render_diff};
pub use parse::{MATCHER_NAMES, parse_pattern};
pub use subject::{Subject, check_subject};

/// An expectation of a value.
#[derive(Debug)]
pub struct Matcher(Rule);

/// One rule of a matcher.
#[derive(Debug)]
enum Rule {
    Equals(Value),
    /// A map that has these keys, and maybe others.
    Subset(Vec<(String, Rule)>),
    /// A list of exactly these items, in this order.
    Items(Vec<Rule>),
    Contains(Value),
    Matches(Pattern),
    StartsWith(String),
    EndsWith(String),
    OneOf(Vec<Rule>),
    All(Vec<Rule>),
    Any(Vec<Rule>),
    Not(Box<Rule>),
    Exists(bool),
    Is(JsonType),
    Len(Box<Rule>),
    Compare(Comparison, Number),
    Every(Box<Rule>),
    Has(Box<Rule>),
    Conforms(Schema),
}

/// The comparison of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Gt,
    Ge,
    Lt,
    Le,
}

/// A JSON type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum JsonType {
    Null,
    Boolean,
    Number,
    Integer,
    String,
    Array,
    Object,
}

impl Matcher {
    /// Parses a matcher and adds its errors to the problems. [`check_subject`] finds the
    /// matchers that cannot match the kind of value.
    pub fn from_node(node: &Node, problems: &mut Problems) -> Matcher {
        Matcher(parse::parse_rule(node, problems))
    }

    /// Creates a matcher that accepts exactly this value.
    pub fn equals(value: Value) -> Matcher {
        Matcher(Rule::Equals(value))
    }

    /// Creates a matcher from JSON, by the same rules as in YAML: a map expects a superset
    /// of its entries, and names of matchers are matchers.
    ///
    /// # Errors
    /// Returns an error if a matcher is malformed or misspelled.
    pub fn from_json(value: &Value) -> Result<Matcher, Problems> {
        let source = crate::Source::new("the matcher", value.to_string());
        let mut problems = Problems::new(&source);
        let node = Node::parse(&source)?;
        check_subject(&node, &Subject::Data, &mut problems);
        let matcher = Matcher::from_node(&node, &mut problems);
        problems.into_result(matcher)
    }

    /// Checks a value and returns its mismatches; none means that the value matches.
    /// `None` is an absent value.
    pub fn check(&self, actual: Option<&Value>) -> Vec<Mismatch> {
        let mut found = Vec::new();
        check::check_rule(&self.0, actual, &mut String::new(), &mut found);
        found
    }

    /// Returns true if a value matches.
    pub fn matches(&self, actual: Option<&Value>) -> bool {
        self.check(actual).is_empty()
    }
}

impl Default for Matcher {
    /// Creates a matcher that accepts any value.
    fn default() -> Self {
        Matcher(Rule::All(Vec::new()))
    }
}

/// The result of matching many values against one expectation.
#[derive(Debug)]
pub struct MatchSummary<'a, M> {
    /// The number of values that match.
    pub matched: usize,
    /// The value with the fewest mismatches of those that do not match, and its mismatches.
    pub nearest: Option<(&'a Value, Vec<M>)>,
}

impl<'a, M> MatchSummary<'a, M> {
    /// Checks each value with `check`, which returns its mismatches.
    pub fn from_values(
        values: impl IntoIterator<Item = &'a Value>,
        mut check: impl FnMut(&Value) -> Vec<M>,
    ) -> Self {
        let mut summary = MatchSummary { matched: 0, nearest: None };
        for value in values {
            let mismatches = check(value);
            let is_nearer = |(_, known): &(_, Vec<M>)| mismatches.len() < known.len();
            if mismatches.is_empty() {
                summary.matched += 1;
            } else if summary.nearest.as_ref().is_none_or(is_nearer) {
                summary.nearest = Some((value, mismatches));
            }
        }
        summary
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn counts_matching_values_and_finds_the_nearest_of_the_others() {
        let matcher = Matcher::from_json(&json!({"a": 1, "b": 2})).unwrap();
        let values = [json!({"a": 1, "b": 2}), json!({}), json!({"a": 1, "b": 3}), json!({"a": 1})];
        let summary = MatchSummary::from_values(&values, |value| matcher.check(Some(value)));
        let (nearest, mismatches) = summary.nearest.unwrap();
        assert_eq!((summary.matched, nearest, mismatches.len()), (1, &values[2], 1));
    }
}
