//! Checks that the schemas of a tool are valid JSON Schemas: the type of every keyword, at
//! any depth. It does not resolve references, compile patterns or apply a schema.

use crate::json::{Json, JsonKind};

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// The value that a keyword needs.
#[derive(Clone, Copy)]
enum Keyword {
    Type,
    Schema,
    Items,
    Schemas,
    SchemaMap,
    Strings,
    Array,
    String,
    Boolean,
    Number,
    Count,
}

const KEYWORDS: &[(&str, Keyword)] = &[
    ("type", Keyword::Type),
    ("properties", Keyword::SchemaMap),
    ("required", Keyword::Strings),
    ("items", Keyword::Items),
    ("additionalProperties", Keyword::Schema),
    ("enum", Keyword::Array),
    ("description", Keyword::String),
    ("title", Keyword::String),
    ("anyOf", Keyword::Schemas),
    ("oneOf", Keyword::Schemas),
    ("allOf", Keyword::Schemas),
    ("not", Keyword::Schema),
    ("if", Keyword::Schema),
    ("then", Keyword::Schema),
    ("else", Keyword::Schema),
    ("contains", Keyword::Schema),
    ("propertyNames", Keyword::Schema),
    ("patternProperties", Keyword::SchemaMap),
    ("$defs", Keyword::SchemaMap),
    ("definitions", Keyword::SchemaMap),
    ("$ref", Keyword::String),
    ("format", Keyword::String),
    ("pattern", Keyword::String),
    ("minimum", Keyword::Number),
    ("maximum", Keyword::Number),
    ("exclusiveMinimum", Keyword::Number),
    ("exclusiveMaximum", Keyword::Number),
    ("multipleOf", Keyword::Number),
    ("minLength", Keyword::Count),
    ("maxLength", Keyword::Count),
    ("minItems", Keyword::Count),
    ("maxItems", Keyword::Count),
    ("minProperties", Keyword::Count),
    ("maxProperties", Keyword::Count),
    ("uniqueItems", Keyword::Boolean),
];

/// Returns the path below the schema and the reason, if a schema is not valid. Accepts
/// every schema of a dialect whose keywords have other types.
pub(super) fn schema_problem(schema: Json<'_>) -> Option<(String, String)> {
    let dialect = schema.get("$schema").and_then(Json::as_str);
    let known = ["2020-12", "2019-09", "draft-07", "draft-06"];
    if dialect.is_some_and(|uri| !known.iter().any(|name| uri.contains(name))) {
        return None;
    }
    check_schema(schema, &mut Vec::new()).map(|(path, message)| (path.concat(), message))
}

/// A path in steps, and a message.
type Problem = (Vec<String>, String);

fn check_schema(schema: Json<'_>, path: &mut Vec<String>) -> Option<Problem> {
    match schema.kind() {
        JsonKind::Boolean => return None,
        JsonKind::Object => {}
        _ => return mismatch("a schema", schema, path),
    }
    for (key, value) in schema.members() {
        let Some((name, keyword)) = KEYWORDS.iter().find(|(name, _)| key.is(name)) else {
            continue;
        };
        path.push(format!(".{name}"));
        let problem = check_keyword(*keyword, value, path);
        if problem.is_some() {
            return problem;
        }
        path.pop();
    }
    None
}

