//! Completion.

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

/// A correct server without completion.
const NO_COMPLETION: &str = "
server: {name: correct, version: 1.0.0, title: Correct}
cache: {ttl: 5m, scope: public}
prompts:
  - name: greeting
    description: Greets a person.
    arguments: [{name: who, description: The person to greet., required: true}]
    text: 'Greet ${args.who}.'
";

/// Answers completions that fit.
fn on_completions(
    server: AlteredServer,
    fits: fn(&Value) -> bool,
    answer: fn(&Value) -> Action,
) -> AlteredServer {
    server.on_method("completion/complete", move |request| match fits(&request["params"]) {
        true => answer(request),
        false => Action::Pass,
    })
}

fn complete(request: &Value) -> Action {
    answer(request, json!({"completion": {"values": []}}))
}

fn complete_with_a_value(request: &Value) -> Action {
    answer(request, json!({"completion": {"values": ["a"]}}))
}

fn is_unknown(params: &Value) -> bool {
    params["ref"]["name"] == "sparring-unknown-prompt"
}

fn lacks_argument(params: &Value) -> bool {
    params.get("argument").is_none()
}

/// Other rules about malformed params.
const MALFORMED: &[Rule] = &[Rule::InvalidParams, Rule::InvalidParamsCode];

/// Other rules about methods without their capability.
const UNDECLARED: &[Rule] = &[Rule::UndeclaredMethod, Rule::Undeclared];

pub(super) const CASES: &[Case] = &[
    Case::lines(Rule::CompletionNotImplemented, V2025_03_26, |server| {
        on_completions(server, |_| true, |request| refuse(request, -32601))
    }),
    Case::lines(Rule::CompletionNotImplemented, V2026_07_28, |server| {
        on_completions(server, |_| true, |request| refuse(request, -32601))
    }),
    Case::lines(Rule::CompletionUnsupported, V2025_06_18, |server| {
        on_completions(server, |_| true, |request| refuse(request, -32602))
    })
    .of(|| AlteredServer::new(NO_COMPLETION))
    .also(UNDECLARED),
    Case::lines(Rule::CompletionUnsupported, V2026_07_28, |server| {
        on_completions(server, |_| true, |request| refuse(request, -32602))
    })
    .of(|| AlteredServer::new(NO_COMPLETION))
    .also(UNDECLARED),
    Case::lines(Rule::CompletionUnsupported, V2025_11_25, |server| {
        on_completions(server, |_| true, complete)
    })
    .of(|| AlteredServer::new(NO_COMPLETION))
    .also(UNDECLARED),
    Case::lines(Rule::Undeclared, V2025_03_26, |server| {
        on_completions(server, |_| true, complete_with_a_value)
    })
    .of(|| AlteredServer::new(NO_COMPLETION)),
    Case::lines(Rule::Undeclared, V2026_07_28, |server| {
        on_completions(server, |_| true, complete_with_a_value)
    })
    .also(&[Rule::UnsupportedVersion, Rule::MissingMeta])
    .of(|| AlteredServer::new(NO_COMPLETION)),
    Case::lines(Rule::UnvalidatedCompletion, V2024_11_05, |server| {
        on_completions(server, |params| params.get("ref").is_none(), complete)
    })
    .also(MALFORMED),
    Case::lines(Rule::UnvalidatedCompletion, V2025_06_18, |server| {
        on_completions(server, |params| params["ref"]["type"] == "ref/sparring", complete)
    })
    .also(MALFORMED),
    Case::lines(Rule::UnvalidatedCompletion, V2026_07_28, |server| {
        on_completions(server, lacks_argument, complete)
    })
    .also(&[
        Rule::InvalidParams,
        Rule::InvalidParamsCode,
        Rule::UnsupportedVersion,
        Rule::MissingMeta,
    ]),
    Case::lines(Rule::CompletionErrorCode, V2025_03_26, |server| {
        on_completions(server, is_unknown, complete)
    }),
    Case::lines(Rule::CompletionErrorCode, V2025_11_25, |server| {
        on_completions(server, is_unknown, |request| refuse(request, -32603))
    }),
    Case::lines(Rule::CompletionErrorCode, V2026_07_28, |server| {
        on_completions(server, lacks_argument, |request| refuse(request, -32603))
    })
    .also(MALFORMED),
    Case::lines(Rule::CompletionTotal, V2024_11_05, |server| {
        set(server, "completion/complete", "/completion/total", json!(1))
    }),
    Case::lines(Rule::CompletionTotal, V2025_11_25, |server| {
        set(
            server,
            "completion/complete",
            "/completion",
            json!({
                "values": ["Alice"], "total": 5, "hasMore": false,
            }),
        )
    }),
];
