//! Cancellations of running, finished and unknown requests, and changes of the roots.

use std::time::Duration;

use serde_json::json;
use sparring_peer::client::PendingRequest;
use sparring_peer::{Cause, Client};
use sparring_wire::{Entry, Id, RawJson, Rule, Side};
use tokio::time::{Instant, sleep};

use super::observed::{Observed, callable, observe_calls};
use super::{Probe, probe};
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult, Stopped};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] = &[
    probe!([AnsweredCancellation, MessageAfterCancellation], running_calls),
    probe!([LateCancellation, InvalidCancellation, UnhandledRootsChange], ignored_notifications),
];

/// The shortest and the longest duration of a call that is cancelled.
const MIN_RUNNING: Duration = Duration::from_millis(100);
const MAX_RUNNING: Duration = Duration::from_secs(3);

/// The additional wait for the response to a cancelled call.
const GRACE: Duration = Duration::from_millis(300);

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
        let may_be_called = || callable(context, &observed).any(|tool| it.calls(tool));
        lasts && it.is_success() && !it.asks_anything() && it.is_first_round() && may_be_called()
    });
    let Some(slow) = slow.min_by_key(|it| it.duration) else {
        return not_applicable("no call of a tool takes long enough");
    };
    let connection = context.spare().await?;
    let running = RunningCall::start(&connection, slow);
    // Lets the server begin the call.
    sleep(Duration::from_millis(10)).await;
    running.pending.cancel(Some("no longer needed"));
    match running.answer_after_cancellation(slow).await {
        // The call usually succeeds, so an error answers the cancellation (2026-07-28,
        // basic/transports/stdio#cancellation).
        Some((finding, true)) if modern => {
            context.fail(Rule::MessageAfterCancellation, finding.clone());
            context.fail(Rule::AnsweredCancellation, finding);
        }
        Some((finding, _)) => context.fail(Rule::AnsweredCancellation, finding),
        None => context.pass(Rule::AnsweredCancellation),
    }
    if modern {
        context.pass(Rule::MessageAfterCancellation);
    }
    Ok(())
}

/// A call without a client that waits for it.
struct RunningCall<'a> {
    connection: &'a Connection,
    pending: PendingRequest,
    started: Instant,
    /// The index of the call in the recording.
    start: usize,
}

impl RunningCall<'_> {
    fn start<'a>(connection: &'a Connection, call: &Observed) -> RunningCall<'a> {
        let start = connection.recording().len();
        let mut params = call.params.clone();
        params["_meta"] = json!({"progressToken": "sparring-cancelled"});
        let request = connection.client().request("tools/call", Some(params.into()));
        let pending = request.timeout(connection.request_timeout()).start();
        RunningCall { connection, pending, started: Instant::now(), start }
    }

    fn call_id(&self) -> Option<Id> {
        let entries = self.connection.recording().entries_from(self.start);
        let call = entries.iter().find(|it| it.frame.method() == Some("tools/call"))?;
        call.frame.id().cloned()
    }

    /// Waits for a response to the cancelled call. A result that is on its way when the
    /// cancellation arrives does not count. Returns also whether it is an error.
    async fn answer_after_cancellation(&self, usual: &Observed) -> Option<(Finding, bool)> {
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
            let finding = Finding::new(text).about(tool_name(usual)).with_frames(&entries);
            (finding, answers_cancellation)
        })
    }
}

fn is_response(entry: &Entry, id: Option<&Id>) -> bool {
    entry.from == Side::Server && entry.frame.is_response_like() && entry.frame.id() == id
}

fn tool_name(call: &Observed) -> String {
    call.params["name"].as_str().unwrap_or_default().to_owned()
}

/// Sends notifications that a server ignores or only takes note of. A server that breaks gets
/// a new connection for the next ones.
async fn ignored_notifications(context: &Context) -> ProbeResult {
    let notifier = Notifier { context };
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
    Ok(())
}

const CANCELLED: &str = "notifications/cancelled";

type Notification = (&'static str, Option<RawJson>);

fn cancellation(id: &str) -> Notification {
    let params = RawJson::parse(&format!("{{\"requestId\":{id}}}"));
    (CANCELLED, params.ok())
}

/// Sends notifications on the second connection.
struct Notifier<'a> {
    context: &'a Context,
}

impl Notifier<'_> {
    /// Returns the ids of requests that have a response.
    async fn answered_requests(&self) -> Result<Vec<Id>, Stopped> {
        let has_tools = self.context.facts().declares("tools");
        let connection = self.context.spare().await?;
        let mut replies = vec![connection.ping().await];
        if has_tools {
            replies.push(connection.request("tools/list", None).await);
        }
        let responses = replies.iter().filter_map(|reply| reply.outcome().ok());
        Ok(responses.filter_map(|response| response.raw().id().cloned()).collect())
    }

    /// Sends notifications and a ping. The server must answer only the ping.
    async fn send(
        &self,
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
        let connection = self.context.spare().await?;
        let start = connection.recording().len();
        let failures = connection.client().background_errors().len();
        for (method, params) in &notifications {
            connection.client().notify(method, params.as_ref());
        }
        let ping = connection.ping().await;
        let frames = connection.recording().entries_from(start);
        let problem = problem(&ping, &frames).or_else(|| failure(connection.client(), failures));
        match problem {
            None => context.pass(rule),
            Some(problem) => {
                let finding = Finding::new(format!("after {what}, {problem}"));
                context.fail(rule, finding.with_frames(&frames));
                connection.close().await;
            }
        }
        Ok(())
    }
}

/// Returns the failure of the server over HTTP that a notification caused.
fn failure(client: &Client, before: usize) -> Option<String> {
    let failures = client.background_errors();
    failures.iter().skip(before).find_map(|failure| match failure {
        Cause::Http { status: 500.., .. } => Some(format!("the server failed: {failure}")),
        _ => None,
    })
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
