//! Ping, late and malformed cancellations, changes of the roots, and log levels.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::{Entry, RawJson, Rule, Side, code};
use tokio::time::Instant;

use super::observed::{call_params, callable, observe_calls};
use super::{Probe, probe};
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult, Stopped};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    probe!([SlowPing], pings),
    probe!([LateCancellation, InvalidCancellation, UnhandledRootsChange], ignored_notifications),
    probe!([RefusedLogLevel, InvalidLogLevel], log_levels),
];

/// The longest time in which a server answers a ping promptly.
pub(super) const PROMPT: Duration = Duration::from_secs(1);

/// The number of slow pings in a row that show a slow server.
const SLOW_PINGS: usize = 3;

const LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

async fn pings(context: &Context) -> ProbeResult {
    let mut shortest = Duration::MAX;
    for _ in 0..SLOW_PINGS {
        let start = Instant::now();
        let ping = context.request("ping", None).await;
        match ping.error_code() {
            Some(code::METHOD_NOT_FOUND) => {
                context.not_applicable(Rule::SlowPing, "the server does not implement `ping`");
                return Ok(());
            }
            None if ping.is_answered() => {}
            _ => {
                context.fail(Rule::SlowPing, ping.finding("expected an empty result for a ping"));
                return Ok(());
            }
        }
        shortest = shortest.min(start.elapsed());
        if shortest <= PROMPT {
            context.pass(Rule::SlowPing);
            return Ok(());
        }
    }
    let message = format!("each of {SLOW_PINGS} pings took longer than {PROMPT:?}");
    context.fail(Rule::SlowPing, Finding::new(message));
    Ok(())
}

/// Sends notifications that a server ignores or only takes note of. A server that breaks gets
/// a new connection for the next ones.
async fn ignored_notifications(context: &Context) -> ProbeResult {
    let mut notifier = Notifier { context, connection: None };
    let answered = notifier.answered_requests().await?;
    let late = answered.iter().map(|id| cancellation(RawJson::from(id).text()));
    notifier.send(Rule::LateCancellation, "a finished request", late.collect()).await?;
    let invalid = ["424242", "\"sparring-unknown\"", "{\"a\":1}"].map(cancellation).into_iter();
    let incomplete = [Some(RawJson::empty_object()), None].map(|params| (CANCELLED, params));
    let invalid = invalid.chain(incomplete).collect();
    notifier.send(Rule::InvalidCancellation, "no valid request", invalid).await?;
    if Rule::UnhandledRootsChange.applies_in(context.revision) {
        let changed = vec![("notifications/roots/list_changed", None)];
        notifier.send(Rule::UnhandledRootsChange, "", changed).await?;
    }
    if let Some(connection) = notifier.connection {
        connection.close().await;
    }
    Ok(())
}

const CANCELLED: &str = "notifications/cancelled";

type Notification = (&'static str, Option<RawJson>);

fn cancellation(id: &str) -> Notification {
    let params = RawJson::parse(&format!("{{\"requestId\":{id}}}"));
    (CANCELLED, params.ok())
}

/// Sends notifications on a connection of its own.
struct Notifier<'a> {
    context: &'a Context,
    connection: Option<Connection>,
}

