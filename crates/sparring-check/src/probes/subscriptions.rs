//! Subscriptions of both eras: to resources, and to kinds of notifications.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::{Map, Value, json};
use sparring_peer::client::PendingRequest;
use sparring_wire::json::parse_value;
use sparring_wire::{Entry, Id, RawJson, Rule, Side};
use tokio::time::{Instant, sleep_until};

use super::Probe;
use super::changes::{Lists, call_all, changing_calls};
use crate::connection::Connection;
use crate::context::{Context, ProbeResult, Stopped};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] =
    &[Probe { rules: RULES, run: |context| Box::pin(subscriptions(context)) }];

const RULES: &[Rule] = &[
    Rule::RefusedSubscription,
    Rule::UnrequestedUpdate,
    Rule::MissingAcknowledgment,
    Rule::IncompleteAcknowledgment,
    Rule::ClosedSubscription,
    Rule::InvalidSubscription,
    Rule::WrongAcknowledgment,
    Rule::UndeclaredSubscription,
    Rule::MessageAfterCancellation,
    Rule::MissingListChanged,
];

/// The number of resources that are subscribed to.
const MAX_RESOURCES: usize = 3;

/// The time for which a subscription must stay open.
const OPEN_TIME: Duration = Duration::from_millis(300);

/// The timeout of a subscription, which has no response while it is open.
pub(super) const SUBSCRIPTION_TIMEOUT: Duration = Duration::from_secs(600);

pub(super) const LISTEN: &str = "subscriptions/listen";
pub(super) const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const UPDATED: &str = "notifications/resources/updated";
const SUBSCRIPTION_KEY: &str = "io.modelcontextprotocol/subscriptionId";

/// The kinds of a filter that are true or false, with the capability and the notification.
pub(super) const KINDS: [(&str, &str, &str); 3] = [
    ("toolsListChanged", "tools", "notifications/tools/list_changed"),
    ("promptsListChanged", "prompts", "notifications/prompts/list_changed"),
    ("resourcesListChanged", "resources", "notifications/resources/list_changed"),
];

fn listed_uris(context: &Context) -> Vec<Value> {
    let uris = context.facts().resources.iter().map(|resource| resource["uri"].clone());
    uris.filter(Value::is_string).take(MAX_RESOURCES).collect()
}

/// Subscribes, calls tools that may change something, and ends the subscriptions.
async fn subscriptions(context: &Context) -> ProbeResult {
    let facts = context.facts();
    let announces = KINDS.iter().any(|(_, it, _)| facts.declares_member(it, "listChanged"));
    let subscribes = facts.declares_member("resources", "subscribe");
    let rules = RULES.iter().filter(|rule| rule.applies_in(context.revision));
    if !announces && !subscribes {
        for rule in rules {
            context.not_applicable(*rule, "the server declares nothing to subscribe to");
        }
        return Ok(());
    }
    let calls = changing_calls(context);
    match context.revision.is_modern() {
        true => filtered_subscriptions(context, &calls).await,
        false => resource_subscriptions(context, &calls).await,
    }
}

