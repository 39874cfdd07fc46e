//! Calls of tools with a progress token and a log level, and calls that are cancelled while
//! they run.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::{Entry, Id, Rule, Side};
use tokio::time::{Instant, sleep};

use super::observed::{Observed, call_params, callable, observe_calls};
use super::utilities::PROMPT;
use super::{Probe, probe};
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult, Stopped};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    probe!([InvalidProgress, LogBelowLevel, LogBelowSetLevel, SensitiveLog], progress_and_logs),
    probe!([AnsweredCancellation, MessageAfterCancellation, SlowPing], running_calls),
];

const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";

/// The time for all calls, in response timeouts.
const MAX_WAITS: u32 = 3;

/// The shortest and the longest duration of a call that is cancelled.
const MIN_RUNNING: Duration = Duration::from_millis(100);
const MAX_RUNNING: Duration = Duration::from_secs(3);

/// The additional wait for the response to a cancelled call.
const GRACE: Duration = Duration::from_millis(300);

/// Calls each tool with a progress token and the lowest log level, and the tools that sent
/// progress or log messages again with another kind of token and the highest level. The rules
/// are those of ordinary traffic.
async fn progress_and_logs(context: &Context) -> ProbeResult {
    let observed = observe_calls(context).await;
    let logs = context.facts().declares("logging");
    let rules =
        [Rule::InvalidProgress, Rule::LogBelowLevel, Rule::LogBelowSetLevel, Rule::SensitiveLog];
    for rule in rules.into_iter().filter(|rule| rule.applies_in(context.revision)) {
        match logs || rule == Rule::InvalidProgress {
            true => context.pass(rule),
            false => context.not_applicable(rule, "the server does not declare `logging`"),
        }
    }
    let own = match logs && !context.revision.is_modern() {
        true => Some(context.connect().await?),
        false => None,
    };
    let caller = Caller { context, connection: own.as_ref().unwrap_or(context.main()), logs };
    let deadline = Instant::now() + context.options.rule_timeout * MAX_WAITS;
    let mut again = Vec::new();
    caller.set_level("debug").await;
    for (index, tool) in callable(context).enumerate() {
        let params = call_params(context, tool, &observed);
        let token = json!(format!("sparring-progress-{index}"));
        let reply = caller.call(params.clone(), token, "debug").await;
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
    caller.connection.ping().await;
    if let Some(connection) = own {
        connection.close().await;
    }
    Ok(())
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
        if self.logs && self.context.revision.is_modern() {
            params["_meta"][LOG_LEVEL_KEY] = level.into();
        }
        self.connection.request("tools/call", Some(params)).await
    }
}

fn is_progress_or_log(entry: &Entry) -> bool {
    let methods = ["notifications/progress", "notifications/message"];
    entry.from == Side::Server && entry.frame.method().is_some_and(|it| methods.contains(&it))
}

/// Cancels a call of a slow tool after a ping. The server should answer the ping at once, and
/// should not answer the call.
async fn running_calls(context: &Context) -> ProbeResult {
    let modern = context.revision.is_modern();
    let not_applicable = |reason: &str| {
        let rules = [Rule::AnsweredCancellation, Rule::MessageAfterCancellation];
        for rule in rules.into_iter().filter(|it| it.applies_in(context.revision)) {
            context.not_applicable(rule, reason);
        }
    };
    let observed = observe_calls(context).await;
    let slow = observed.iter().filter(|it| {
        let lasts = (MIN_RUNNING..MAX_RUNNING).contains(&it.duration);
        let may_be_called = || callable(context).any(|tool| it.calls(tool));
        lasts && it.is_success() && !it.asks_anything() && it.is_first_round() && may_be_called()
    });
    let Some(slow) = slow.max_by_key(|it| it.duration) else {
        not_applicable("no call of a tool takes long enough");
        return Ok(());
    };
    let connection = context.connect().await?;
    let running = RunningCall::start(&connection, slow)?;
    let ping = running.ping().await;
    judge_busy_ping(context, &running, &ping, slow);
    if modern && context.target().http().is_some() {
        not_applicable("over HTTP, a client cancels a request by closing its stream");
    } else {
        running.cancel().await;
        let answer = running.answer_after_cancellation(slow).await;
        match answer {
            Some(finding) => context.fail(Rule::AnsweredCancellation, finding),
            None => context.pass(Rule::AnsweredCancellation),
        }
        if modern {
            context.pass(Rule::MessageAfterCancellation);
        }
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
    fn start<'a>(connection: &'a Connection, call: &Observed) -> Result<RunningCall<'a>, Stopped> {
        let start = connection.recording().len();
        let params = call.params.clone().into();
        let request = connection.client().request("tools/call", Some(params));
        let pending = request.timeout(connection.request_timeout()).start();
        Ok(RunningCall { connection, pending, started: Instant::now(), start })
    }

    /// Sends a ping while the call runs, and returns the time until its answer.
    async fn ping(&self) -> (Reply, Duration) {
        // Lets the server begin the call.
        sleep(Duration::from_millis(10)).await;
        let sent = Instant::now();
        let reply = self.connection.ping().await;
        (reply, sent.elapsed())
    }

    fn call_id(&self) -> Option<Id> {
        let entries = self.connection.recording().entries_from(self.start);
        let call = entries.iter().find(|it| it.frame.method() == Some("tools/call"))?;
        call.frame.id().cloned()
    }

    fn is_answered(&self) -> bool {
        let id = self.call_id();
        let entries = self.connection.recording().entries_from(self.start);
        entries.iter().any(|it| is_response(it, id.as_ref()))
    }

    async fn cancel(&self) {
        self.pending.cancel(Some("no longer needed"));
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

/// Reports a ping that had to wait for the end of a call.
fn judge_busy_ping(
    context: &Context,
    running: &RunningCall<'_>,
    (ping, duration): &(Reply, Duration),
    call: &Observed,
) {
    let rule = Rule::SlowPing;
    if !rule.applies_in(context.revision) {
        return;
    }
    match *duration > PROMPT && running.is_answered() {
        true => {
            let text = format!("a ping took longer than {PROMPT:?} because a call was running");
            context
                .fail(rule, Finding::new(text).about(tool_name(call)).with_frames(ping.frames()));
        }
        false => context.pass(rule),
    }
}
