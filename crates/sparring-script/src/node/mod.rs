//! YAML values with their spans in a user's text.

mod scalar;
mod yaml;

use serde_json::{Map, Number, Value};

use crate::problem::Problems;
use crate::source::{Source, Span};

/// A value and its span.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The span of the value.
    pub span: Span,
    /// The value.
    pub kind: NodeKind,
}

/// A value by its type.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// `null`, `~` or an empty value.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(String),
    /// The items of a list.
    List(Vec<Node>),
    /// The entries of a map, in the order of the text.
    Map(Vec<MapEntry>),
}

/// One entry of a map.
#[derive(Debug, Clone, PartialEq)]
pub struct MapEntry {
    /// The key.
    pub key: String,
    /// The span of the key.
    pub key_span: Span,
    /// The value.
    pub value: Node,
}

impl Node {
    /// Parses one YAML document. An empty document is an empty map.
    ///
    /// # Errors
    /// Returns an error if the text is not YAML, or if a map has a key twice.
    pub fn parse(source: &Source) -> Result<Node, Problems> {
        yaml::parse(source)
    }

    /// Returns the value of a key, if this is a map that has it.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.value)
    }

    /// Returns the entry of a key, if this is a map that has it.
    pub fn entry(&self, key: &str) -> Option<&MapEntry> {
        self.entries().iter().find(|entry| entry.key == key)
    }

    /// Returns the entries of a map, and an empty slice for any other value.
    pub fn entries(&self) -> &[MapEntry] {
        match &self.kind {
            NodeKind::Map(entries) => entries,
            _ => &[],
        }
    }

    /// Returns the items of a list, and an empty slice for any other value.
    pub fn items(&self) -> &[Node] {
        match &self.kind {
            NodeKind::List(items) => items,
            _ => &[],
        }
    }

    /// Returns the string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match &self.kind {
            NodeKind::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self.kind {
            NodeKind::Bool(value) => Some(value),
            _ => None,
        }
    }

    /// Returns the number, if this is a non-negative integer.
    pub fn as_u64(&self) -> Option<u64> {
        match &self.kind {
            NodeKind::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// Converts the value to JSON, without spans.
    pub fn to_json(&self) -> Value {
        match &self.kind {
            NodeKind::Null => Value::Null,
            NodeKind::Bool(value) => Value::Bool(*value),
            NodeKind::Number(number) => Value::Number(number.clone()),
            NodeKind::String(text) => Value::String(text.clone()),
            NodeKind::List(items) => items.iter().map(Node::to_json).collect(),
            NodeKind::Map(entries) => {
                let pairs = entries.iter().map(|entry| (entry.key.clone(), entry.value.to_json()));
                Value::Object(pairs.collect::<Map<_, _>>())
            }
        }
    }

    /// Returns the type with its article: `a list`.
    pub fn describe(&self) -> &'static str {
        match &self.kind {
            NodeKind::Null => "null",
            NodeKind::Bool(_) => "a boolean",
            NodeKind::Number(_) => "a number",
            NodeKind::String(_) => "a string",
            NodeKind::List(_) => "a list",
            NodeKind::Map(_) => "a map",
        }
    }
}

/// Converts a JSON value that is not part of a text: all of it gets the same span.
impl From<(Span, Value)> for Node {
    fn from((span, value): (Span, Value)) -> Self {
        let kind = match value {
            Value::Null => NodeKind::Null,
            Value::Bool(value) => NodeKind::Bool(value),
            Value::Number(number) => NodeKind::Number(number),
            Value::String(text) => NodeKind::String(text),
            Value::Array(items) => {
                NodeKind::List(items.into_iter().map(|item| Node::from((span, item))).collect())
            }
            Value::Object(map) => {
                let entry =
                    |(key, value)| MapEntry { key, key_span: span, value: (span, value).into() };
                NodeKind::Map(map.into_iter().map(entry).collect())
            }
        };
        Node { span, kind }
    }
}
