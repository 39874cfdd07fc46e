//! A schema that is ready to be used.

use std::sync::Arc;

use serde_json::Value;

use crate::bad_schema::BadSchema;
use crate::breach::Breach;
use crate::check::Run;
use crate::compile::compile;
use crate::keyword::Plan;

/// A JSON Schema, ready to be used. A clone is the same one.
#[derive(Debug, Clone)]
pub struct Schema(Arc<Plan>);

impl Schema {
    /// Makes a schema ready.
    ///
    /// # Errors
    /// When it is none, or refers to what is not in it.
    pub fn new(schema: &Value) -> Result<Schema, BadSchema> {
        Schema::among(schema, &[])
    }

    /// Makes a schema ready that may refer to other documents, which are given by
    /// their URIs.
    ///
    /// # Errors
    /// When it or what it refers to is none, or refers to what is not there.
    pub fn among(schema: &Value, documents: &[(&str, &Value)]) -> Result<Schema, BadSchema> {
        Ok(Schema(Arc::new(compile(schema, documents)?)))
    }

    /// Whether a value is as the schema wants it.
    pub fn is_valid(&self, value: &Value) -> bool {
        Run::new(&self.0, 0).holds(value)
    }

    /// Where a value breaks it, and no more than so many of those places.
    pub fn breaches(&self, value: &Value, most: usize) -> Vec<Breach> {
        // Most values are good, which is found out faster than what is wrong.
        if most == 0 || self.is_valid(value) {
            return Vec::new();
        }
        let mut run = Run::new(&self.0, most);
        run.holds(value);
        run.found()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Step;

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
        assert_eq!(found[0].message_about("it"), "it is not of type \"null\"");
        assert_eq!(schema.breaches(&json!({"a/b": []}), 2), []);
    }
}
