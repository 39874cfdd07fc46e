//! Definitions of tools, prompts and resources.

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use crate::support::AlteredServer;

const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

/// Sets a part of the first tool, by its JSON pointer.
pub(super) fn set_tool(
    server: AlteredServer,
    pointer: &'static str,
    value: Value,
) -> AlteredServer {
    set(server, "tools/list", pointer, value)
}

/// Sets a part of a listed item, by its JSON pointer in the result.
pub(super) fn set(
    server: AlteredServer,
    method: &'static str,
    pointer: &'static str,
    value: Value,
) -> AlteredServer {
    server.on_result(method, move |result| {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = result.pointer_mut(parent).unwrap();
        match value.is_null() {
            true => drop(parent.as_object_mut().unwrap().remove(key)),
            false => parent[key] = value.clone(),
        }
    })
}

/// The schema of the text of the tool `echo`.
const TEXT: &str = "/tools/0/inputSchema/properties/text";

fn set_text(server: AlteredServer, mut schema: Value) -> AlteredServer {
    schema["description"] = json!("The text to repeat.");
    set_tool(server, TEXT, schema)
}

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::InvalidSchema, V2025_06_18, |server| {
        set_text(server, json!({"type": "string", "minLength": -1}))
    }),
    Case::lines(Rule::InvalidPattern, V2025_11_25, |server| {
        set_text(server, json!({"type": "string", "pattern": "(a"}))
    }),
    Case::lines(Rule::UnresolvedReference, V2026_07_28, |server| {
        set_text(server, json!({"$ref": "#/$defs/text"}))
    }),
    Case::lines(Rule::ExternalReference, V2025_11_25, |server| {
        set_text(server, json!({"$ref": "https://example.com/text.json"}))
    }),
    Case::lines(Rule::UndeclaredRequired, V2025_11_25, |server| {
        set_tool(server, "/tools/2/inputSchema/required", json!(["size"]))
    }),
    Case::lines(Rule::WrongEnum, V2026_07_28, |server| {
        set_text(server, json!({"type": "string", "enum": ["text", "a", "a"]}))
    }),
    Case::lines(Rule::ImpossibleSchema, V2025_11_25, |server| {
        let size = json!({
            "type": "integer", "minimum": 5, "maximum": 4, "description": "The size.",
        });
        set_tool(server, "/tools/2/inputSchema/properties", json!({"size": size}))
    }),
    Case::lines(Rule::WrongDefault, V2025_11_25, |server| {
        let size = json!({"type": "integer", "default": "large", "description": "The size."});
        set_tool(server, "/tools/2/inputSchema/properties", json!({"size": size}))
    }),
    Case::lines(Rule::WrongExample, V2025_11_25, |server| {
        let size = json!({"type": "integer", "examples": [1, "a"], "description": "The size."});
        set_tool(server, "/tools/2/inputSchema/properties", json!({"size": size}))
    }),
    Case::lines(Rule::ToolNameCharacters, V2025_06_18, |server| {
        set_tool(server, "/tools/2/name", json!("a picture"))
    })
    .also(&[Rule::ItemNotImplemented, Rule::ToolErrorResponse]),
    Case::lines(Rule::LongToolName, V2025_11_25, |server| {
        set_tool(server, "/tools/2/name", json!("picture_".repeat(9)))
    })
    .also(&[Rule::ItemNotImplemented, Rule::ToolErrorResponse]),
    Case::lines(Rule::CollidingToolNames, V2025_11_25, |server| {
        set_tool(server, "/tools/2/name", json!("Document"))
    })
    .also(&[Rule::ItemNotImplemented, Rule::ToolErrorResponse]),
    Case::lines(Rule::MissingToolDescription, V2025_11_25, |server| {
        set_tool(server, "/tools/0/description", Value::Null)
    }),
    Case::lines(Rule::MissingParameterDescription, V2025_11_25, |server| {
        set_tool(server, "/tools/0/inputSchema/properties/text/description", json!(" "))
    }),
    Case::lines(Rule::MissingPromptDescription, V2025_11_25, |server| {
        set(server, "prompts/list", "/prompts/0/description", Value::Null)
    }),
    Case::lines(Rule::MissingArgumentDescription, V2025_11_25, |server| {
        set(server, "prompts/list", "/prompts/0/arguments/0/description", Value::Null)
    }),
    Case::lines(Rule::MissingResourceDescription, V2025_11_25, |server| {
        set(server, "resources/list", "/resources/0/description", json!(""))
    }),
    Case::lines(Rule::ContradictingAnnotations, V2025_11_25, |server| {
        set_tool(server, "/tools/0/annotations/destructiveHint", json!(true))
    }),
    Case::lines(Rule::DuplicateDefinition, V2025_11_25, |server| {
        server.on_result("prompts/list", |result| {
            let prompts = result["prompts"].as_array_mut().unwrap();
            prompts.push(prompts[0].clone());
        })
    }),
];
