//! The page of all keys is made from the language itself.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

const PAGE: &str = "docs/mock-keys.md";

/// `SPAR_BLESS=1` writes the page anew.
#[test]
fn the_page_of_all_keys_is_what_the_language_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(PAGE);
    let page = page(&sparring_mock::schema());
    if std::env::var_os("SPAR_BLESS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page, "{PAGE} is not what the language has; SPAR_BLESS=1 writes it anew");
}

fn page(schema: &Value) -> String {
    let mut page = "# All keys of a mock\n\nMade from the language itself; [mock.md](mock.md) \
                    explains it. Keys may also be written as the wire has them, `inputSchema` for \
                    `input_schema`.\n"
        .to_owned();
    table("a script", schema, &mut page);
    for (name, object) in schema["$defs"].as_object().unwrap() {
        table(&name.replace('_', " "), object, &mut page);
    }
    page
}

fn table(name: &str, object: &Value, page: &mut String) {
    write!(page, "\n## {name}\n\n| key | what | for |\n|---|---|---|\n").unwrap();
    for (key, value) in object["properties"].as_object().unwrap() {
        if sparring_script::casing::snake(key) != *key {
            continue;
        }
        let about = value["description"].as_str().unwrap_or_default().replace('|', "\\|");
        writeln!(page, "| `{key}` | {} | {about} |", what(value)).unwrap();
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
