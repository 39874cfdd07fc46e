//! Renders the reference page of all keys, with one table for each object.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::json_schema::TEMPLATE;
use super::{Object, json_schema};
use crate::casing::to_snake_case;

/// Renders the reference page in Markdown: the title, `intro`, and a table for each object.
pub fn render_key_reference(title: &str, intro: &str, root: &'static Object) -> String {
    let schema = json_schema(title, root);
    let mut page = format!("# {title}\n\n{intro}\n");
    write_table(root.name, &schema, &mut page);
    for (name, object) in schema["$defs"].as_object().unwrap_or(&Map::new()) {
        write_table(&name.replace('_', " "), object, &mut page);
    }
    page
}

fn write_table(name: &str, object: &Value, page: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(page, "\n## {name}\n\n| key | value | description |\n|---|---|---|\n");
    for (key, value) in object["properties"].as_object().unwrap_or(&Map::new()) {
        if to_snake_case(key) != *key {
            continue;
        }
        let about = value["description"].as_str().unwrap_or_default().replace('|', "\\|");
        let _ = writeln!(page, "| `{key}` | {} | {about} |", describe_type(value));
    }
}

/// Describes the type of a key's value.
fn describe_type(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = name.trim_start_matches("#/$defs/").replace('_', " ");
        return format!("[{name}](#{})", name.replace(' ', "-").to_lowercase());
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> =
            words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        return words.join(" ");
    }
    if let Some(choices) = schema["anyOf"].as_array() {
        let choices: Vec<String> = choices.iter().map(describe_type).collect();
        return choices.join(", or ");
    }
    match schema["type"].as_str() {
        Some("string") if schema["pattern"] == TEMPLATE => "a template".to_owned(),
        Some("string") if schema.get("pattern").is_some() => "a duration".to_owned(),
        Some("string") => "a string".to_owned(),
        Some("array") => format!("list of {}", describe_type(&schema["items"])),
        Some("object") => match &schema["additionalProperties"] {
            Value::Object(_) => {
                format!("map of {}", describe_type(&schema["additionalProperties"]))
            }
            _ => "a map".to_owned(),
        },
        Some("integer") => "an integer".to_owned(),
        Some(other) => format!("a {other}"),
        None => "any value".to_owned(),
    }
}
