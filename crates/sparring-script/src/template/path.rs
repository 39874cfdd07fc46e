//! Where in a value something stands: `a.b[0]["x.y"]`.

use std::fmt;

use serde_json::Value;

use super::Undefined;
use crate::casing::{camel, is_passed_through};
use crate::nearest::did_you_mean;

/// A way into a value, at least one step long.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Path {
    /// The steps.
    pub segments: Vec<Segment>,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Segment {
    /// Into a map.
    Key(String),
    /// Into a list.
    Index(usize),
}

impl Path {
    /// Reads `a.b[0]["x.y"]`.
    ///
    /// # Errors
    /// When it is no path; the error says at which byte.
    pub fn parse(text: &str) -> Result<Path, super::BadTemplate> {
        super::parse::path(text)
    }

    /// The first step, which names what is asked.
    pub fn root(&self) -> &str {
        match self.segments.first() {
            Some(Segment::Key(name)) => name,
            _ => "",
        }
    }

    /// The key at a step, if there is one.
    pub fn key(&self, step: usize) -> Option<&str> {
        match self.segments.get(step) {
            Some(Segment::Key(name)) => Some(name),
            _ => None,
        }
    }

    /// The same path with the names of the wire, as deep as they are ours: what
    /// is written `list[0].uri_template` stands in `uriTemplate`.
    pub fn to_wire(mut self) -> Path {
        let mut theirs = is_passed_through(self.root());
        for segment in self.segments.iter_mut().skip(1) {
            if let Segment::Key(key) = segment
                && !theirs
            {
                theirs = is_passed_through(key);
                *key = camel(key);
            }
        }
        self
    }

    /// Follows the path into a value, from a step on.
    ///
    /// # Errors
    /// When it leads nowhere; the error says how far it came, and what else is
    /// there.
    pub fn find<'a>(&self, value: &'a Value, from: usize) -> Result<&'a Value, Undefined> {
        let mut here = value;
        for (step, segment) in self.segments.iter().enumerate().skip(from) {
            let next = match segment {
                Segment::Key(key) => here.get(key),
                Segment::Index(index) => here.get(index),
            };
            here = next.ok_or_else(|| self.lost(step, here))?;
        }
        Ok(here)
    }

    /// The error of a path that leads nowhere from this step on.
    pub fn lost(&self, step: usize, here: &Value) -> Undefined {
        let before = match step {
            0 => "there".to_owned(),
            step => Path { segments: self.segments[..step].to_vec() }.to_string(),
        };
        let why = match (self.segments.get(step), here) {
            (Some(Segment::Key(key)), Value::Object(map)) => {
                let meant = did_you_mean(key, map.keys().map(String::as_str));
                let has = if step == 0 {
                    format!("there is no `{key}`")
                } else {
                    format!("{before} has no `{key}`")
                };
                meant.map_or(has.clone(), |meant| format!("{has}; {meant}"))
            }
            (Some(Segment::Key(key)), other) => {
                format!("{before} is {}, and has no `{key}`", what(other))
            }
            (Some(Segment::Index(index)), Value::Array(items)) => {
                let ending = if items.len() == 1 { "" } else { "s" };
                format!("{before} has no [{index}]; it has {} item{ending}", items.len())
            }
            (_, other) => format!("{before} is {}, and no list", what(other)),
        };
        Undefined(format!("${{{self}}}: {why}"))
    }
}

fn what(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "a map",
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (step, segment) in self.segments.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(key) if !super::parse::is_name(key) => {
                    write!(f, "[{}]", Value::from(&**key))?;
                }
                Segment::Key(key) if step == 0 => f.write_str(key)?,
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
    fn names_become_those_of_the_wire_as_deep_as_they_are_ours() {
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
