//! Log levels, and calls of tools with a progress token and a log level.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::{Entry, Rule, Side, code};
use tokio::time::{Instant, sleep};

use super::Probe;
use super::observed::{Observed, call_params, callable, observe_calls};
use super::utilities::PROMPT;
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] =
    &[Probe { rules: CALL_RULES, run: |context| Box::pin(progress_and_logs(context)) }];

/// The rules about progress and log messages, and pings while calls run.
const CALL_RULES: &[Rule] = &[
    Rule::RefusedLogLevel,
    Rule::InvalidLogLevel,
    Rule::InvalidProgress,
    Rule::LogBelowLevel,
    Rule::LogBelowSetLevel,
    Rule::SensitiveLog,
    Rule::SlowPing,
];

const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// The time for all calls, in response timeouts.
const MAX_WAITS: u32 = 3;

/// Calls each tool with a progress token and the lowest log level, and the tools that sent
/// progress or log messages again with another kind of token and the highest level. Most of
/// the rules are those of ordinary traffic.
async fn progress_and_logs(context: &Context) -> ProbeResult {
    let observed = observe_calls(context).await;
    let logs = context.facts().declares("logging");
    let modern = context.revision.is_modern();
    let spare = match logs && !modern {
        true => Some(context.spare().await?),
        false => None,
    };
    let connection = spare.as_deref().unwrap_or(context.main());
    match logs {
        true if modern => invalid_level_of_request(context, &observed).await,
        true => log_levels(context, connection).await,
        false => {}
    }
    for rule in CALL_RULES.iter().filter(|rule| rule.applies_in(context.revision)) {
        if !logs && rule.id().starts_with("logging/") {
            context.not_applicable(*rule, "the server does not declare `logging`");
        } else if !context.outcomes().has(*rule) {
            context.pass(*rule);
        }
    }
    let caller = Caller { context, connection, logs };
    let deadline = Instant::now() + context.options.rule_timeout * MAX_WAITS;
    let mut again = Vec::new();
    caller.set_level("debug").await;
    for (index, tool) in callable(context, &observed).enumerate() {
        let params = call_params(context, tool, &observed);
        let token = match index % 2 {
            0 => json!(format!("sparring-progress-{index}")),
            _ => json!(800_000 + index),
        };
        let slowest = observed.iter().filter(|it| it.calls(tool)).map(|it| it.duration).max();
        let reply = match slowest.is_some_and(|it| it > PROMPT) && !modern {
            true => caller.call_and_ping(params.clone(), token).await,
            false => caller.call(params.clone(), token, "debug").await,
        };
        caller.judge_token(&observed, tool, &reply).await;
        if reply.frames().iter().any(is_progress_or_log) {
            again.push(("tools/call", params));
        }
        if Instant::now() > deadline {
            break;
        }
    }
    for (index, (method, params)) in other_requests(context).into_iter().enumerate() {
        let token = json!(format!("sparring-other-{index}"));
        let reply = caller.request(method, params.clone(), token, "debug").await;
        if reply.frames().iter().any(is_progress_or_log) {
            again.push((method, params));
        }
    }
    // The token and the level of a request do not count for later ones.
    for (method, params) in again.iter().take_while(|_| Instant::now() < deadline) {
        connection.request(method, Some(params.clone())).await;
    }
    caller.set_level("emergency").await;
    for (index, (method, params)) in again.into_iter().enumerate() {
        if Instant::now() > deadline {
            break;
        }
        caller.request(method, params, json!(900_000 + index), "emergency").await;
    }
    // Shows messages that come after the last response.
    connection.ping().await;
    Ok(())
}

/// Returns requests besides calls of tools that can have progress.
fn other_requests(context: &Context) -> Vec<(&'static str, Value)> {
    let facts = context.facts();
    let uris = facts.resources.iter().filter_map(|it| it.get("uri"));
    let reads = uris.take(2).map(|uri| ("resources/read", json!({"uri": uri})));
    let needs_arguments = |prompt: &Value| {
        let arguments = prompt["arguments"].as_array().map(Vec::as_slice).unwrap_or_default();
        arguments.iter().any(|it| it["required"] == true)
    };
    let prompts = facts.prompts.iter().filter(|prompt| !needs_arguments(prompt));
    let gets = prompts.take(1).map(|it| ("prompts/get", json!({"name": it["name"]})));
    reads.chain(gets).collect()
}

