//! The error of a schema that cannot be used.

use std::fmt;

use jsonschema::ValidationError;
use serde_json::Value;

use super::mismatch::SchemaMismatch;
use crate::pattern::Pattern;
use crate::truncate::truncate_json;

/// An error in a schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaError {
    /// The JSON pointer into the schema.
    pub pointer: String,
    /// The description of the error.
    pub message: String,
    /// True if the schema may be valid, but is too complex to use.
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

    /// Creates the error of a schema that does not conform to the meta-schema of its draft.
    pub(super) fn from_meta_schema(error: &ValidationError<'_>) -> Self {
        let mismatch = SchemaMismatch::new(error);
        let value: &Value = error.instance();
        let is_pattern = mismatch.pointer.contains("/pattern");
        let message = match value.as_str() {
            Some(_) if mismatch.pointer.ends_with("/type") => {
                let types = "array, boolean, integer, null, number, object, string";
                format!("{} is not a JSON type; known types: {types}", truncate_json(value))
            }
            // The value of `pattern`, or a key of `patternProperties`.
            Some(pattern) if is_pattern => match Pattern::new(pattern) {
                Err(why) if !why.is_too_large() => {
                    format!("{} is not a regular expression: {why}", truncate_json(value))
                }
                _ => {
                    let limit = format!("pattern {} is too large", truncate_json(value));
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
