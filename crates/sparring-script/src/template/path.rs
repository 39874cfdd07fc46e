//! Paths into a value: `a.b[0]["x.y"]`.

use std::fmt;

use serde_json::Value;

use super::UndefinedPath;
use crate::casing::{is_user_data_key, to_camel_case};
use crate::suggestion::did_you_mean;

/// A path into a value, with at least one segment.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path {
    /// The segments.
    pub segments: Vec<Segment>,
}

/// One segment of a path.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Segment {
    /// A key of a map.
    Key(String),
    /// An index of a list.
    Index(usize),
}

impl Path {
    /// Parses `a.b[0]["x.y"]`.
    ///
    /// # Errors
    /// Returns an error with its offset if the text is not a path.
    pub fn parse(text: &str) -> Result<Path, super::TemplateError> {
        super::parse::parse_path(text)
    }

    /// Returns the first key.
    pub fn root(&self) -> &str {
        match self.segments.first() {
            Some(Segment::Key(name)) => name,
            _ => "",
        }
    }

    /// Returns the key at an index, if that segment is a key.
    pub fn key_at(&self, index: usize) -> Option<&str> {
        match self.segments.get(index) {
            Some(Segment::Key(name)) => Some(name),
            _ => None,
        }
    }

    /// Renames the keys to those of the wire, except inside the user's own data:
    /// `list[0].uri_template` becomes `list[0].uriTemplate`.
    pub fn to_wire(mut self) -> Path {
        let mut is_user_data = is_user_data_key(self.root());
        for segment in self.segments.iter_mut().skip(1) {
            if let Segment::Key(key) = segment
                && !is_user_data
            {
                is_user_data = is_user_data_key(key);
                *key = to_camel_case(key);
            }
        }
        self
    }

    /// Follows the path into a value, beginning with the segment at index `from`.
    ///
    /// # Errors
    /// Returns an error if a segment does not exist. The message names that segment and
    /// suggests similar keys.
    pub fn find<'a>(&self, value: &'a Value, from: usize) -> Result<&'a Value, UndefinedPath> {
        let mut current = value;
        for (index, segment) in self.segments.iter().enumerate().skip(from) {
            let next = match segment {
                Segment::Key(key) => current.get(key),
                Segment::Index(index) => current.get(index),
            };
            current = next.ok_or_else(|| self.undefined_at(index, current))?;
        }
        Ok(current)
    }

    /// Creates the error of a segment that does not exist in `parent`.
    pub fn undefined_at(&self, index: usize, parent: &Value) -> UndefinedPath {
        let prefix = Path { segments: self.segments[..index].to_vec() };
        let suggestion = |key: &str| {
            let names = parent.as_object().into_iter().flatten().map(|(name, _)| &**name);
            did_you_mean(key, names).map_or(String::new(), |suggestion| format!("; {suggestion}"))
        };
        let reason = match (self.segments.get(index), parent) {
            (Some(Segment::Key(key)), _) if index == 0 => {
                format!("unknown name `{key}`{}", suggestion(key))
            }
            (Some(Segment::Key(key)), Value::Object(_)) => {
                format!("{prefix} has no key `{key}`{}", suggestion(key))
            }
            (Some(Segment::Key(key)), other) => {
                format!("{prefix} is {} and has no key `{key}`", describe_type(other))
            }
            (Some(Segment::Index(index)), Value::Array(items)) => {
                let ending = if items.len() == 1 { "" } else { "s" };
                format!("{prefix} has no item [{index}], only {} item{ending}", items.len())
            }
            (_, other) => format!("{prefix} is {}, not a list", describe_type(other)),
        };
        UndefinedPath(format!("${{{self}}}: {reason}"))
    }
}

fn describe_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Index(item) => write!(f, "[{item}]")?,
                Segment::Key(key) if !super::parse::is_name(key) => {
                    write!(f, "[{}]", Value::from(&**key))?;
                }
                Segment::Key(key) if index == 0 => f.write_str(key)?,
                Segment::Key(key) => write!(f, ".{key}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_renamed_to_those_of_the_wire_except_in_user_data() {
        for (ours, wire) in [
            ("list[0].uri_template", "list[0].uriTemplate"),
            ("is_error", "is_error"),
            ("structured.my_key", "structured.my_key"),
            ("result.structured_content.my_key", "result.structuredContent.my_key"),
            ("result._meta[\"a_b/c\"]", "result._meta[\"a_b/c\"]"),
        ] {
            assert_eq!(Path::parse(ours).unwrap().to_wire().to_string(), wire);
        }
    }
}
