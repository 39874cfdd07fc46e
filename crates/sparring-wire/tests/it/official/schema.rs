//! The official JSON Schemas, with corrections for the contradictions between their
//! generator and the TypeScript source.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use sparring_wire::Revision;

/// Returns the folder with schemas and examples. Without it, the tests that need it print
/// a note and pass.
pub(crate) fn spec_dir() -> Option<PathBuf> {
    let dir = std::env::var_os("SPAR_SPEC_DIR").map(PathBuf::from);
    if dir.is_none() {
        eprintln!(
            "SKIPPED: SPAR_SPEC_DIR IS NOT SET, SO THE CHECKER IS NOT COMPARED WITH THE OFFICIAL SCHEMAS"
        );
    }
    dir
}

/// A correction of the generated JSON Schema.
struct Correction {
    revisions: &'static [Revision],
    pointer: &'static str,
    wrong: fn() -> Value,
    right: fn() -> Value,
    /// The reason, shown if the correction no longer applies.
    reason: &'static str,
}

const CORRECTIONS: &[Correction] = &[
    Correction {
        revisions: &[Revision::V2026_07_28],
        pointer: "/$defs/JSONValue/anyOf/2",
        wrong: || json!({"type": ["string", "integer", "boolean"]}),
        right: || json!({"type": ["string", "number", "boolean", "null"]}),
        reason: "schema.ts has string | number | boolean | null; the generator's default \
                 number type is integer, and it lost the null",
    },
    Correction {
        revisions: &[Revision::V2025_06_18],
        pointer: "/definitions/ElicitResult/properties/content/additionalProperties",
        wrong: || json!({"type": ["string", "integer", "boolean"]}),
        right: || json!({"type": ["string", "number", "boolean"]}),
        reason: "schema.ts has string | number | boolean, and a number schema may ask for 1.5",
    },
    Correction {
        revisions: &[Revision::V2025_11_25, Revision::V2026_07_28],
        pointer: "/$defs/ElicitResult/properties/content/additionalProperties/anyOf/1",
        wrong: || json!({"type": ["string", "integer", "boolean"]}),
        right: || json!({"type": ["string", "number", "boolean"]}),
        reason: "schema.ts has string | number | boolean | string[], and a number schema may \
                 ask for 1.5",
    },
];

/// The schema of one revision.
pub(crate) struct Schema {
    root: Value,
    /// `definitions` or `$defs`.
    defs: &'static str,
}

impl Schema {
    pub(crate) fn load(dir: &Path, revision: Revision) -> Schema {
        let path = dir.join(format!("{revision}.schema.json"));
        let text = std::fs::read_to_string(&path).unwrap();
        let mut root: Value = serde_json::from_str(&text).unwrap();
        for correction in CORRECTIONS {
            if !correction.revisions.contains(&revision) {
                continue;
            }
            let part = root.pointer_mut(correction.pointer);
            let part = part.unwrap_or_else(|| panic!("{revision}: {}", correction.reason));
            assert_eq!(*part, (correction.wrong)(), "{}", correction.reason);
            *part = (correction.right)();
        }
        let defs = ["definitions", "$defs"];
        let defs = defs.into_iter().find(|it| root.get(it).is_some()).unwrap();
        Schema { root, defs }
    }

    pub(crate) fn type_names(&self) -> impl Iterator<Item = &str> {
        self.root[self.defs].as_object().unwrap().keys().map(String::as_str)
    }

    pub(crate) fn definition(&self, name: &str) -> Option<&Value> {
        self.root[self.defs].get(name)
    }

    /// Returns the names in a union of types, or the type itself; empty if the revision
    /// has no such union.
    pub(crate) fn members_of(&self, union: &str) -> Vec<&str> {
        let Some(definition) = self.definition(union) else {
            return Vec::new();
        };
        let alternatives = definition["anyOf"].as_array();
        let references = alternatives.into_iter().flatten();
        let names = references.filter_map(|it| it["$ref"].as_str()?.rsplit('/').next());
        match definition["anyOf"].is_array() {
            true => names.collect(),
            false => self
                .type_names()
                .filter(|name| *name != union && self.definition(name) == Some(definition))
                .collect(),
        }
    }

    /// Follows a reference.
    pub(crate) fn resolve<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(reference) => {
                let name = reference.rsplit('/').next().unwrap();
                self.definition(name).unwrap()
            }
            None => schema,
        }
    }

    /// Returns a validator for one type. It ignores formats.
    pub(crate) fn validator(&self, name: &str) -> jsonschema::Validator {
        let mut schema = self.root.clone();
        schema["$ref"] = json!(format!("#/{}/{name}", self.defs));
        jsonschema::options().should_validate_formats(false).build(&schema).unwrap()
    }
}
