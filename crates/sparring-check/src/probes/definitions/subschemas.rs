//! Finds all schemas within a schema.

use serde_json::Value;

use crate::probes::definition_findings::shown;

/// The limits of one schema.
const MAX_SUBSCHEMAS: usize = 5_000;
const MAX_DEPTH: usize = 60;

/// The keywords whose value is a schema, or a list of them.
const SCHEMAS: [&str; 16] = [
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "oneOf",
    "prefixItems",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The keywords whose value is an object of schemas.
const SCHEMA_MAPS: [&str; 5] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// A schema within a schema.
pub(super) struct Subschema<'a> {
    /// The JSON pointer from the root, for messages: very long names are cut.
    pub(super) pointer: String,
    pub(super) schema: &'a Value,
}

impl Subschema<'_> {
    /// Returns true if it is the whole schema.
    pub(super) fn is_root(&self) -> bool {
        self.pointer.is_empty()
    }

    /// Describes the place for messages, such as ` at /properties/name`.
    pub(super) fn place(&self) -> String {
        match self.is_root() {
            true => String::new(),
            false => format!(" at {}", self.pointer),
        }
    }
}

/// Returns the schema and all schemas within it, up to a limit.
pub(super) fn subschemas(root: &Value) -> Vec<Subschema<'_>> {
    let mut found = Vec::new();
    collect(root, String::new(), 0, &mut found);
    found
}

fn collect<'a>(schema: &'a Value, pointer: String, depth: usize, found: &mut Vec<Subschema<'a>>) {
    let Some(keywords) = schema.as_object() else { return };
    if depth > MAX_DEPTH || found.len() >= MAX_SUBSCHEMAS {
        return;
    }
    found.push(Subschema { pointer: pointer.clone(), schema });
    for (keyword, value) in keywords {
        let here = || format!("{pointer}/{keyword}");
        if SCHEMA_MAPS.contains(&&**keyword) {
            for (name, part) in value.as_object().into_iter().flatten() {
                let name = shown(name).replace('~', "~0").replace('/', "~1");
                collect(part, format!("{}/{name}", here()), depth + 1, found);
            }
        } else if SCHEMAS.contains(&&**keyword) {
            match value {
                Value::Array(parts) => {
                    for (index, part) in parts.iter().enumerate() {
                        collect(part, format!("{}/{index}", here()), depth + 1, found);
                    }
                }
                part => collect(part, here(), depth + 1, found),
            }
        }
    }
}