/// Sets each level of the connection, and one that does not exist.
async fn log_levels(context: &Context, connection: &Connection) {
    let mut refused = Vec::new();
    let mut first = None;
    for level in LEVELS {
        let reply = connection.request("logging/setLevel", Some(json!({"level": level}))).await;
        if reply.result().is_none() {
            refused.push(level);
            first.get_or_insert(reply);
        }
    }
    if let Some(reply) = first {
        let expected = format!("expected a result for the levels {}", refused.join(", "));
        context.fail(Rule::RefusedLogLevel, reply.finding(expected));
    }
    let reply = connection.request("logging/setLevel", Some(json!({"level": "sparring"}))).await;
    context.require_error(Rule::InvalidLogLevel, &reply, &[code::INVALID_PARAMS]);
}

/// Calls a tool with an unknown level in the metadata, or asks for the capabilities if no tool
/// may be called.
async fn invalid_level_of_request(context: &Context, observed: &[Observed]) {
    let (method, mut params) = match callable(context, observed).next() {
        Some(tool) => ("tools/call", call_params(context, tool, observed)),
        None => ("server/discover", json!({})),
    };
    params["_meta"] = json!({LOG_LEVEL_KEY: "sparring"});
    let reply = context.request(method, Some(params)).await;
    context.require_error(Rule::InvalidLogLevel, &reply, &[code::INVALID_PARAMS]);
}

/// Calls tools with metadata.
struct Caller<'a> {
    context: &'a Context,
    connection: &'a Connection,
    /// True if the server declares `logging`.
    logs: bool,
}

impl Caller<'_> {
    /// Sets the level of the connection, in revisions where it has one.
    async fn set_level(&self, level: &str) {
        if self.logs && !self.context.revision.is_modern() {
            self.connection.request("logging/setLevel", Some(json!({"level": level}))).await;
        }
    }

    async fn call(&self, params: Value, token: Value, level: &str) -> Reply {
        self.request("tools/call", params, token, level).await
    }

    async fn request(&self, method: &str, mut params: Value, token: Value, level: &str) -> Reply {
        params["_meta"] = json!({"progressToken": token});
        // Shows also that a server without the capability sends log messages.
        if self.context.revision.is_modern() {
            params["_meta"][LOG_LEVEL_KEY] = level.into();
        }
        self.connection.request(method, Some(params)).await
    }
}

impl Caller<'_> {
    /// Reports a token that makes a call fail which succeeds without one.
    async fn judge_token(&self, observed: &[Observed], tool: &Value, reply: &Reply) {
        let succeeds = observed.iter().any(|it| it.calls(tool) && it.is_success());
        if !succeeds || reply.error_code() != Some(code::INVALID_PARAMS) {
            return;
        }
        let params = call_params(self.context, tool, observed);
        if self.connection.request("tools/call", Some(params)).await.is_success() {
            let expected = "expected a result for a call with a progress token, as without it";
            let name = tool["name"].as_str().unwrap_or_default();
            self.context.fail(Rule::InvalidProgress, reply.finding(expected).about(name));
        }
    }

    /// Calls a slow tool, and sends a ping meanwhile.
    async fn call_and_ping(&self, params: Value, token: Value) -> Reply {
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let start = Instant::now();
        let called = async {
            let reply = self.call(params, token, "debug").await;
            (reply, start.elapsed())
        };
        let pinged = async {
            // Lets the server begin the call.
            sleep(Duration::from_millis(10)).await;
            let reply = self.connection.ping().await;
            (reply, start.elapsed())
        };
        let ((reply, call_end), (ping, ping_end)) = tokio::join!(called, pinged);
        // A ping that waits for the call takes about as long as it.
        if ping_end > PROMPT && ping_end * 2 > call_end {
            let text = format!("a ping took longer than {PROMPT:?} because a call was running");
            let finding = Finding::new(text).about(name).with_frames(ping.frames());
            self.context.fail(Rule::SlowPing, finding);
        }
        reply
    }
}

fn is_progress_or_log(entry: &Entry) -> bool {
    let methods = ["notifications/progress", "notifications/message"];
    entry.from == Side::Server && entry.frame.method().is_some_and(|it| methods.contains(&it))
}
