//! Generates random lists of tools with valid schemas and arbitrary names and texts.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

/// Texts that often break generators.
const TEXTS: [&str; 40] = [
    "",
    " ",
    "_",
    "a",
    "b",
    "A",
    "a_b",
    "aB",
    "a-b",
    "type",
    "self",
    "Self",
    "crate",
    "new",
    "fn",
    "2fa",
    "1",
    "value",
    "Option",
    "Vec",
    "String",
    "Value",
    "Client",
    "Call",
    "None",
    "größe",
    "城市",
    "город",
    "e\u{301}",
    "é",
    "\u{202e}x",
    "\"",
    "\\",
    "*/",
    "//! x",
    "`",
    "```",
    "a\nb",
    "'); drop table",
    "the name of something that takes more than the whole of a line to be told",
];

/// Generates one of these texts, or another one.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        3 => select(&TEXTS[..]).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => "[a-z]{1,12}(_[a-z]{1,12}){0,8}",
    ]
}

fn leaf() -> impl Strategy<Value = Value> {
    let of_type = select(vec!["boolean", "integer", "number", "string", "array", "object", "null"]);
    prop_oneof![
        4 => of_type.prop_map(|of_type| json!({"type": of_type})),
        2 => proptest::collection::vec(text(), 1..5).prop_map(|texts| json!({"enum": texts})),
        1 => text().prop_map(|text| json!({"const": text})),
        1 => any::<i64>().prop_map(|least| json!({"type": "integer", "minimum": least})),
        1 => Just(json!({})),
        1 => any::<bool>().prop_map(Value::Bool),
        2 => select(vec!["A", "B", "C"]).prop_map(|name| json!({"$ref": format!("#/$defs/{name}")})),
        1 => Just(json!({"$ref": "#"})),
    ]
}

fn object(schema: impl Strategy<Value = Value> + Clone) -> impl Strategy<Value = Value> {
    let member = (text(), schema.clone(), any::<bool>(), text());
    let members = proptest::collection::vec(member, 0..9);
    (members, proptest::option::of(schema)).prop_map(|(members, additional)| {
        let mut object = json!({"type": "object", "properties": {}, "required": []});
        for (name, mut schema, is_required, description) in members {
            if let Value::Object(schema) = &mut schema {
                schema.insert("default".to_owned(), json!(name));
                schema.insert("description".to_owned(), description.into());
            }
            if is_required {
                object["required"].as_array_mut().expect("a list").push(name.clone().into());
            }
            object["properties"][name] = schema;
        }
        if let Some(additional) = additional {
            object["additionalProperties"] = additional;
        }
        object
    })
}

fn schema() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(4, 40, 8, |inner| {
        let boxed = inner.boxed();
        prop_oneof![
            3 => object(boxed.clone()),
            1 => boxed.clone().prop_map(|items| json!({"type": "array", "items": items})),
            1 => boxed.clone().prop_map(|it| json!({"anyOf": [it, {"type": "null"}]})),
            1 => boxed.clone().prop_map(|it| json!({"allOf": [it]})),
            1 => proptest::collection::vec(boxed, 2..4).prop_map(|all| json!({"oneOf": all})),
        ]
    })
}

fn tool() -> impl Strategy<Value = Value> {
    let defs = [schema(), schema(), schema()];
    let output = proptest::option::of(schema());
    (text(), text(), object(schema().boxed()), output, defs).prop_map(
        |(name, description, mut input, output, [a, b, c])| {
            let defs = json!({"A": a, "B": b, "C": c});
            input["$defs"] = defs.clone();
            let mut tool = json!({"name": name, "description": description, "inputSchema": input});
            if let Some(mut output) = output {
                if let Value::Object(output) = &mut output {
                    output.insert("$defs".to_owned(), defs);
                }
                tool["outputSchema"] = output;
            }
            tool
        },
    )
}

/// Generates a list of tools with unique names.
pub(crate) fn tools() -> impl Strategy<Value = Vec<Value>> {
    proptest::collection::vec(tool(), 1..6).prop_map(|mut tools| {
        let mut seen = std::collections::HashSet::new();
        tools.retain(|tool| seen.insert(tool["name"].to_string()));
        tools
    })
}
