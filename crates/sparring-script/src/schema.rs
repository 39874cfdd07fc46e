//! JSON Schemas that values are held against. The validator is generic, and whichever
//! crate calls it builds it anew: so nobody does but this one.

use jsonschema::paths::LocationSegment;
use serde_json::Value;

/// A JSON Schema, ready to be used.
#[derive(Debug, Clone)]
pub struct Schema(Box<jsonschema::Validator>);

/// One place where a value is not as a schema wants it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breach {
    /// Where, as a JSON Pointer.
    pub pointer: String,
    /// The same, step by step.
    pub steps: Vec<Step>,
    /// What is wrong there.
    pub message: String,
}

/// A step into a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To a member of an object.
    Name(String),
    /// To an item of an array.
    Index(usize),
}

impl Schema {
    /// Makes a schema ready.
    ///
    /// # Errors
    /// When it is none; the text says why.
    pub fn new(schema: &Value) -> Result<Schema, String> {
        match jsonschema::validator_for(schema) {
            Ok(validator) => Ok(Schema(Box::new(validator))),
            Err(error) => Err(error.to_string()),
        }
    }

    /// Where a value breaks it, and no more than so many of those places.
    pub fn breaches(&self, value: &Value, most: usize) -> Vec<Breach> {
        let breach = |error: jsonschema::ValidationError<'_>| Breach {
            pointer: error.instance_path().to_string(),
            steps: error.instance_path().into_iter().map(step).collect(),
            message: error.to_string(),
        };
        // Most values are good, which is found out faster than what is wrong.
        match self.0.is_valid(value) {
            true => Vec::new(),
            false => self.0.iter_errors(value).take(most).map(breach).collect(),
        }
    }
}

fn step(segment: LocationSegment<'_>) -> Step {
    match segment {
        LocationSegment::Property(name) => Step::Name(name.into_owned()),
        LocationSegment::Index(index) => Step::Index(index),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn breaches_have_their_places_and_are_no_more_than_are_wanted() {
        let schema = Schema::new(&json!({"properties": {"a/b": {"items": {"type": "null"}}}}));
        let schema = schema.unwrap();
        let value = json!({"a/b": [null, 1, 2, 3]});
        let found = schema.breaches(&value, 2);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].pointer, "/a~1b/1");
        assert_eq!(found[0].steps, [Step::Name("a/b".to_owned()), Step::Index(1)]);
        assert_eq!(found[0].message, "1 is not of type \"null\"");
        assert_eq!(schema.breaches(&json!({"a/b": []}), 2), []);
        assert!(Schema::new(&json!({"type": "unheard-of"})).is_err());
    }
}
