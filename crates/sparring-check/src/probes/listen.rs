//! Requests for subscriptions with an unknown version, with a text as id, and without kinds, and
//! a subscription that is open when the input ends (since 2026-07-28). What a subscription brings
//! is the matter of `subscriptions.rs`.

use serde_json::{Value, json};
use sparring_wire::{Entry, Id, RawJson, Rule, Side};

use super::lifecycle::UNKNOWN_VERSIONS;
use super::metadata::VERSION_KEY;
use super::subscriptions::{ACKNOWLEDGED, KINDS, LISTEN, SUBSCRIPTION_TIMEOUT, subscription_of};
use super::{Probe, probe};
use crate::connection::Connection;
use crate::context::{Context, ProbeResult};
use crate::http::{request, with_metadata};
use crate::verdict::Finding;

pub(super) const PROBES: &[Probe] =
    &[probe!([UnsupportedVersion, MissingAcknowledgment], listen_requests)];

/// Opens a subscription that ends with the connections.
pub(super) const LAST_PROBES: &[Probe] = &[probe!([InvalidSubscription], open_at_end)];

/// Returns a filter with one kind that the server declares, if it acknowledges subscriptions.
fn declared_filter(context: &Context) -> Option<Value> {
    let facts = context.facts();
    let declares = |capability: &str| facts.declares_member(capability, "listChanged");
    let (kind, ..) = KINDS.iter().find(|(_, capability, _)| declares(capability))?;
    // Another probe reports a server that acknowledges nothing.
    let works = context.outcomes().count(Rule::MissingAcknowledgment) == 0;
    works.then(|| json!({*kind: true}))
}

async fn listen_requests(context: &Context) -> ProbeResult {
    let Some(filter) = declared_filter(context) else { return Ok(()) };
    let connection = context.take_unjudged().await?;
    let listen = Listen { context, connection: &connection };
    let params = with_metadata(json!({"notifications": filter}), context.revision);
    listen.with_unknown_version(params.clone()).await;
    listen.with_text_id(params).await;
    listen.without_kinds().await;
    context.give_back_unjudged(connection);
    Ok(())
}

/// Sends single requests for subscriptions.
struct Listen<'a> {
    context: &'a Context,
    connection: &'a Connection,
}

impl Listen<'_> {
    async fn with_unknown_version(&self, mut params: Value) {
        params["_meta"][VERSION_KEY] = UNKNOWN_VERSIONS[0].into();
        let answer = self.first_answer(json!("sparring-listen-version"), params).await;
        if answer.as_ref().is_some_and(is_acknowledgment) {
            let text = "expected the error -32022 for a subscription of an unknown version; the \
                        server acknowledged it";
            let finding = Finding::new(text).with_frames(&answer).about(LISTEN);
            self.context.fail(Rule::UnsupportedVersion, finding);
        }
    }

    async fn with_text_id(&self, params: Value) {
        let answer = self.first_answer(json!("sparring-listen"), params).await;
        self.require_acknowledgment("a subscription whose id is a text", answer);
    }

    /// All fields of a filter are optional (basic/patterns/subscriptions#notification-filter).
    async fn without_kinds(&self) {
        let params = with_metadata(json!({"notifications": {}}), self.context.revision);
        let answer = self.first_answer(json!("sparring-listen-empty"), params).await;
        self.require_acknowledgment("a subscription with an empty filter", answer);
    }

    fn require_acknowledgment(&self, subscription: &str, answer: Option<Entry>) {
        let code = |it: &Entry| it.frame.error()?.get("code")?.as_i64();
        let found = match answer.as_ref() {
            Some(answer) if is_acknowledgment(answer) => return,
            Some(answer) => match code(answer) {
                Some(code) => format!("the server answered with the error {code}"),
                None => "the server answered with a result".to_owned(),
            },
            None => "the server sent none".to_owned(),
        };
        let text = format!("expected the acknowledgment of {subscription}; {found}");
        let finding = Finding::new(text).with_frames(&answer);
        self.context.fail(Rule::MissingAcknowledgment, finding);
    }

    /// Sends a request, cancels it after the first answer, and returns that: the acknowledgment
    /// or the response.
    async fn first_answer(&self, id: Value, params: Value) -> Option<Entry> {
        let connection = self.connection;
        let sent = request(id.clone(), LISTEN, Some(params)).to_string();
        let id = Id::from_json(RawJson::from(id).view());
        let start = connection.recording().len();
        let answers = |it: &Entry| {
            it.from == Side::Server
                && (is_acknowledgment(it) && subscription_of(it) == id
                    || it.frame.is_response_like() && it.frame.id() == id.as_ref())
        };
        let timeout = connection.request_timeout();
        let mut pending = connection.client().request_bytes(sent).timeout(timeout).start();
        tokio::select! {
            biased;
            answer = connection.wait_for_frame(start, answers) => {
                pending.cancel(None);
                answer
            }
            _ = &mut pending => {
                connection.recording().entries_from(start).into_iter().find(answers)
            }
        }
    }
}

fn is_acknowledgment(entry: &Entry) -> bool {
    entry.frame.method() == Some(ACKNOWLEDGED)
}

/// Opens a subscription that the server has to end with the input. The check of the traffic looks
/// at the result (basic/patterns/subscriptions#graceful-closure).
async fn open_at_end(context: &Context) -> ProbeResult {
    let Some(filter) = declared_filter(context).filter(|_| context.http().is_none()) else {
        return Ok(());
    };
    let connection = context.spare().await?;
    let start = connection.recording().len();
    let params = RawJson::from(json!({"notifications": filter}));
    let request = connection.client().request(LISTEN, Some(params));
    let pending = request.timeout(SUBSCRIPTION_TIMEOUT).start();
    connection.wait_for_frame(start, is_acknowledgment).await;
    pending.detach();
    Ok(())
}