/// Subscribes to resources (up to 2025-11-25).
async fn resource_subscriptions(context: &Context, calls: &[Value]) -> ProbeResult {
    let refused = Rule::RefusedSubscription;
    let uris = match context.facts().declares_member("resources", "subscribe") {
        true => listed_uris(context),
        false => Vec::new(),
    };
    if uris.is_empty() {
        let reason = "the server declares no subscriptions, or lists no resources";
        context.not_applicable(refused, reason);
        context.not_applicable(Rule::UnrequestedUpdate, reason);
        if calls.is_empty() {
            let reason = "no tool that may be called changes anything";
            context.not_applicable(Rule::MissingListChanged, reason);
            return Ok(());
        }
    }
    let connection = context.spare().await?;
    let request =
        |method: &'static str, uri: &Value| connection.request(method, Some(json!({"uri": uri})));
    let mut subscribed = Vec::new();
    let mut refusal = None;
    for uri in &uris {
        let reply = request("resources/subscribe", uri).await;
        match reply.result() {
            Some(_) => subscribed.push(uri),
            None => {
                refusal.get_or_insert(reply);
            }
        }
    }
    if let Some(reply) = refusal.filter(|_| subscribed.is_empty()) {
        context.fail(refused, reply.finding("expected that a subscription is accepted"));
    }
    let lists = match calls.is_empty() {
        true => Lists::none(),
        false => Lists::read(context, &connection).await,
    };
    let start = connection.recording().len();
    call_all(&connection, calls).await;
    lists.judge(context, &connection, start, |_| true).await;
    for uri in &subscribed {
        let reply = request("resources/unsubscribe", uri).await;
        match reply.result() {
            Some(_) => context.pass(refused),
            None => {
                let expected = "expected that the end of a subscription is accepted";
                context.fail(refused, reply.finding(expected));
            }
        }
    }
    let changed = connection.recording().entries_from(start);
    if changed.iter().any(|it| it.frame.method() == Some(UPDATED)) {
        // The wire checker reports updates after the end of the subscriptions.
        call_all(&connection, calls).await;
    }
    connection.ping().await;
    if !uris.is_empty() {
        context.pass(Rule::UnrequestedUpdate);
    }
    Ok(())
}

/// The filter with every kind of notification.
fn broad_filter(context: &Context) -> Value {
    let kinds = KINDS.iter().map(|(kind, _, _)| ((*kind).to_owned(), Value::Bool(true)));
    let mut filter: Map<String, Value> = kinds.collect();
    let uris = listed_uris(context);
    if !uris.is_empty() {
        filter.insert("resourceSubscriptions".to_owned(), uris.into());
    }
    Value::Object(filter)
}

/// Returns the parts of a filter that the server declares.
fn declared_part(context: &Context, filter: &Value) -> Map<String, Value> {
    let facts = context.facts();
    let mut declared = filter.as_object().cloned().unwrap_or_default();
    declared.retain(|kind, _| match KINDS.iter().find(|(it, _, _)| it == kind) {
        Some((_, capability, _)) => facts.declares_member(capability, "listChanged"),
        None => facts.declares_member("resources", "subscribe"),
    });
    declared
}

/// Returns filters with little of what the server declares, so that it sends too much if it does
/// not look at the filter: one resource, and no resource.
fn narrow_filters(declared: &Map<String, Value>) -> Vec<Map<String, Value>> {
    let resources = "resourceSubscriptions";
    let filter = |kind: &str, value: Value| Map::from_iter([(kind.to_owned(), value)]);
    let mut filters = Vec::new();
    if let Some(uri) = declared.get(resources).and_then(|it| it.get(0)) {
        filters.push(filter(resources, json!([uri])));
    }
    let other = declared.keys().find(|kind| *kind != resources);
    let other = other.map_or(KINDS[0].0, String::as_str);
    filters.push(filter(other, json!(true)));
    filters
}

