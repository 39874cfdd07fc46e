//! Calls of tools with a progress token and a log level, and calls that are cancelled while
//! they run.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::{Entry, Id, Rule, Side, code};
use tokio::time::{Instant, sleep};

use super::observed::{Observed, call_params, callable, observe_calls};
use super::utilities::PROMPT;
use super::{Probe, probe};
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    Probe { rules: CALL_RULES, run: |context| Box::pin(progress_and_logs(context)) },
    probe!([AnsweredCancellation, MessageAfterCancellation], running_calls),
];

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

/// The shortest and the longest duration of a call that is cancelled.
const MIN_RUNNING: Duration = Duration::from_millis(100);
const MAX_RUNNING: Duration = Duration::from_secs(3);

/// The additional wait for the response to a cancelled call.
const GRACE: Duration = Duration::from_millis(300);

/// Calls each tool with a progress token and the lowest log level, and the tools that sent
/// progress or log messages again with another kind of token and the highest level. Most of
/// the rules are those of ordinary traffic.
async fn progress_and_logs(context: &Context) -> ProbeResult {
    let observed = observe_calls(context).await;
    let logs = context.facts().declares("logging");
    let modern = context.revision.is_modern();
    let own = match logs && !modern {
        true => Some(context.connect().await?),
        false => None,
    };
    let connection = own.as_ref().unwrap_or(context.main());
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
    for (index, tool) in callable(context).enumerate() {
        let params = call_params(context, tool, &observed);
        let token = json!(format!("sparring-progress-{index}"));
        let slowest = observed.iter().filter(|it| it.calls(tool)).map(|it| it.duration).max();
        let reply = match slowest.is_some_and(|it| it > PROMPT) && !modern {
            true => caller.call_and_ping(params.clone(), token).await,
            false => caller.call(params.clone(), token, "debug").await,
        };
        if reply.frames().iter().any(is_progress_or_log) {
            again.push(params);
        }
        if Instant::now() > deadline {
            break;
        }
    }
    caller.set_level("emergency").await;
    for (index, params) in again.into_iter().enumerate() {
        if Instant::now() > deadline {
            break;
        }
        caller.call(params, json!(900_000 + index), "emergency").await;
    }
    // Shows messages that come after the last response.
    connection.ping().await;
    if let Some(connection) = own {
        connection.close().await;
    }
    Ok(())
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
    let (method, mut params) = match callable(context).next() {
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

    async fn call(&self, mut params: Value, token: Value, level: &str) -> Reply {
        params["_meta"] = json!({"progressToken": token});
        // Shows also that a server without the capability sends log messages.
        if self.context.revision.is_modern() {
            params["_meta"][LOG_LEVEL_KEY] = level.into();
        }
        self.connection.request("tools/call", Some(params)).await
    }
}

impl Caller<'_> {
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
        if ping_end > PROMPT && ping_end >= call_end {
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

/// Cancels a call of a slow tool. The server should not answer it.
async fn running_calls(context: &Context) -> ProbeResult {
    let modern = context.revision.is_modern();
    let not_applicable = |reason: &str| {
        let rules = [Rule::AnsweredCancellation, Rule::MessageAfterCancellation];
        for rule in rules.into_iter().filter(|it| it.applies_in(context.revision)) {
            context.not_applicable(rule, reason);
        }
        Ok(())
    };
    if modern && context.target().http().is_some() {
        return not_applicable("over HTTP, a client cancels a request by closing its stream");
    }
    let observed = observe_calls(context).await;
    let slow = observed.iter().filter(|it| {
        let lasts = (MIN_RUNNING..MAX_RUNNING).contains(&it.duration);
        let may_be_called = || callable(context).any(|tool| it.calls(tool));
        lasts && it.is_success() && !it.asks_anything() && it.is_first_round() && may_be_called()
    });
    let Some(slow) = slow.min_by_key(|it| it.duration) else {
        return not_applicable("no call of a tool takes long enough");
    };
    let connection = context.connect().await?;
    let running = RunningCall::start(&connection, slow);
    // Lets the server begin the call.
    sleep(Duration::from_millis(10)).await;
    running.pending.cancel(Some("no longer needed"));
    match running.answer_after_cancellation(slow).await {
        Some(finding) => context.fail(Rule::AnsweredCancellation, finding),
        None => context.pass(Rule::AnsweredCancellation),
    }
    if modern {
        context.pass(Rule::MessageAfterCancellation);
    }
    connection.close().await;
    Ok(())
}

/// A call without a client that waits for it.
struct RunningCall<'a> {
    connection: &'a Connection,
    pending: sparring_peer::client::PendingRequest,
    started: Instant,
    /// The index of the call in the recording.
    start: usize,
}

impl RunningCall<'_> {
    fn start<'a>(connection: &'a Connection, call: &Observed) -> RunningCall<'a> {
        let start = connection.recording().len();
        let params = call.params.clone().into();
        let request = connection.client().request("tools/call", Some(params));
        let pending = request.timeout(connection.request_timeout()).start();
        RunningCall { connection, pending, started: Instant::now(), start }
    }

    fn call_id(&self) -> Option<Id> {
        let entries = self.connection.recording().entries_from(self.start);
        let call = entries.iter().find(|it| it.frame.method() == Some("tools/call"))?;
        call.frame.id().cloned()
    }

    /// Waits for a response to the cancelled call. A result that is on its way when the
    /// cancellation arrives does not count.
    async fn answer_after_cancellation(&self, usual: &Observed) -> Option<Finding> {
        let id = self.call_id()?;
        let was_cancelled =
            |it: &Entry| it.from == Side::Client && it.frame.method() == Some(CANCELLED);
        let recording = self.connection.recording();
        recording.wait_for(self.start, GRACE, was_cancelled).await?;
        let cancelled_after = self.started.elapsed();
        let ping = self.connection.ping().await;
        let ping_id = ping.outcome().ok().and_then(|it| it.raw().id().cloned());
        let rest = usual.duration.saturating_sub(cancelled_after) + usual.duration / 2 + GRACE;
        let answer = recording.wait_for(self.start, rest, |it| is_response(it, Some(&id))).await?;
        let entries = recording.entries_from(self.start);
        let position = |fits: &dyn Fn(&Entry) -> bool| entries.iter().position(fits);
        let cancelled = position(&was_cancelled)?;
        let answered = position(&|it| is_response(it, Some(&id)))?;
        let pinged = position(&|it| is_response(it, ping_id.as_ref()));
        let answers_cancellation = answer.frame.error().is_some();
        let is_late = pinged.is_some_and(|pinged| answered > pinged);
        (answered > cancelled && (is_late || answers_cancellation)).then(|| {
            let text = "the server answered a request after its cancellation";
            Finding::new(text).about(tool_name(usual)).with_frames(&entries)
        })
    }
}

const CANCELLED: &str = "notifications/cancelled";

fn is_response(entry: &Entry, id: Option<&Id>) -> bool {
    entry.from == Side::Server && entry.frame.is_response_like() && entry.frame.id() == id
}

fn tool_name(call: &Observed) -> String {
    call.params["name"].as_str().unwrap_or_default().to_owned()
}
