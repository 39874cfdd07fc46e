//! The page of all keys of a grammar, a table an object, for the docs.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{Object, schema};
use crate::casing::snake;

/// The page of all keys: `intro` stands below the title, and then a table for
/// each map there is.
pub fn page(title: &str, intro: &str, root: &'static Object) -> String {
    let schema = schema(title, root);
    let mut page = format!("# {title}\n\n{intro}\n");
    table(root.name, &schema, &mut page);
    for (name, object) in schema["$defs"].as_object().unwrap_or(&Map::new()) {
        table(&name.replace('_', " "), object, &mut page);
    }
    page
}

fn table(name: &str, object: &Value, page: &mut String) {
    // Writing to a text cannot fail.
    let _ = write!(page, "\n## {name}\n\n| key | what | for |\n|---|---|---|\n");
    for (key, value) in object["properties"].as_object().unwrap_or(&Map::new()) {
        if snake(key) != *key {
            continue;
        }
        let about = value["description"].as_str().unwrap_or_default().replace('|', "\\|");
        let _ = writeln!(page, "| `{key}` | {} | {about} |", what(value));
    }
}

/// What stands below a key, in words.
fn what(schema: &Value) -> String {
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
        let choices: Vec<String> = choices.iter().map(what).collect();
        return choices.join(", or ");
    }
    match schema["type"].as_str() {
        Some("string") if schema.get("pattern").is_some() => "a time".to_owned(),
        Some("string") => "a text".to_owned(),
        Some("array") => format!("list of {}", what(&schema["items"])),
        Some("object") => match &schema["additionalProperties"] {
            Value::Object(_) => format!("map of {}", what(&schema["additionalProperties"])),
            _ => "a map".to_owned(),
        },
        Some(other) => format!("a {other}").replace("a integer", "a whole number"),
        None => "anything".to_owned(),
    }
}
