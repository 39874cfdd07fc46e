//! The short way to say what arguments there are:
//! `{city: string, units: "string?", days: [1, 2, 3]}`.

use serde_json::{Map, Value, json};

use crate::nearest::did_you_mean;
use crate::node::{Kind, Node};
use crate::problem::Problems;

const TYPES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "any"];

/// The JSON Schema of an object with these arguments. A type that ends in `?`
/// may be left out, one that ends in `[]` is a list of it, a list is a choice,
/// and a map is a JSON Schema of its own.
pub fn input_schema(node: &Node, problems: &mut Problems) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for entry in node.entries() {
        let (schema, optional) = argument(&entry.value, problems);
        if !optional {
            required.push(Value::from(&*entry.key));
        }
        properties.insert(entry.key.clone(), schema);
    }
    let mut schema = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}

fn argument(node: &Node, problems: &mut Problems) -> (Value, bool) {
    match &node.kind {
        Kind::String(text) => {
            let (name, optional) = text.strip_suffix('?').map_or((&**text, false), |it| (it, true));
            (named(name, node, problems), optional)
        }
        Kind::List(_) => (json!({"enum": node.to_json()}), false),
        Kind::Map(_) => (node.to_json(), false),
        _ => {
            let what = node.what();
            problems.add(node.span, format!("expected a type such as `string`, found {what}"));
            (json!({}), false)
        }
    }
}

fn named(name: &str, node: &Node, problems: &mut Problems) -> Value {
    if let Some(item) = name.strip_suffix("[]") {
        return json!({"type": "array", "items": named(item, node, problems)});
    }
    match TYPES.contains(&name) {
        true if name == "any" => json!({}),
        true => json!({"type": name}),
        false => {
            let help = did_you_mean(name, TYPES)
                .unwrap_or_else(|| format!("known are {}", TYPES.join(", ")));
            problems.add_with_help(node.span, format!("unknown type `{name}`"), Some(help));
            json!({})
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn read(text: &str) -> Result<Value, String> {
        let source = Source::new("a.yaml", text);
        let mut problems = Problems::new(&source);
        let schema = input_schema(&Node::parse(&source).unwrap(), &mut problems);
        problems.or(schema).map_err(|problems| problems.to_string())
    }

    #[test]
    fn arguments_become_a_schema() {
        let text =
            "{a: string, b: \"integer?\", c: \"string[]\", d: [x, y], e: {minimum: 1}, f: any}";
        let expected = json!({
            "type": "object",
            "properties": {
                "a": {"type": "string"}, "b": {"type": "integer"},
                "c": {"type": "array", "items": {"type": "string"}},
                "d": {"enum": ["x", "y"]}, "e": {"minimum": 1}, "f": {},
            },
            "required": ["a", "c", "d", "e", "f"],
        });
        assert_eq!(read(text), Ok(expected));
        assert_eq!(read("{}"), Ok(json!({"type": "object", "properties": {}})));
    }

    #[test]
    fn a_type_that_is_none_is_told_with_the_nearest() {
        let told = read("{a: strin, b: 3}").unwrap_err();
        assert!(told.contains("did you mean 'string'") && told.contains("a.yaml:1:5"), "{told}");
        assert!(told.contains("found a number"), "{told}");
    }
}
