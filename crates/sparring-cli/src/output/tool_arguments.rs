//! Renders the arguments of a tool in short: `a:integer [unit:string]`.

use std::collections::HashSet;

use serde_json::Value;

use super::line;

/// Minimum and maximum columns of the arguments in a list; `spar describe` shows all.
const MIN_COLUMNS: usize = 20;
const MAX_COLUMNS: usize = 60;

/// Maximum number of types of one argument that are shown.
const MAX_TYPES: usize = 3;

/// Renders the arguments for a list: at most a third of the terminal.
pub(crate) fn render_short_arguments(schema: &Value, width: Option<usize>) -> String {
    let columns = width.map_or(MAX_COLUMNS, |width| (width / 3).clamp(MIN_COLUMNS, MAX_COLUMNS));
    line::truncate(&render_arguments(schema), columns)
}

/// Renders the arguments of an input schema, optional ones in brackets. Required ones come
/// first.
fn render_arguments(schema: &Value) -> String {
    let required: HashSet<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let is_required = |name: &str| required.contains(name);
    let properties = schema["properties"].as_object();
    let properties = || properties.into_iter().flatten();
    let needed = properties().filter(|(name, _)| is_required(name));
    let needed = needed.map(|(name, property)| render_argument(name, property));
    let optional = properties().filter(|(name, _)| !is_required(name));
    let optional =
        optional.map(|(name, property)| format!("[{}]", render_argument(name, property)));
    needed.chain(optional).collect::<Vec<_>>().join(" ")
}

fn render_argument(name: &str, property: &Value) -> String {
    match render_type(property) {
        Some(kind) => format!("{name}:{kind}"),
        None => name.to_owned(),
    }
}

/// Renders the type that a schema names, if it names one.
pub(crate) fn render_type(schema: &Value) -> Option<String> {
    let types: Vec<String> = match &schema["type"] {
        Value::String(name) if name == "array" => {
            return Some(match render_type(&schema["items"]) {
                Some(item) if !item.contains('|') => format!("{item}[]"),
                _ => "array".to_owned(),
            });
        }
        Value::String(name) => vec![name.clone()],
        Value::Array(names) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => {
            let choices = schema["anyOf"].as_array().or_else(|| schema["oneOf"].as_array());
            let mut types: Vec<String> = Vec::new();
            for kind in choices.into_iter().flatten().filter_map(render_type) {
                if !types.contains(&kind) {
                    types.push(kind);
                }
                if types.len() > MAX_TYPES {
                    break;
                }
            }
            types
        }
    };
    (!types.is_empty() && types.len() <= MAX_TYPES).then(|| types.join("|"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn optional_arguments_follow_in_brackets() {
        let schema = json!({
            "properties": {
                "unit": {"type": "string"},
                "a": {"type": "integer"},
                "tags": {"type": "array", "items": {"type": "string"}},
                "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "any": {},
            },
            "required": ["a", "tags"],
        });
        // The members of the schema keep their order.
        let rendered = render_arguments(&schema);
        let mut words: Vec<&str> = rendered.split(' ').collect();
        assert_eq!(words.len(), 5, "{rendered}");
        assert!(rendered.find("tags:string[]") < rendered.find("[unit:string]"), "{rendered}");
        words.sort_unstable();
        let expected =
            ["[any]", "[limit:integer|null]", "[unit:string]", "a:integer", "tags:string[]"];
        assert_eq!(words, expected);
        assert_eq!(render_arguments(&json!({"type": "object"})), "");
    }
}
