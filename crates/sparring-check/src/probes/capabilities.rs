//! Features that the client has not declared: a server must not use them.

use serde_json::{Value, json};
use sparring_wire::json::parse_value;
use sparring_wire::{Entry, FrameKind, Json, Rule, Side, code};

use super::metadata::CAPABILITIES_KEY;
use super::{Probe, probe};
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult};
use crate::recording::Recording;
use crate::verdict::Finding;

/// Runs after the probes that call tools.
pub(super) const LAST_PROBES: &[Probe] =
    &[probe!([Undeclared, NotNegotiated, RequiredCapability], undeclared_features)];

/// The number of requests that are repeated.
const MAX_REQUESTS: usize = 8;

/// Repeats the requests during which the server asked the client for something, as a client
/// that declares no capabilities. The check of the traffic finds what the server then must not
/// send.
async fn undeclared_features(context: &Context) -> ProbeResult {
    context.pass(Rule::Undeclared);
    context.pass(Rule::NotNegotiated);
    context.not_applicable(
        Rule::RequiredCapability,
        "the server asked for no input while the check ran",
    );
    let recordings = context.recordings();
    let requests: Vec<_> = recordings.iter().flat_map(questioning_requests).collect();
    if requests.is_empty() && !recordings.iter().any(asks_by_itself) {
        return Ok(());
    }
    let connection = context.connect_with(|client| client.capabilities(json!({}))).await?;
    let mut repeated: Vec<(String, Value)> = Vec::new();
    for (method, params) in requests {
        // The same request with other arguments shows the same.
        let is_known = |it: &(String, Value)| it.0 == method && it.1["name"] == params["name"];
        if repeated.len() < MAX_REQUESTS && !repeated.iter().any(is_known) {
            if context.revision.is_modern() && !works(&connection, &method, &params).await {
                continue;
            }
            let reply = connection.request_leniently(&method, Some(params.clone())).await;
            judge_refusal(context, &reply, params["name"].as_str().unwrap_or(&method));
            // Others would have to wait as long.
            if reply.timed_out() {
                break;
            }
            repeated.push((method, params));
        }
    }
    connection.ping().await;
    connection.close().await;
    Ok(())
}

/// Sends the request with all capabilities, and returns true if it gets no error. What it declares
/// does not count for later requests of the connection (2026-07-28, basic#statelessness).
async fn works(connection: &Connection, method: &str, params: &Value) -> bool {
    let mut params = params.clone();
    params["_meta"] = json!({CAPABILITIES_KEY: {
        "roots": {}, "sampling": {"tools": {}}, "elicitation": {"form": {}, "url": {}},
    }});
    let reply = connection.request_leniently(method, Some(params)).await;
    reply.error().is_none() && !reply.timed_out()
}

/// Judges the response to a request that asked for input when the client declared everything.
fn judge_refusal(context: &Context, reply: &Reply, subject: &str) {
    let rule = Rule::RequiredCapability;
    let Some(error) = reply.error() else {
        match (reply.is_answered(), reply.outcome()) {
            // The request does not need the capability.
            (true, _) => context.pass(rule),
            (false, Err(error)) if reply.timed_out() => {
                let message = format!(
                    "expected the error -32021 for a client without the capability; {error}"
                );
                let finding = Finding::new(message).with_frames(reply.frames());
                context.fail(rule, finding.about(subject));
            }
            _ => {}
        }
        return;
    };
    let data = error.data.unwrap_or_default();
    let lists_any = data["requiredCapabilities"].as_object().is_some_and(|it| !it.is_empty());
    match error.code {
        code::MISSING_REQUIRED_CLIENT_CAPABILITY if lists_any => context.pass(rule),
        code::MISSING_REQUIRED_CLIENT_CAPABILITY => {
            let message = "expected an error that lists the missing capabilities; \
                           `data.requiredCapabilities` is not an object with any";
            let finding = Finding::new(message).with_frames(reply.frames());
            context.fail(rule, finding.about(subject));
        }
        _ => {
            let expected = "expected the error -32021 for a client without the capability";
            context.fail(rule, reply.finding(expected).about(subject));
        }
    }
}

/// Returns the requests of the client during which the server asked for something, or whose
/// results did.
fn questioning_requests(recording: &Recording) -> Vec<(String, Value)> {
    let mut pending: Vec<&Entry> = Vec::new();
    let mut found = Vec::new();
    let entries = recording.entries_from(0);
    for entry in &entries {
        match (entry.from, entry.frame.kind()) {
            (Side::Client, FrameKind::Request) => pending.push(entry),
            (Side::Server, FrameKind::Request) if is_question(entry) => {
                found.extend(pending.last().copied());
            }
            (Side::Server, FrameKind::Result | FrameKind::Error) => {
                if asks_for_input(entry) {
                    let answered = pending.iter().find(|it| it.frame.id() == entry.frame.id());
                    found.extend(answered.copied());
                }
                pending.retain(|it| it.frame.id() != entry.frame.id());
            }
            _ => {}
        }
    }
    let repeatable = ["tools/call", "prompts/get", "resources/read"];
    let found = found.into_iter().filter_map(|entry| {
        let method = entry.frame.method().filter(|it| repeatable.contains(it))?;
        let mut params = parse_value(entry.frame.params()?.bytes()).ok()?;
        let fields = params.as_object_mut()?;
        for answer in ["_meta", "inputResponses", "requestState", "task"] {
            fields.remove(answer);
        }
        Some((method.to_owned(), params))
    });
    found.collect()
}

/// Returns true if the server sent a request that no request of the client caused, such as one
/// for the roots after the handshake.
fn asks_by_itself(recording: &Recording) -> bool {
    recording.entries_from(0).iter().any(|it| it.from == Side::Server && is_question(it))
}

fn is_question(entry: &Entry) -> bool {
    entry.frame.kind() == FrameKind::Request && entry.frame.method() != Some("ping")
}

fn asks_for_input(entry: &Entry) -> bool {
    let kind = entry.frame.result().and_then(|it| it.get("resultType")).and_then(Json::as_str);
    kind.as_deref() == Some("input_required")
}
