//! Expands the short notation for tool arguments,
//! `{city: string, units: "string?", days: [1, 2, 3]}`, to a JSON Schema.

use serde_json::{Map, Value, json};

use crate::node::{Node, NodeKind};
use crate::problem::Problems;
use crate::suggestion::did_you_mean;

const TYPE_NAMES: [&str; 7] = ["string", "integer", "number", "boolean", "array", "object", "any"];

/// Returns the JSON Schema of an object with these arguments. An argument whose type
/// ends in `?` is optional, a type that ends in `[]` is a list, a list is an `enum`,
/// and a map is a JSON Schema.
pub fn build_input_schema(node: &Node, problems: &mut Problems) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for entry in node.entries() {
        let (schema, optional) = argument_schema(&entry.value, problems);
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

/// Returns the schema of an argument, and true if the argument is optional.
fn argument_schema(node: &Node, problems: &mut Problems) -> (Value, bool) {
    match &node.kind {
        NodeKind::String(text) => {
            let (name, optional) = text.strip_suffix('?').map_or((&**text, false), |it| (it, true));
            (type_schema(name, node, problems), optional)
        }
        NodeKind::List(_) => (json!({"enum": node.to_json()}), false),
        NodeKind::Map(_) => (node.to_json(), false),
        _ => {
            let found = node.describe();
            problems.add(node.span, format!("expected a type such as `string`, found {found}"));
            (json!({}), false)
        }
    }
}

fn type_schema(name: &str, node: &Node, problems: &mut Problems) -> Value {
    if let Some(item) = name.strip_suffix("[]") {
        return json!({"type": "array", "items": type_schema(item, node, problems)});
    }
    match TYPE_NAMES.contains(&name) {
        true if name == "any" => json!({}),
        true => json!({"type": name}),
        false => {
            let help = did_you_mean(name, TYPE_NAMES)
                .unwrap_or_else(|| format!("known types: {}", TYPE_NAMES.join(", ")));
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
        let schema = build_input_schema(&Node::parse(&source).unwrap(), &mut problems);
        problems.into_result(schema).map_err(|problems| problems.to_string())
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
    fn an_unknown_type_is_reported_with_a_suggestion() {
        let message = read("{a: strin, b: 3}").unwrap_err();
        assert!(
            message.contains("did you mean 'string'") && message.contains("a.yaml:1:5"),
            "{message}"
        );
        assert!(message.contains("found a number"), "{message}");
    }
}
