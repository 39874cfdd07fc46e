//! Values as they stand in a user's text, each with its place.

mod scalar;
mod yaml;

use serde_json::{Map, Number, Value};

use crate::problem::Problems;
use crate::source::{Source, Span};

/// A value and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// Where it stands.
    pub span: Span,
    /// What it is.
    pub kind: Kind,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(String),
    /// Values in order.
    List(Vec<Node>),
    /// Values under names, in order.
    Map(Vec<Entry>),
}

/// A value under a name.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The name.
    pub key: String,
    /// Where the name stands.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Reads a text of one YAML document; an empty one is an empty map.
    ///
    /// # Errors
    /// When it is not YAML, or a map has a key twice.
    pub fn parse(source: &Source) -> Result<Node, Problems> {
        yaml::read(source)
    }

    /// The value under a name.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// The entry of a name.
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// The entries of a map; none of anything else.
    pub fn entries(&self) -> &[Entry] {
        match &self.kind {
            Kind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// The items of a list; none of anything else.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            Kind::List(items) => items,
            _ => &[],
        }
    }

    /// The text, of a text.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            Kind::String(text) => Some(text),
            _ => None,
        }
    }

    /// The truth, of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            Kind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// The number, of a whole number that is not negative.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.kind {
            Kind::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// The same without places.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            Kind::Null => Value::Null,
            Kind::Bool(value) => Value::Bool(*value),
            Kind::Number(number) => Value::Number(number.clone()),
            Kind::String(text) => Value::String(text.clone()),
            Kind::List(items) => items.iter().map(Node::to_json).collect(),
            Kind::Map(entries) => {
                let pairs = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// What it is, in words: `a list`.
    pub fn what(&self) -> &'static str {
        match &self.kind {
            Kind::Null => "nothing",
            Kind::Bool(_) => "a boolean",
            Kind::Number(_) => "a number",
            Kind::String(_) => "a text",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a map",
        }
    }
}

/// A value that stands nowhere in a text: everything in it has the same place.
impl From<(Span, Value)> for Node {
    fn from((span, value): (Span, Value)) -> Self {
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(value) => Kind::Bool(value),
            Value::Number(number) => Kind::Number(number),
            Value::String(text) => Kind::String(text),
            Value::Array(items) => {
                Kind::List(items.into_iter().map(|item| Node::from((span, item))).collect())
            }
            Value::Object(map) => {
                let entry =
                    |(key, value)| Entry { key, key_span: span, value: (span, value).into() };
                Kind::Map(map.into_iter().map(entry).collect())
            }
        };
        Node { span, kind }
    }
}