impl Notifier<'_> {
    async fn connection(&mut self) -> Result<&Connection, Stopped> {
        if self.connection.is_none() {
            let roots = json!({"listChanged": true});
            let connect = self.context.connect_with(|client| client.capability("roots", roots));
            self.connection = Some(connect.await?);
        }
        self.connection.as_ref().ok_or_else(|| Stopped("no connection".to_owned()))
    }

    /// Returns the ids of requests that have a response.
    async fn answered_requests(&mut self) -> Result<Vec<sparring_wire::Id>, Stopped> {
        let has_tools = self.context.facts().declares("tools");
        let connection = self.connection().await?;
        let mut replies = vec![connection.ping().await];
        if has_tools {
            replies.push(connection.request("tools/list", None).await);
        }
        let responses = replies.iter().filter_map(|reply| reply.outcome().ok());
        Ok(responses.filter_map(|response| response.raw().id().cloned()).collect())
    }

    /// Sends notifications and a ping. The server must answer only the ping.
    async fn send(
        &mut self,
        rule: Rule,
        cancelled: &str,
        notifications: Vec<Notification>,
    ) -> ProbeResult {
        let context = self.context;
        let what = match cancelled {
            "" => "a change of the roots".to_owned(),
            cancelled => format!("the cancellation of {cancelled}"),
        };
        if notifications.is_empty() {
            context.undecided(rule, "no request got a response");
            return Ok(());
        }
        let connection = self.connection().await?;
        let start = connection.recording().len();
        for (method, params) in &notifications {
            connection.client().notify(method, params.as_ref());
        }
        let ping = connection.ping().await;
        let frames = connection.recording().entries_from(start);
        match problem(&ping, &frames) {
            None => context.pass(rule),
            Some(problem) => {
                let finding = Finding::new(format!("after {what}, {problem}"));
                context.fail(rule, finding.with_frames(&frames));
                connection.close().await;
                self.connection = None;
            }
        }
        Ok(())
    }
}

/// Returns what is wrong with the reaction to notifications before a ping.
fn problem(ping: &Reply, frames: &[Entry]) -> Option<String> {
    if !ping.is_answered() {
        return Some(format!("the server did not answer a ping: {}", ping.describe()));
    }
    let ping_id = ping.outcome().ok().and_then(|response| response.raw().id());
    let is_answer = |entry: &&Entry| {
        // Over HTTP, a server can refuse a malformed notification with a status.
        let is_refusal = entry.status.is_some_and(|status| status >= 400);
        let frame = &entry.frame;
        entry.from == Side::Server
            && !is_refusal
            && frame.is_response_like()
            && frame.id() != ping_id
    };
    let answer = frames.iter().find(is_answer);
    answer.map(|_| "the server answered, although it should ignore the notification".to_owned())
}

async fn log_levels(context: &Context) -> ProbeResult {
    if !context.facts().declares("logging") {
        for rule in [Rule::RefusedLogLevel, Rule::InvalidLogLevel] {
            context.not_applicable(rule, "the server does not declare `logging`");
        }
        return Ok(());
    }
    if context.revision.is_modern() {
        return invalid_level_of_request(context).await;
    }
    let connection = context.connect().await?;
    let mut refused = Vec::new();
    let mut first = None;
    for level in LEVELS {
        let reply = connection.request("logging/setLevel", Some(json!({"level": level}))).await;
        if reply.result().is_none() {
            refused.push(level);
            first.get_or_insert(reply);
        }
    }
    match first {
        Some(reply) => {
            let expected = format!("expected a result for the levels {}", refused.join(", "));
            context.fail(Rule::RefusedLogLevel, reply.finding(expected));
        }
        None => context.pass(Rule::RefusedLogLevel),
    }
    let reply = connection.request("logging/setLevel", Some(json!({"level": "sparring"}))).await;
    context.require_error(Rule::InvalidLogLevel, &reply, &[code::INVALID_PARAMS]);
    connection.close().await;
    Ok(())
}

/// Calls a tool with an unknown level in the metadata, or lists something if no tool may be
/// called.
async fn invalid_level_of_request(context: &Context) -> ProbeResult {
    let (method, mut params) = match callable(context).next() {
        Some(tool) => {
            let observed = observe_calls(context).await;
            ("tools/call", call_params(context, tool, &observed))
        }
        None => ("server/discover", json!({})),
    };
    params["_meta"] = json!({"io.modelcontextprotocol/logLevel": Value::from("sparring")});
    let reply = context.request(method, Some(params)).await;
    context.require_error(Rule::InvalidLogLevel, &reply, &[code::INVALID_PARAMS]);
    Ok(())
}
