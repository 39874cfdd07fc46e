//! Subscriptions, the same in both eras: since 2026-07-28 a standing request,
//! before that one request for each resource.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Map, Value, json};
use sparring_wire::types::ServerCapabilities;
use sparring_wire::{Frame, Json, RawJson, Revision};
use tokio::sync::mpsc;

use super::driver::Listener;
use super::{Client, Error, InFlight};
use crate::link::Cause;

/// How many notifications wait for a subscriber; more are only in the
/// client's own inbox.
const MOST: usize = 1_000;

/// What to be told about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Filter {
    /// That the list of tools has changed.
    pub tools_list_changed: bool,
    /// That the list of prompts has changed.
    pub prompts_list_changed: bool,
    /// That the list of resources has changed.
    pub resources_list_changed: bool,
    /// That these resources have changed.
    pub uris: Vec<String>,
}

impl Filter {
    /// The filter as it stands in `subscriptions/listen`.
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

    /// The filter that stands there.
    pub fn read(json: Json<'_>) -> Filter {
        let flag = |name| json.get(name).and_then(Json::as_bool) == Some(true);
        let uris = json.get("resourceSubscriptions").unwrap_or(Json::EMPTY_OBJECT).items();
        Filter {
            tools_list_changed: flag("toolsListChanged"),
            prompts_list_changed: flag("promptsListChanged"),
            resources_list_changed: flag("resourcesListChanged"),
            uris: uris.filter_map(|uri| uri.as_str().map(Into::into)).collect(),
        }
    }

    /// As much of it as a server with these capabilities can tell.
    pub(crate) fn granted_by(self, capabilities: &ServerCapabilities) -> Filter {
        let has = |name: &str| capabilities.has(name);
        Filter {
            tools_list_changed: self.tools_list_changed && has("tools.listChanged"),
            prompts_list_changed: self.prompts_list_changed && has("prompts.listChanged"),
            resources_list_changed: self.resources_list_changed && has("resources.listChanged"),
            uris: if has("resources.subscribe") { self.uris } else { Vec::new() },
        }
    }

