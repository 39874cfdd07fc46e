//! Subscriptions with one interface for both eras: `subscriptions/listen` since
//! 2026-07-28, one request for each resource before.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use sparring_wire::types::ServerCapabilities;
use sparring_wire::{Frame, Json, RawJson, Revision};
use tokio::sync::mpsc;

use super::driver::Listener;
use super::{Client, Error, PendingRequest};
use crate::link::Cause;

/// The queue length of a subscription. Further notifications are only in the
/// client's inbox.
const MAX_QUEUED_NOTIFICATIONS: usize = 1_000;

/// The changes that a subscription covers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubscriptionFilter {
    /// Changes of the list of tools.
    pub tools_list_changed: bool,
    /// Changes of the list of prompts.
    pub prompts_list_changed: bool,
    /// Changes of the list of resources.
    pub resources_list_changed: bool,
    /// Changes of these resources.
    pub uris: Vec<String>,
}

impl SubscriptionFilter {
    /// Returns the filter as JSON for `subscriptions/listen`.
    pub fn to_value(&self) -> Value {
        let mut fields = Map::new();
        let flags = [
            ("toolsListChanged", self.tools_list_changed),
            ("promptsListChanged", self.prompts_list_changed),
            ("resourcesListChanged", self.resources_list_changed),
        ];
        for (name, _) in flags.into_iter().filter(|(_, wanted)| *wanted) {
            fields.insert(name.to_owned(), true.into());
        }
        if !self.uris.is_empty() {
            fields.insert("resourceSubscriptions".to_owned(), json!(self.uris));
        }
        Value::Object(fields)
    }

    /// Parses the filter of `subscriptions/listen`.
    pub fn parse(json: Json<'_>) -> SubscriptionFilter {
        let flag = |name| json.get(name).and_then(Json::as_bool) == Some(true);
        let uris = json.get("resourceSubscriptions").unwrap_or(Json::EMPTY_OBJECT).items();
        SubscriptionFilter {
            tools_list_changed: flag("toolsListChanged"),
            prompts_list_changed: flag("promptsListChanged"),
            resources_list_changed: flag("resourcesListChanged"),
            uris: uris.filter_map(|uri| uri.as_str().map(Into::into)).collect(),
        }
    }

    /// Keeps the part that a server with these capabilities supports.
    pub(crate) fn limited_to(self, capabilities: &ServerCapabilities) -> SubscriptionFilter {
        let has = |name: &str| capabilities.has(name);
        SubscriptionFilter {
            tools_list_changed: self.tools_list_changed && has("tools.listChanged"),
            prompts_list_changed: self.prompts_list_changed && has("prompts.listChanged"),
            resources_list_changed: self.resources_list_changed && has("resources.listChanged"),
            uris: if has("resources.subscribe") { self.uris } else { Vec::new() },
        }
    }

    /// Returns true if a notification matches the filter.
    pub fn matches(&self, method: &str, params: Option<Json<'_>>) -> bool {
        match method {
            "notifications/tools/list_changed" => self.tools_list_changed,
            "notifications/prompts/list_changed" => self.prompts_list_changed,
            "notifications/resources/list_changed" => self.resources_list_changed,
            "notifications/resources/updated" => {
                let uri = params.and_then(|params| params.get("uri")).and_then(Json::as_str);
                uri.is_some_and(|uri| self.uris.iter().any(|wanted| *wanted == uri))
            }
            _ => false,
        }
    }
}

/// An open subscription. Dropping it ends it.
#[must_use = "a subscription that is dropped ends"]
pub struct Subscription {
    acknowledged: SubscriptionFilter,
    frames: mpsc::Receiver<Frame>,
    kind: SubscriptionKind,
    client: Client,
    /// The outcome, once [`Subscription::ended`] has returned it.
    outcome: Option<Result<(), Error>>,
}

enum SubscriptionKind {
    /// The `subscriptions/listen` request; dropping it cancels it.
    Listen(Box<PendingRequest>),
    /// The subscriber's key, and the resources subscribed to.
    PerResource(u64, Vec<String>),
}

impl Subscription {
    pub(super) async fn open(
        client: Client,
        filter: SubscriptionFilter,
    ) -> Result<Subscription, Error> {
        match client.revision().is_some_and(Revision::is_modern) {
            true => Self::listen(client, filter).await,
            false => Self::subscribe_each(client, filter).await,
        }
    }

    async fn listen(client: Client, filter: SubscriptionFilter) -> Result<Subscription, Error> {
        let (sender, mut frames) = mpsc::channel(MAX_QUEUED_NOTIFICATIONS);
        let params = RawJson::from(json!({"notifications": filter.to_value()}));
        let request = client.request("subscriptions/listen", Some(params));
        let mut listen = Box::new(request.listener(Listener::Subscription(sender)).start());
        let ended = || Error::InvalidResult {
            method: "subscriptions/listen".to_owned(),
            reason: "it ended before it was acknowledged".to_owned(),
        };
        // A notification before the acknowledgment is a violation, and is in the
        // transcript.
        let first = loop {
            let frame = tokio::select! {
                biased;
                Some(frame) = frames.recv() => frame,
                answer = &mut listen => {
                    return Err(answer?.to_value().err().unwrap_or_else(ended));
                }
            };
            if frame.method() == Some("notifications/subscriptions/acknowledged") {
                break frame;
            }
        };
        let granted = first.params().and_then(|params| params.get("notifications"));
        let acknowledged = granted.map(SubscriptionFilter::parse).unwrap_or_default();
        Ok(Subscription {
            acknowledged,
            frames,
            kind: SubscriptionKind::Listen(listen),
            client,
            outcome: None,
        })
    }

