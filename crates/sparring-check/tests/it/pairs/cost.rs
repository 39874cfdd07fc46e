//! The number of tokens of definitions.

use serde_json::json;
use sparring_wire::{Revision, Rule};

use super::Case;
use super::definitions::set_tool;

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::TooManyTokens, Revision::V2025_11_25, |server| {
        set_tool(server, "/tools/0/description", json!("Repeats a text. ".repeat(200)))
    })
    .with_options(|options| options.max_tokens = Some(900)),
    Case::lines(Rule::TooManyTokens, Revision::V2024_11_05, |server| {
        let parameter =
            json!({"type": "string", "description": "The text to repeat. ".repeat(200)});
        set_tool(server, "/tools/0/inputSchema/properties/text", parameter)
    })
    .with_options(|options| options.max_tokens = Some(900)),
    Case::lines(Rule::LargeDefinition, Revision::V2026_07_28, |server| {
        set_tool(server, "/tools/0/description", json!("Repeats a text. ".repeat(2_500)))
    }),
];
