//! Reads the recording of the shared connection: each request with its response, and the
//! questions that the server asked meanwhile. Probes that need a call of a tool look here first.

use std::collections::HashMap;
use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::json::parse_value;
use sparring_wire::{Entry, FrameKind, Id, Side};
use tokio::time::Instant;

use crate::context::Context;
use crate::tool_policy::{good_arguments, reason_against_call};

/// The time for calls of tools that no other probe has called, in response timeouts.
const MAX_WAITS: u32 = 3;

/// A request of the client, with everything until its response.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    pub(super) method: String,
    /// The params without `_meta`.
    pub(super) params: Value,
    /// The response; null if there is none.
    pub(super) response: Value,
    /// The time until the response.
    pub(super) duration: Duration,
    /// The requests of the server before the response.
    pub(super) questions: Vec<Value>,
    /// True if the request has a progress token.
    has_token: bool,
}

impl Observed {
    /// Returns true if the request called this tool.
    pub(super) fn calls(&self, tool: &Value) -> bool {
        self.method == "tools/call" && self.params["name"] == tool["name"]
    }

    /// Returns the params without `_meta`, or an empty object.
    pub(super) fn params_or_empty(&self) -> Value {
        match self.params.is_object() {
            true => self.params.clone(),
            false => json!({}),
        }
    }

    /// Returns true if the response is a complete result without `isError`.
    pub(super) fn is_success(&self) -> bool {
        is_success(&self.response)
    }

    /// Returns true if the server asked the client with this method, in a request or in the
    /// result.
    pub(super) fn asks(&self, method: &str) -> bool {
        let inputs = self.response["result"]["inputRequests"].as_object();
        let inputs = inputs.into_iter().flat_map(|it| it.values());
        self.questions.iter().chain(inputs).any(|it| it["method"] == method)
    }

    /// Returns true if the server asked the user with a form.
    pub(super) fn asks_for_form(&self) -> bool {
        let inputs = self.response["result"]["inputRequests"].as_object();
        let inputs = inputs.into_iter().flat_map(|it| it.values());
        let mut asked = self.questions.iter().chain(inputs);
        asked.any(|it| it["method"] == "elicitation/create" && it["params"]["mode"] != "url")
    }

    /// Returns true if the server asked for more than a form or a plain message: a page, or a
    /// message of a model with tools.
    pub(super) fn asks_for_extras(&self) -> bool {
        let inputs = self.response["result"]["inputRequests"].as_object();
        let inputs = inputs.into_iter().flat_map(|it| it.values());
        let mut questions = self.questions.iter().chain(inputs).map(|it| &it["params"]);
        questions.any(|it| it["mode"] == "url" || it["tools"].is_array())
    }

    /// Returns true if the server asked the client anything.
    pub(super) fn asks_anything(&self) -> bool {
        ["elicitation/create", "sampling/createMessage", "roots/list"]
            .iter()
            .any(|it| self.asks(it))
    }

    /// Returns true if it is the first request of several rounds.
    pub(super) fn is_first_round(&self) -> bool {
        self.params.get("inputResponses").is_none() && self.params.get("requestState").is_none()
    }
}

/// Returns true if a response is a complete result without `isError`.
pub(super) fn is_success(response: &Value) -> bool {
    let result = &response["result"];
    result.is_object() && result["isError"] != true && !requires_input(result)
}

/// Returns true if a result asks for input.
pub(super) fn requires_input(result: &Value) -> bool {
    result["resultType"] == "input_required"
}

/// Returns the tools that may be called and that have answered all calls.
pub(super) fn callable<'a>(
    context: &'a Context,
    observed: &'a [Observed],
) -> impl Iterator<Item = &'a Value> {
    let hangs = |tool: &Value| observed.iter().any(|it| it.calls(tool) && it.response.is_null());
    allowed(context).filter(move |tool| !hangs(tool))
}

/// Returns the tools that may be called.
fn allowed(context: &Context) -> impl Iterator<Item = &Value> {
    let tools = context.facts().tools.iter();
    tools.filter(|tool| reason_against_call(context, tool).is_none())
}

/// Returns the params of a good call of a tool: those of a call that has succeeded, if there
/// is one.
pub(super) fn call_params(context: &Context, tool: &Value, observed: &[Observed]) -> Value {
    let mut calls = observed.iter().filter(|it| it.calls(tool) && it.is_first_round());
    let good = calls.clone().find(|it| it.is_success()).or_else(|| {
        // A call that asks for input has valid arguments, too.
        calls.find(|it| requires_input(&it.response["result"]))
    });
    if let Some(good) = good {
        return json!({"name": tool["name"], "arguments": good.params["arguments"]});
    }
    let arguments = good_arguments(context, tool).values.swap_remove(0);
    json!({"name": tool["name"], "arguments": arguments})
}

/// Returns the requests of the shared connection, after calling each tool that may be called
/// and was not yet called without a progress token.
pub(super) async fn observe_calls(context: &Context) -> Vec<Observed> {
    let observed = observe(&context.main().recording().entries_from(0));
    let deadline = Instant::now() + context.options.rule_timeout * MAX_WAITS;
    for tool in allowed(context) {
        if observed.iter().any(|it| it.calls(tool) && !it.has_token) {
            continue;
        }
        if Instant::now() > deadline {
            break;
        }
        context.request("tools/call", Some(call_params(context, tool, &observed))).await;
    }
    observe(&context.main().recording().entries_from(0))
}

/// Matches the requests of the client with their responses.
fn observe(entries: &[Entry]) -> Vec<Observed> {
    let mut all: Vec<Observed> = Vec::new();
    let mut open: HashMap<&Id, (usize, Duration)> = HashMap::new();
    for entry in entries {
        let (frame, Some(id)) = (&entry.frame, entry.frame.id()) else { continue };
        let value = || parse_value(frame.bytes()).unwrap_or_default();
        match (entry.from, frame.kind()) {
            (Side::Client, FrameKind::Request) => {
                let mut params = value()["params"].take();
                let meta = params.as_object_mut().and_then(|it| it.remove("_meta"));
                open.insert(id, (all.len(), entry.at));
                all.push(Observed {
                    method: frame.method().unwrap_or_default().to_owned(),
                    params,
                    response: Value::Null,
                    duration: Duration::ZERO,
                    questions: Vec::new(),
                    has_token: meta.is_some_and(|it| it.get("progressToken").is_some()),
                });
            }
            (Side::Server, FrameKind::Request) => {
                let question = value();
                // Requests on this connection come one after the other.
                if let Some((index, _)) = open.values().max_by_key(|(index, _)| *index) {
                    all[*index].questions.push(question);
                }
            }
            (Side::Server, FrameKind::Result | FrameKind::Error) => {
                if let Some((index, sent)) = open.remove(id) {
                    all[index].response = value();
                    all[index].duration = entry.at.saturating_sub(sent);
                }
            }
            _ => {}
        }
    }
    all
}