/// Opens a subscription to everything and some to less, and cancels them after calls that may
/// change something (since 2026-07-28).
async fn filtered_subscriptions(context: &Context, calls: &[Value]) -> ProbeResult {
    let rules = RULES.iter().filter(|rule| rule.applies_in(context.revision));
    let filter = broad_filter(context);
    let declared = declared_part(context, &filter);
    if declared.is_empty() {
        for rule in rules {
            context.not_applicable(*rule, "the server lists no resources to subscribe to");
        }
        return Ok(());
    }
    let connection = context.spare().await?;
    let broad = Subscription::open(&connection, filter).await?;
    let Some(granted) = &broad.granted else {
        broad.report_missing_acknowledgment(context, &connection);
        for rule in rules.filter(|rule| **rule != Rule::MissingAcknowledgment) {
            context.not_applicable(*rule, "the server did not acknowledge a subscription");
        }
        return Ok(());
    };
    context.pass(Rule::MissingAcknowledgment);
    judge_acknowledgment(context, &connection, &broad, granted, &declared);
    let mut subscriptions = vec![broad];
    for filter in narrow_filters(&declared) {
        let is_declared = filter.keys().all(|kind| declared.contains_key(kind));
        let narrow = Subscription::open(&connection, Value::Object(filter)).await?;
        if narrow.granted.is_none() && is_declared {
            narrow.report_missing_acknowledgment(context, &connection);
        }
        subscriptions.push(narrow);
    }
    let broad = &subscriptions[0];
    let lists = match calls.is_empty() {
        true => Lists::none(),
        false => Lists::read(context, &connection).await,
    };
    let start = connection.recording().len();
    call_all(&connection, calls).await;
    connection.ping().await;
    let is_announced = |notification: &str| {
        let granted = broad.granted.as_ref().unwrap_or(&Value::Null);
        KINDS.iter().any(|(kind, _, method)| *method == notification && granted[kind] == true)
    };
    lists.judge(context, &connection, start, is_announced).await;
    sleep_until(broad.opened + OPEN_TIME).await;
    let was_notified = broad.notified(&connection, broad.start);
    for subscription in &mut subscriptions {
        subscription.judge_open(context, &connection);
    }
    let cancelled: Vec<_> = subscriptions.into_iter().map(Subscription::cancel).collect();
    if was_notified && context.target().http().is_none() {
        judge_cancelled(context, &connection, calls, &cancelled).await;
    }
    for rule in rules.filter(|rule| **rule != Rule::MissingListChanged) {
        context.pass(*rule);
    }
    Ok(())
}

/// Requires that the acknowledgment names what the server declares.
fn judge_acknowledgment(
    context: &Context,
    connection: &Connection,
    subscription: &Subscription,
    granted: &Value,
    declared: &Map<String, Value>,
) {
    let is_granted = |kind: &str| match &granted[kind] {
        Value::Bool(granted) => *granted,
        Value::Array(uris) => !uris.is_empty(),
        _ => false,
    };
    let omitted: Vec<&str> =
        declared.keys().map(String::as_str).filter(|kind| !is_granted(kind)).collect();
    if !omitted.is_empty() {
        let text = format!(
            "expected an acknowledgment with all that the server declares; it omits {}",
            omitted.join(", ")
        );
        let frames = connection.recording().entries_from(subscription.start);
        let frames = frames.iter().take(2);
        context.fail(Rule::IncompleteAcknowledgment, Finding::new(text).with_frames(frames));
    }
}

/// Makes the calls again after the cancellation of subscriptions.
async fn judge_cancelled(
    context: &Context,
    connection: &Connection,
    calls: &[Value],
    cancelled: &[Option<Id>],
) {
    // The server has read the cancellations when it answers.
    connection.ping().await;
    let start = connection.recording().len();
    call_all(connection, calls).await;
    connection.ping().await;
    let entries = connection.recording().entries_from(start);
    let late = entries.iter().find(|it| {
        let id = subscription_of(it);
        it.from == Side::Server && id.is_some() && cancelled.contains(&id)
    });
    if let Some(late) = late {
        let text = "the server sent a notification of a subscription that was cancelled";
        let finding = Finding::new(text).with_frames([late]);
        context.fail(Rule::MessageAfterCancellation, finding);
    }
}

pub(super) fn subscription_of(entry: &Entry) -> Option<Id> {
    let named = entry.frame.params()?.get_path(&["_meta", SUBSCRIPTION_KEY])?;
    Id::from_json(named)
}

/// One `subscriptions/listen` request.
struct Subscription {
    pending: PendingRequest,
    id: Option<Id>,
    /// The index of the request in the recording.
    start: usize,
    opened: Instant,
    /// The acknowledged filter.
    granted: Option<Value>,
    /// The reason why there is no acknowledgment.
    problem: Option<String>,
}