    /// Whether a notification is one of those.
    pub fn fits(&self, method: &str, params: Option<Json<'_>>) -> bool {
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

/// A subscription that stands. Dropped, it ends.
#[must_use = "a subscription that is dropped ends"]
pub struct Subscription {
    acknowledged: Filter,
    frames: mpsc::Receiver<Frame>,
    way: Way,
    client: Client,
    /// How it ended, once that has been asked.
    outcome: Option<Result<(), Error>>,
}

enum Way {
    /// The standing request; dropping it cancels it.
    Listen(Box<InFlight>),
    /// The watcher's key, and the resources subscribed to.
    Watch(u64, Vec<String>),
}

impl Subscription {
    pub(super) async fn open(client: Client, filter: Filter) -> Result<Subscription, Error> {
        match client.revision().is_some_and(Revision::is_modern) {
            true => Self::listen(client, filter).await,
            false => Self::watch(client, filter).await,
        }
    }

    async fn listen(client: Client, filter: Filter) -> Result<Subscription, Error> {
        let (sender, mut frames) = mpsc::channel(MOST);
        let params = RawJson::from(json!({"notifications": filter.to_value()}));
        let request = client.request("subscriptions/listen", Some(params));
        let mut standing = Box::new(request.listener(Listener::Subscription(sender)).start());
        let ended = || Error::Unusable {
            method: "subscriptions/listen".to_owned(),
            reason: "it ended without being acknowledged".to_owned(),
        };
        // What comes before the acknowledgment is a breach, and in the transcript.
        let first = loop {
            let frame = tokio::select! {
                biased;
                Some(frame) = frames.recv() => frame,
                answer = &mut standing => {
                    return Err(answer?.to_value().err().unwrap_or_else(ended));
                }
            };
            if frame.method() == Some("notifications/subscriptions/acknowledged") {
                break frame;
            }
        };
        let granted = first.params().and_then(|params| params.get("notifications"));
        let acknowledged = granted.map(Filter::read).unwrap_or_default();
        Ok(Subscription { acknowledged, frames, way: Way::Listen(standing), client, outcome: None })
    }

    async fn watch(client: Client, filter: Filter) -> Result<Subscription, Error> {
        // Which resources can be watched is the server's to say, at each of them.
        let acknowledged =
            Filter { uris: filter.uris.clone(), ..filter.granted_by(&client.capabilities()) };
        let (sender, frames) = mpsc::channel(MOST);
        let key = client.key();
        client.handle.shared.watchers.add(key, acknowledged.clone(), sender);
        let uris = acknowledged.uris.clone();
        let mut subscription = Subscription {
            acknowledged,
            frames,
            way: Way::Watch(key, Vec::new()),
            client,
            outcome: None,
        };
        for uri in uris {
            let request = subscription.client.request("resources/subscribe", Some(about(&uri)));
            request.await?.to_value()?;
            if let Way::Watch(_, subscribed) = &mut subscription.way {
                subscribed.push(uri);
            }
        }
        Ok(subscription)
    }

    /// What the server agreed to tell.
    pub fn acknowledged(&self) -> &Filter {
        &self.acknowledged
    }

    /// The next notification.
    ///
    /// # Errors
    /// When none came in that time, or the subscription has ended.
    pub async fn next(&mut self, within: Duration) -> Result<Frame, Error> {
        let method = || "a notification of the subscription".to_owned();
        match tokio::time::timeout(within, self.frames.recv()).await {
            Ok(Some(frame)) => Ok(frame),
            Ok(None) => Err(Error::Closed { method: method(), cause: Cause::EndOfInput }),
            Err(_) => Err(Error::Timeout { method: method(), after: within }),
        }
    }

    /// Waits until the server ends the subscription: a good end, or why not.
    ///
    /// # Errors
    /// When it did not end in good order. Before 2026-07-28 only the
    /// connection ends.
    pub async fn ended(&mut self) -> Result<(), Error> {
        match &mut self.way {
            Way::Listen(standing) => {
                if self.outcome.is_none() {
                    let answer = standing.as_mut().await;
                    let outcome = answer.and_then(|answer| answer.to_value().map(drop));
                    self.outcome = Some(outcome);
                }
                self.outcome.clone().unwrap_or(Ok(()))
            }
            Way::Watch(..) => {
                let cause = self.client.closed().await;
                Err(Error::Closed { method: "resources/subscribe".to_owned(), cause })
            }
        }
    }

    /// Ends the subscription from this side.
    ///
    /// # Errors
    /// When the server refuses to, where it is asked.
    pub async fn close(mut self) -> Result<(), Error> {
        if let Way::Watch(key, subscribed) = &mut self.way {
            self.client.handle.shared.watchers.remove(*key);
            let subscribed = std::mem::take(subscribed);
            for uri in self.client.handle.shared.watchers.unwatched(subscribed) {
                let request = self.client.request("resources/unsubscribe", Some(about(&uri)));
                request.await?.to_value()?;
            }
        }
        Ok(())
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        if let Way::Watch(key, subscribed) = &mut self.way {
            let watchers = &self.client.handle.shared.watchers;
            watchers.remove(*key);
            for uri in watchers.unwatched(std::mem::take(subscribed)) {
                let request = self.client.request("resources/unsubscribe", Some(about(&uri)));
                request.start().forget();
            }
        }
    }
}

fn about(uri: &str) -> RawJson {
    json!({"uri": uri}).into()
}

/// Who wants to be told of notifications that name no subscription.
#[derive(Debug, Default)]
pub(super) struct Watchers(Mutex<Vec<Watcher>>);

#[derive(Debug)]
struct Watcher {
    key: u64,
    filter: Filter,
    sender: mpsc::Sender<Frame>,
}

impl Watchers {
    fn add(&self, key: u64, filter: Filter, sender: mpsc::Sender<Frame>) {
        self.list().push(Watcher { key, filter, sender });
    }

    fn remove(&self, key: u64) {
        self.list().retain(|watcher| watcher.key != key);
    }

    /// Those of the resources that nobody watches: the server knows only
    /// whether a client subscribed, not how often.
    fn unwatched(&self, uris: Vec<String>) -> Vec<String> {
        let list = self.list();
        let watched = |uri: &String| list.iter().any(|watcher| watcher.filter.uris.contains(uri));
        uris.into_iter().filter(|uri| !watched(uri)).collect()
    }

    /// The connection is gone: nobody hears anything any more.
    pub(super) fn clear(&self) {
        self.list().clear();
    }

    pub(super) fn tell(&self, frame: &Frame) {
        let method = frame.method().unwrap_or_default();
        for watcher in
            self.list().iter().filter(|watcher| watcher.filter.fits(method, frame.params()))
        {
            // A subscriber that does not listen misses what is too much.
            let _ = watcher.sender.try_send(frame.clone());
        }
    }

    fn list(&self) -> MutexGuard<'_, Vec<Watcher>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