    async fn subscribe_each(
        client: Client,
        filter: SubscriptionFilter,
    ) -> Result<Subscription, Error> {
        // The server accepts or refuses the subscription of each resource
        // separately.
        let acknowledged = SubscriptionFilter {
            uris: filter.uris.clone(),
            ..filter.limited_to(&client.capabilities())
        };
        let (sender, frames) = mpsc::channel(MAX_QUEUED_NOTIFICATIONS);
        let key = client.next_key();
        client.handle.shared.subscribers.add(key, acknowledged.clone(), sender);
        let uris = acknowledged.uris.clone();
        let mut subscription = Subscription {
            acknowledged,
            frames,
            kind: SubscriptionKind::PerResource(key, Vec::new()),
            client,
            outcome: None,
        };
        for uri in uris {
            let request =
                subscription.client.request("resources/subscribe", Some(uri_params(&uri)));
            request.await?.to_value()?;
            if let SubscriptionKind::PerResource(_, subscribed) = &mut subscription.kind {
                subscribed.push(uri);
            }
        }
        Ok(subscription)
    }

    /// Returns the filter that the server has acknowledged.
    pub fn acknowledged(&self) -> &SubscriptionFilter {
        &self.acknowledged
    }

    /// Waits for the next notification.
    ///
    /// # Errors
    /// If none arrives within that time, or the subscription has ended.
    pub async fn next(&mut self, within: Duration) -> Result<Frame, Error> {
        let method = || "a notification of the subscription".to_owned();
        match tokio::time::timeout(within, self.frames.recv()).await {
            Ok(Some(frame)) => Ok(frame),
            Ok(None) => Err(Error::Closed { method: method(), cause: Cause::EndOfInput }),
            Err(_) => Err(Error::Timeout { method: method(), after: within }),
        }
    }

    /// Waits until the server ends the subscription.
    ///
    /// # Errors
    /// If it did not end normally. Before 2026-07-28 only the end of the
    /// connection ends it.
    pub async fn ended(&mut self) -> Result<(), Error> {
        match &mut self.kind {
            SubscriptionKind::Listen(listen) => {
                if self.outcome.is_none() {
                    let answer = listen.as_mut().await;
                    let outcome = answer.and_then(|answer| answer.to_value().map(drop));
                    self.outcome = Some(outcome);
                }
                self.outcome.clone().unwrap_or(Ok(()))
            }
            SubscriptionKind::PerResource(..) => {
                let cause = self.client.closed().await;
                Err(Error::Closed { method: "resources/subscribe".to_owned(), cause })
            }
        }
    }

    /// Ends the subscription from this side.
    ///
    /// # Errors
    /// If the server refuses to unsubscribe.
    pub async fn close(mut self) -> Result<(), Error> {
        if let SubscriptionKind::PerResource(key, subscribed) = &mut self.kind {
            self.client.handle.shared.subscribers.remove(*key);
            let subscribed = std::mem::take(subscribed);
            for uri in self.client.handle.shared.subscribers.without_subscriber(subscribed) {
                let request = self.client.request("resources/unsubscribe", Some(uri_params(&uri)));
                request.await?.to_value()?;
            }
        }
        Ok(())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let SubscriptionKind::PerResource(key, subscribed) = &mut self.kind {
            let subscribers = &self.client.handle.shared.subscribers;
            subscribers.remove(*key);
            for uri in subscribers.without_subscriber(std::mem::take(subscribed)) {
                let request = self.client.request("resources/unsubscribe", Some(uri_params(&uri)));
                request.start().detach();
            }
        }
    }
}

fn uri_params(uri: &str) -> RawJson {
    json!({"uri": uri}).into()
}

/// The receivers of notifications that name no subscription.
#[derive(Debug, Default)]
pub(super) struct LegacySubscribers(Mutex<Vec<LegacySubscriber>>);

#[derive(Debug)]
struct LegacySubscriber {
    key: u64,
    filter: SubscriptionFilter,
    sender: mpsc::Sender<Frame>,
}

impl LegacySubscribers {
    fn add(&self, key: u64, filter: SubscriptionFilter, sender: mpsc::Sender<Frame>) {
        self.list().push(LegacySubscriber { key, filter, sender });
    }

    fn remove(&self, key: u64) {
        self.list().retain(|subscriber| subscriber.key != key);
    }

    /// Returns those of the resources that have no subscriber. The server does
    /// not count the subscriptions of a client to one resource.
    fn without_subscriber(&self, uris: Vec<String>) -> Vec<String> {
        let list = self.list();
        let has_subscriber =
            |uri: &String| list.iter().any(|subscriber| subscriber.filter.uris.contains(uri));
        uris.into_iter().filter(|uri| !has_subscriber(uri)).collect()
    }

    /// Removes all subscribers, after the connection has ended.
    pub(super) fn clear(&self) {
        self.list().clear();
    }

    pub(super) fn deliver(&self, frame: &Frame) {
        let method = frame.method().unwrap_or_default();
        for subscriber in self
            .list()
            .iter()
            .filter(|subscriber| subscriber.filter.matches(method, frame.params()))
        {
            // If a subscriber does not read, frames beyond its queue are dropped.
            let _ = subscriber.sender.try_send(frame.clone());
        }
    }

    fn list(&self) -> MutexGuard<'_, Vec<LegacySubscriber>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