impl Subscription {
    /// Sends the request, and waits for its acknowledgment.
    async fn open(connection: &Connection, filter: Value) -> Result<Subscription, Stopped> {
        let recording = connection.recording();
        let start = recording.len();
        let params = RawJson::from(json!({"notifications": filter}));
        let request = connection.client().request(LISTEN, Some(params));
        let mut pending = request.timeout(SUBSCRIPTION_TIMEOUT).start();
        let is_request = |it: &Entry| it.from == Side::Client && it.frame.method() == Some(LISTEN);
        let sent = recording.wait_for(start, connection.request_timeout(), is_request).await;
        let id = sent.and_then(|it| it.frame.id().cloned());
        let Some(id) = id else {
            return Err(Stopped("the subscription was not sent".to_owned()));
        };
        let is_acknowledgment = |it: &Entry| {
            it.frame.method() == Some(ACKNOWLEDGED) && subscription_of(it).as_ref() == Some(&id)
        };
        let (acknowledgment, problem) = tokio::select! {
            biased;
            found = connection.wait_for_frame(start, is_acknowledgment) => match found {
                Some(found) => (Some(found), None),
                None => {
                    let waited = connection.request_timeout();
                    (None, Some(format!("the server sent none within {waited:?}")))
                }
            },
            ended = &mut pending => match ended {
                Ok(response) if response.error().is_none() => {
                    (None, Some("the server answered with a result".to_owned()))
                }
                Ok(response) => {
                    let code = response.error_code().unwrap_or_default();
                    (None, Some(format!("the server answered with the error {code}")))
                }
                Err(error) => (None, Some(error.to_string())),
            },
        };
        let granted = acknowledgment.map(|it| {
            let mut frame = parse_value(it.frame.bytes()).unwrap_or_default();
            frame.pointer_mut("/params/notifications").map(Value::take).unwrap_or_default()
        });
        let opened = Instant::now();
        Ok(Subscription { pending, id: Some(id), start, opened, granted, problem })
    }

    fn report_missing_acknowledgment(&self, context: &Context, connection: &Connection) {
        let finding = Finding::new(format!(
            "expected the acknowledgment of a subscription; {}",
            self.problem.as_deref().unwrap_or("the server sent none")
        ));
        let frames = connection.recording().entries_from(self.start);
        context.fail(Rule::MissingAcknowledgment, finding.with_frames(&frames));
    }

    /// Returns true if a notification besides the acknowledgment came for it.
    fn notified(&self, connection: &Connection, start: usize) -> bool {
        let entries = connection.recording().entries_from(start);
        entries
            .iter()
            .any(|it| subscription_of(it) == self.id && it.frame.method() != Some(ACKNOWLEDGED))
    }

    /// Reports the end of the subscription.
    fn judge_open(&mut self, context: &Context, connection: &Connection) {
        let entries = connection.recording().entries_from(self.start);
        let is_end = |entry: &&Entry| {
            let frame = &entry.frame;
            let cancels = frame.method() == Some("notifications/cancelled")
                && frame.params().and_then(|it| it.get("requestId")).and_then(Id::from_json)
                    == self.id;
            entry.from == Side::Server
                && (cancels || frame.is_response_like() && frame.id() == self.id.as_ref())
        };
        if let Some(end) = entries.iter().find(is_end) {
            let text = "expected that a subscription stays open; the server ended it";
            let frames = entries.first().into_iter().chain([end]);
            context.fail(Rule::ClosedSubscription, Finding::new(text).with_frames(frames));
        } else if self.granted.is_some() && (&mut self.pending).now_or_never().is_some() {
            let text = "expected that a subscription stays open; its stream ended";
            let finding = Finding::new(text).with_frames(entries.iter().take(2));
            context.fail(Rule::ClosedSubscription, finding);
        }
    }

    /// Cancels the subscription, and returns its id.
    fn cancel(self) -> Option<Id> {
        self.pending.cancel(None);
        self.id
    }
}
