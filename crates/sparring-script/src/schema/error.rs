//! Why a schema cannot be used.

use std::fmt;

use jsonschema::ValidationError;
use serde_json::Value;

use super::mismatch::SchemaMismatch;
use super::text;
use crate::pattern::Pattern;

/// What is wrong with a schema, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// Where in the schema, as a JSON pointer.
    pub pointer: String,
    /// What is wrong there.
    pub message: String,
    /// Whether the schema may be valid, but takes too much work to use.
    pub too_complex: bool,
}

impl SchemaError {
    pub(super) fn invalid(pointer: String, message: String) -> Self {
        SchemaError { pointer, message, too_complex: false }
    }

    pub(super) fn too_complex(pointer: String, limit: String) -> Self {
        let message = format!("schema too complex to check: {limit}");
        SchemaError { pointer, message, too_complex: true }
    }
}

impl SchemaError {
    /// A schema that does not conform to the schema of its draft.
    pub(super) fn of_meta_schema(error: &ValidationError<'_>) -> Self {
        let mismatch = SchemaMismatch::new(error);
        let value: &Value = error.instance();
        let is_pattern = mismatch.pointer.contains("/pattern");
        let message = match value.as_str() {
            Some(_) if mismatch.pointer.ends_with("/type") => {
                let types = "array, boolean, integer, null, number, object and string";
                format!("{} is not a JSON type; those are {types}", text::value(value))
            }
            // The value of `pattern`, or the name of a member of `patternProperties`.
            Some(pattern) if is_pattern => match Pattern::new(pattern) {
                Err(why) if !why.is_too_large() => {
                    format!("{} is not a regular expression: {why}", text::value(value))
                }
                _ => {
                    let limit = format!("the pattern {} is too large", text::value(value));
                    return SchemaError::too_complex(mismatch.pointer, limit);
                }
            },
            _ => mismatch.message,
        };
        SchemaError::invalid(mismatch.pointer, message)
    }
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.is_empty() {
            true => f.write_str(&self.message),
            false => write!(f, "at {}: {}", self.pointer, self.message),
        }
    }
}

impl std::error::Error for SchemaError {}