fn check_keyword(keyword: Keyword, value: Json<'_>, path: &mut Vec<String>) -> Option<Problem> {
    let kind = value.kind();
    let is_count = || value.as_f64().is_some_and(|it| it >= 0.0 && it.fract() == 0.0);
    let expect = |fits: bool, expected: &str, path: &[String]| {
        if fits { None } else { mismatch(expected, value, path) }
    };
    match keyword {
        Keyword::Type => expect(is_type(value), "a JSON Schema type, or a list of them", path),
        Keyword::Schema => check_schema(value, path),
        Keyword::Items if kind == JsonKind::Array => check_each(value, path),
        Keyword::Items => check_schema(value, path),
        Keyword::Schemas if kind == JsonKind::Array && value.items().next().is_some() => {
            check_each(value, path)
        }
        Keyword::Schemas => mismatch("a list of schemas", value, path),
        Keyword::SchemaMap if kind == JsonKind::Object => value.members().find_map(|(key, it)| {
            path.push(format!("[{:?}]", key.name()));
            let problem = check_schema(it, path);
            path.pop();
            problem
        }),
        Keyword::SchemaMap => mismatch("an object of schemas", value, path),
        Keyword::Strings => {
            let fits =
                kind == JsonKind::Array && value.items().all(|it| it.kind() == JsonKind::String);
            expect(fits, "a list of strings", path)
        }
        Keyword::Array => expect(kind == JsonKind::Array, "a list", path),
        Keyword::String => expect(kind == JsonKind::String, "a string", path),
        Keyword::Boolean => expect(kind == JsonKind::Boolean, "a boolean", path),
        Keyword::Number => {
            expect(matches!(kind, JsonKind::Integer | JsonKind::Number), "a number", path)
        }
        Keyword::Count => expect(is_count(), "a non-negative integer", path),
    }
}

fn check_each(list: Json<'_>, path: &mut Vec<String>) -> Option<Problem> {
    list.items().enumerate().find_map(|(index, item)| {
        path.push(format!("[{index}]"));
        let problem = check_schema(item, path);
        path.pop();
        problem
    })
}

fn is_type(value: Json<'_>) -> bool {
    let is_name = |it: Json<'_>| it.as_str().is_some_and(|it| TYPES.contains(&&*it));
    match value.kind() {
        JsonKind::Array => value.items().next().is_some() && value.items().all(is_name),
        _ => is_name(value),
    }
}

fn mismatch(expected: &str, value: Json<'_>, path: &[String]) -> Option<Problem> {
    let found = super::shape_check::render_value(value);
    Some((path.to_vec(), format!("expected {expected}, found {found}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::RawJson;

    fn check(schema: &str, expected: Option<&str>) {
        let schema = RawJson::parse(schema).unwrap();
        let found =
            schema_problem(schema.view()).map(|(path, message)| format!("{path} {message}"));
        assert_eq!(found.as_deref(), expected, "{schema:?}");
    }

    #[test]
    fn accepts_valid_schemas() {
        check(r#"{"type":"object"}"#, None);
        check(
            r#"{"type":"object","properties":{"type":{"type":["string","null"],"enum":["a"]},"required":{"items":{"$ref":"a"}}},"required":["type"],"additionalProperties":false,"$defs":{"x":true}}"#,
            None,
        );
        check(r#"{"items":[{"type":"string"}],"minItems":0,"x-own":{"type":7}}"#, None);
        // Draft 4 has another type for this keyword.
        check(
            r#"{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}"#,
            None,
        );
    }

    #[test]
    fn reports_the_first_keyword_with_a_wrong_value() {
        check(
            r#"{"properties":{"a":{"type":"strin"}}}"#,
            Some(
                r#".properties["a"].type expected a JSON Schema type, or a list of them, found "strin""#,
            ),
        );
        check(
            r#"{"properties":{"a":{"required":true}}}"#,
            Some(r#".properties["a"].required expected a list of strings, found true"#),
        );
        check(
            r#"{"properties":[]}"#,
            Some(".properties expected an object of schemas, found an array"),
        );
        check(r#"{"anyOf":[]}"#, Some(".anyOf expected a list of schemas, found an array"));
        check(r#"{"anyOf":[{},7]}"#, Some(".anyOf[1] expected a schema, found 7"));
        check(
            r#"{"items":{"minLength":-1}}"#,
            Some(".items.minLength expected a non-negative integer, found -1"),
        );
        check(
            r#"{"exclusiveMinimum":true}"#,
            Some(".exclusiveMinimum expected a number, found true"),
        );
    }
}
