//! Finds misspelled keywords of a JSON Schema. An unknown keyword has no effect, so a schema with
//! a misspelled one accepts too much.

use crate::node::Node;
use crate::problem::Problems;

/// The keywords of all drafts since draft 4, and those of OpenAPI that resemble them.
const KEYWORDS: [&str; 64] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "$recursiveAnchor",
    "$recursiveRef",
    "$ref",
    "$schema",
    "$vocabulary",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "comment",
    "const",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "default",
    "definitions",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "description",
    "else",
    "enum",
    "example",
    "examples",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "id",
    "if",
    "items",
    "maxContains",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minContains",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "readOnly",
    "required",
    "then",
    "title",
    "type",
    "uniqueItems",
    "writeOnly",
];

/// The keywords whose value is a map of schemas.
const MAPS: [&str; 5] =
    ["$defs", "definitions", "dependentSchemas", "patternProperties", "properties"];

/// The keywords whose value is no schema.
const DATA: [&str; 8] = [
    "$vocabulary",
    "const",
    "default",
    "dependencies",
    "dependentRequired",
    "enum",
    "example",
    "examples",
];

/// The number of characters from which an unknown keyword can be a misspelled one.
const MIN_CHARS: usize = 5;

/// Reports the misspelled keywords of a schema.
pub(super) fn check_keywords(schema: &Node, problems: &mut Problems) {
    for entry in schema.entries() {
        let (key, value) = (&*entry.key, &entry.value);
        if let Some(meant) = misspelled_keyword(key) {
            let message = format!("`{key}` is not a keyword of JSON Schema, so it has no effect");
            let help = Some(super::synonym::suggest(meant));
            problems.add_with_help(entry.key_span, message, help);
        } else if MAPS.contains(&key) {
            value.entries().iter().for_each(|it| check_keywords(&it.value, problems));
        } else if KEYWORDS.contains(&key) && !DATA.contains(&key) {
            check_keywords(value, problems);
            value.items().iter().for_each(|item| check_keywords(item, problems));
        }
    }
}

/// Returns the keyword that an unknown one misspells.
fn misspelled_keyword(key: &str) -> Option<&'static str> {
    if KEYWORDS.contains(&key) || key.chars().count() < MIN_CHARS {
        return None;
    }
    let plain = |text: &str| text.replace(['_', '-'], "").to_lowercase();
    let is_near =
        |known: &&str| strsim::osa_distance(known, key) <= 1 || plain(known) == plain(key);
    KEYWORDS.into_iter().find(is_near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    #[track_caller]
    fn check(schema: &str, expected: &[&str]) {
        let source = Source::new("a.yaml", schema);
        let mut problems = Problems::new(&source);
        check_keywords(&Node::parse(&source).unwrap(), &mut problems);
        let message = problems.to_string();
        assert_eq!(problems.iter().count(), expected.len(), "{message}");
        expected.iter().for_each(|part| assert!(message.contains(part), "{message}"));
    }

    #[test]
    fn reports_misspelled_keywords_at_any_depth() {
        check("{type: object, requird: [a]}", &["did you mean 'required'?"]);
        check("{properties: {a: {minimun: 1}}}", &["did you mean 'minimum'?"]);
        check("{items: {max_length: 5}}", &["did you mean 'maxLength'?"]);
        check("{anyOf: [{}, {additionalproperties: false}]}", &["'additionalProperties'"]);
        check("{$defs: {a: {not: {paterns: a, patern: a}}}}", &["did you mean 'pattern'?"]);
    }

    #[test]
    fn accepts_names_of_properties_data_and_own_keywords() {
        check("{properties: {requird: {type: string}, item: {type: string}}}", &[]);
        check("{enum: [{requird: 1}], default: {minimun: 1}, const: {patern: 1}}", &[]);
        check("{x-own: 1, example: 1, discriminator: {}, formatMinimum: a, comment: a}", &[]);
        check("{dependencies: {patern: [a]}, required: [a], type: [string, 'null']}", &[]);
    }
}
