//! Expectations of a value: a scalar is equality, a map a subset, a list
//! element by element; a map whose every key is a matcher's name is that
//! matcher.

mod check;
mod held;
mod mismatch;
mod read;

use serde_json::{Number, Value};

use crate::node::Node;
use crate::pattern::Pattern;
use crate::problem::Problems;
use crate::schema::Schema;

pub use held::Held;
pub use mismatch::{Mismatch, diff};
pub use read::{NAMES, pattern};

/// What a value must be like.
#[derive(Debug)]
pub struct Matcher(Rule);

/// One expectation.
#[derive(Debug)]
enum Rule {
    Equals(Value),
    /// These keys of a map, whatever else it has.
    Subset(Vec<(String, Rule)>),
    /// These items, in this order, and no others.
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
    Compare(Ordering, Number),
    Every(Box<Rule>),
    Has(Box<Rule>),
    Conforms(Schema),
}

/// How a number stands to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ordering {
    Gt,
    Ge,
    Lt,
    Le,
}

/// A type of JSON.
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
    /// Reads an expectation; what is wrong with it is added to the problems.
    pub fn read(node: &Node, problems: &mut Problems) -> Matcher {
        Matcher(read::rule(node, problems))
    }

    /// One that takes exactly this value.
    pub fn equals(value: Value) -> Matcher {
        Matcher(Rule::Equals(value))
    }

    /// One that takes any value that has these, in the words of the language:
    /// a map is a subset, and so on. Names of matchers are read as matchers.
    ///
    /// # Errors
    /// When a matcher in it is wrong.
    pub fn of(value: &Value) -> Result<Matcher, Problems> {
        let source = crate::Source::new("the matcher", value.to_string());
        let mut problems = Problems::new(&source);
        let node = Node::parse(&source)?;
        let matcher = Matcher::read(&node, &mut problems);
        problems.or(matcher)
    }

    /// Holds a value against it; no mismatch is a match. `None` is a value that
    /// is not there.
    pub fn check(&self, actual: Option<&Value>) -> Vec<Mismatch> {
        let mut found = Vec::new();
        check::rule(&self.0, actual, &mut String::new(), &mut found);
        found
    }

    /// Whether a value fits.
    pub fn fits(&self, actual: Option<&Value>) -> bool {
        self.check(actual).is_empty()
    }
}
