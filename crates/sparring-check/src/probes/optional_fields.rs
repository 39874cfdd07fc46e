//! Requests that have worked before, with fields that no revision has, and with and without
//! optional fields.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::{Revision, Rule};

use super::completion::{Completable, METHOD, may_complete};
use super::observed::{Observed, call_params, callable, observe_calls};
use super::{Probe, probe};
use crate::context::{Context, ProbeResult};

pub(super) const PROBES: &[Probe] = &[probe!([UnknownField], optional_fields)];

/// The longest call of a tool that is repeated.
const MAX_DURATION: Duration = Duration::from_millis(200);

/// The number of tools that are called without arguments.
const MAX_TOOLS: usize = 10;

async fn optional_fields(context: &Context) -> ProbeResult {
    let observed = observe_calls(context).await;
    let is_fast = |it: &&Observed| it.is_success() && it.duration < MAX_DURATION;
    let good: Vec<&Observed> = observed.iter().filter(is_fast).collect();
    let only_reads = |tool: &&Value| {
        context.read_only_tools().contains(tool["name"].as_str().unwrap_or_default())
    };
    let has_succeeded = |tool: &&Value| good.iter().any(|it| it.calls(tool));
    let tools: Vec<&Value> =
        callable(context, &observed).filter(only_reads).filter(has_succeeded).collect();
    if let Some(tool) = tools.first() {
        with_unknown_fields(context, "tools/call", call_params(context, tool, &observed)).await;
    }
    if let Some(read) = good.iter().find(|it| it.method == "resources/read") {
        with_unknown_fields(context, "resources/read", read.params.clone()).await;
    }
    let is_empty = |tool: &Value| call_params(context, tool, &observed)["arguments"] == json!({});
    for tool in tools.into_iter().filter(|it| is_empty(it)).take(MAX_TOOLS) {
        let (with, without) =
            (call_params(context, tool, &observed), json!({"name": tool["name"]}));
        let request = "a call without `arguments`, because the tool requires none";
        require_success(context, "tools/call", without, with, request).await;
    }
    completion_context(context).await;
    Ok(())
}

async fn with_unknown_fields(context: &Context, method: &str, params: Value) {
    let fields = [
        ("sparringUnknown", json!({"nested": [1, 2]}), "with an unknown field in its params"),
        ("_meta", json!({"com.example/sparring": true}), "with an unknown key in its `_meta`"),
    ];
    for (key, value, description) in fields {
        let mut changed = params.clone();
        changed[key] = value;
        let request = format!("a request {description}");
        require_success(context, method, changed, params.clone(), &request).await;
    }
}

/// Sends a completion with the optional `context` (since 2025-06-18).
async fn completion_context(context: &Context) {
    if context.revision < Revision::V2025_06_18 || !may_complete(context) {
        return;
    }
    let Some(known) = Completable::all(context.facts()).into_iter().next() else { return };
    let params = known.params();
    let mut changed = params.clone();
    changed["context"] = json!({"arguments": {}});
    let request = "a completion with the optional `context`";
    require_success(context, METHOD, changed, params, request).await;
}

/// Requires that a request succeeds like the usual one, which is repeated after a failure.
async fn require_success(
    context: &Context,
    method: &str,
    params: Value,
    usual: Value,
    request: &str,
) {
    let rule = Rule::UnknownField;
    let reply = context.request(method, Some(params)).await;
    if reply.is_success() {
        context.pass(rule);
    } else if reply.is_answered() && context.request(method, Some(usual)).await.is_success() {
        let expected = format!("expected a result for {request}");
        context.fail(rule, reply.finding(expected).about(method));
    }
}
