//! Prompts.

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::Case;
use super::definitions::set;
use super::lists::{answer, refuse};
use crate::support::{Action, AlteredServer};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

/// Answers requests for prompts that fit.
fn on_gets(
    server: AlteredServer,
    fits: fn(&Value) -> bool,
    answer: fn(&Value) -> Action,
) -> AlteredServer {
    server.on_method("prompts/get", move |request| match fits(&request["params"]) {
        true => answer(request),
        false => Action::Pass,
    })
}

fn is_unknown(params: &Value) -> bool {
    params["name"] == "sparring-unknown-prompt"
}

fn lacks_argument(params: &Value) -> bool {
    params["name"] == "greeting" && params["arguments"] == json!({})
}

fn succeed(request: &Value) -> Action {
    let content = json!({"type": "text", "text": "Say hello."});
    answer(request, json!({"messages": [{"role": "user", "content": content}]}))
}

/// Other rules about malformed params.
const MALFORMED: &[Rule] = &[Rule::InvalidParams, Rule::InvalidParamsCode];

/// A message with an embedded resource that has no MIME type.
fn embed_resource(server: AlteredServer) -> AlteredServer {
    let resource = json!({"uri": "test://text", "text": "Some text."});
    let content = json!({"type": "resource", "resource": resource});
    set(server, "prompts/get", "/messages/0/content", content)
}

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::UnvalidatedPrompt, V2024_11_05, |server| {
        on_gets(server, is_unknown, succeed)
    }),
    Case::lines(Rule::UnvalidatedPrompt, V2026_07_28, |server| {
        on_gets(server, is_unknown, succeed)
    })
    .also(&[Rule::UnsupportedVersion, Rule::MissingMeta]),
    Case::lines(Rule::UnvalidatedPrompt, V2025_03_26, |server| {
        on_gets(server, |params| params.get("name").is_none(), succeed)
    })
    .also(MALFORMED),
    Case::lines(Rule::UnvalidatedPrompt, V2025_11_25, |server| {
        on_gets(server, |params| params["arguments"].is_string(), succeed)
    })
    .also(MALFORMED),
    Case::lines(Rule::UnknownPrompt, V2025_06_18, |server| {
        on_gets(server, is_unknown, |request| refuse(request, 0))
    }),
    Case::lines(Rule::UnknownPrompt, V2026_07_28, |server| {
        on_gets(server, is_unknown, |request| refuse(request, -32603))
    }),
    Case::lines(Rule::MissingPromptArgument, V2024_11_05, |server| {
        on_gets(server, lacks_argument, succeed)
    }),
    Case::lines(Rule::MissingPromptArgument, V2025_11_25, |server| {
        on_gets(server, lacks_argument, |request| refuse(request, -32603))
    }),
    Case::lines(Rule::MissingPromptArgument, V2026_07_28, |server| {
        on_gets(server, lacks_argument, succeed)
    })
    .also(&[Rule::UnsupportedVersion, Rule::MissingMeta]),
    Case::lines(Rule::UnvalidatedPrompt, V2025_06_18, |server| {
        on_gets(server, |params| params["arguments"]["who"].is_object(), succeed)
    }),
    Case::lines(Rule::MissingResourceMediaType, V2025_11_25, |server| {
        let resource = json!({"uri": "test://text", "mimeType": "", "text": "Some text."});
        let content = json!({"type": "resource", "resource": resource});
        set(server, "prompts/get", "/messages/0/content", content)
    })
    .also(&[Rule::InvalidResourceMediaType]),
    Case::lines(Rule::MissingResourceMediaType, V2024_11_05, embed_resource),
    Case::lines(Rule::MissingResourceMediaType, V2026_07_28, embed_resource),
];
