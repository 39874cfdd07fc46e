//! Keeps the lists of a connected server up to date: subscribes to list changes
//! and fetches changed lists again, once for changes that arrive together.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::OptionFuture;
use sparring_peer::Client;
use sparring_peer::client::{Error, ListKind, Subscription, SubscriptionFilter};
use sparring_wire::{Frame, Revision};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::backoff;
use super::event::{Event, EventSender};
use super::lists::{self, FetchedList, ListUpdate, Lists};
use super::server::ConfigEntry;
use crate::config::Reconnect;

/// The timeout of one wait for a subscription's next event; the wait is then repeated.
const NEXT_EVENT_TIMEOUT: Duration = Duration::from_secs(24 * 60 * 60);

/// The delay before a new subscription after one has ended. It doubles until a
/// subscription is stable.
const RESUBSCRIBE_BACKOFF: Reconnect =
    Reconnect { attempts: u32::MAX, delay: Duration::from_secs(1) };

/// A subscription that lasted this long is stable.
const STABLE_AFTER: Duration = Duration::from_secs(60);

type BoxedFuture<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Refreshes the lists of one connection.
pub(super) struct ListRefresher {
    server: Arc<str>,
    client: Client,
    config: watch::Receiver<ConfigEntry>,
    lists: watch::Sender<Lists>,
    events: EventSender,
    subscription_state: SubscriptionState,
    /// The number of subscription attempts since the last stable subscription.
    tries: u32,
    /// When the current subscription began.
    since: Instant,
    /// The lists to fetch.
    due: Vec<ListKind>,
    fetching: Option<BoxedFuture<Vec<FetchedList>>>,
}

/// The state of the subscription to list changes.
enum SubscriptionState {
    /// No subscription: the server declares no list changes, or refused.
    None,
    Active(Box<Subscription>),
    /// The subscription has ended. The next attempt is at this time.
    RetryAt(Instant),
    Subscribing(BoxedFuture<Result<Subscription, Error>>),
}

/// An event of the subscription.
enum SubscriptionEvent {
    ListChanged(Frame),
    Subscribed(Box<Subscription>),
    /// The subscription has ended for this reason.
    Ended(Error),
}

impl ListRefresher {
    /// Subscribes to list changes, then fetches all lists that the server
    /// declares. A list that cannot be fetched is empty and contains the
    /// reason.
    pub(super) async fn start(
        server: Arc<str>,
        client: Client,
        config: watch::Receiver<ConfigEntry>,
        events: EventSender,
    ) -> (ListRefresher, watch::Receiver<Lists>) {
        let (lists, receiver) = watch::channel(Lists::default());
        let subscription_state = SubscriptionState::None;
        let (tries, since, due, fetching) = (0, Instant::now(), Vec::new(), None);
        let mut refresher = ListRefresher {
            server,
            client,
            config,
            lists,
            events,
            subscription_state,
            tries,
            since,
            due,
            fetching,
        };
        let all = refresher.timeout();
        let until = Instant::now() + all;
        // Subscribe first, so that changes during the fetch are not missed.
        if refresher.declared_changes() != SubscriptionFilter::default() {
            let client = refresher.client.clone();
            let timeout_error = |_| timeout_error("subscriptions/listen", all / 2);
            let listening = timeout(all / 2, client.listen(refresher.declared_changes()));
            match listening.await.map_err(timeout_error).and_then(|listening| listening) {
                Ok(subscription) => {
                    refresher.subscription_state = SubscriptionState::Active(Box::new(subscription))
                }
                Err(error) => refresher.handle_subscription_end(&error),
            }
        }
        let left = until.duration_since(Instant::now());
        let fetched = lists::fetch(refresher.client.clone(), lists::ALL_LISTS.to_vec(), left).await;
        refresher.apply(fetched);
        (refresher, receiver)
    }

    /// Runs until it is dropped.
    pub(super) async fn run(&mut self) -> Infallible {
        loop {
            if self.fetching.is_none() && !self.due.is_empty() {
                let due = std::mem::take(&mut self.due);
                let fetching = lists::fetch(self.client.clone(), due, self.timeout());
                self.fetching = Some(Box::pin(fetching));
            }
            let filter = self.declared_changes();
            tokio::select! {
                Some(fetched) = OptionFuture::from(self.fetching.as_mut()) => {
                    self.fetching = None;
                    self.apply(fetched);
                }
                event = self.subscription_state.next(&self.client, filter) => match event {
                    SubscriptionEvent::ListChanged(frame) => self.queue_changed_list(&frame),
                    SubscriptionEvent::Subscribed(subscription) => {
                        self.subscription_state = SubscriptionState::Active(subscription);
                        self.since = Instant::now();
                        // List changes since the last subscription were missed.
                        lists::ALL_LISTS.into_iter().for_each(|what| self.queue_fetch(what));
                    }
                    SubscriptionEvent::Ended(error) => self.handle_subscription_end(&error),
                },
            }
        }
    }

    /// The notifications that the server declares.
    fn declared_changes(&self) -> SubscriptionFilter {
        let capabilities = self.client.capabilities();
        SubscriptionFilter {
            tools_list_changed: capabilities.has("tools.listChanged"),
            prompts_list_changed: capabilities.has("prompts.listChanged"),
            resources_list_changed: capabilities.has("resources.listChanged"),
            uris: Vec::new(),
        }
    }

    fn timeout(&self) -> Duration {
        self.config.borrow().timeout
    }

    fn queue_changed_list(&mut self, frame: &Frame) {
        match frame.method() {
            Some("notifications/tools/list_changed") => self.queue_fetch(ListKind::Tools),
            Some("notifications/prompts/list_changed") => self.queue_fetch(ListKind::Prompts),
            Some("notifications/resources/list_changed") => {
                self.queue_fetch(ListKind::Resources);
                self.queue_fetch(ListKind::ResourceTemplates);
            }
            _ => {}
        }
    }

    fn queue_fetch(&mut self, what: ListKind) {
        if !self.due.contains(&what) {
            self.due.push(what);
        }
    }

    /// Handles the end of a subscription, or a failed attempt. Before
    /// 2026-07-28 it ends only with its connection. A server that refused is
    /// not asked again.
    fn handle_subscription_end(&mut self, error: &Error) {
        let lasted = matches!(&self.subscription_state, SubscriptionState::Active(_) if self.since.elapsed() >= STABLE_AFTER);
        if lasted {
            self.tries = 0;
        }
        let modern = self.client.revision().is_some_and(Revision::is_modern);
        self.subscription_state = match modern && !matches!(error, Error::ErrorResponse { .. }) {
            true => SubscriptionState::RetryAt(
                Instant::now() + backoff::retry_delay(&RESUBSCRIBE_BACKOFF, self.tries),
            ),
            false => SubscriptionState::None,
        };
        self.tries = self.tries.saturating_add(1);
        if self.client.is_connected() {
            let (server, why) = (Arc::clone(&self.server), error.to_string().into());
            self.events.send(Event::SubscriptionFailed { server, why });
        }
    }

    fn apply(&mut self, fetched: Vec<FetchedList>) {
        let mut all_updates = Vec::new();
        self.lists.send_modify(|lists| {
            for fetched in fetched {
                let (what, updates) = lists.apply(fetched);
                all_updates.extend(updates.into_iter().map(|update| (what, update)));
            }
        });
        for (what, update) in all_updates {
            let server = Arc::clone(&self.server);
            self.events.send(match update {
                ListUpdate::Changed => Event::ListChanged { server, what },
                ListUpdate::Stale(why) => Event::ListStale { server, what, why },
                ListUpdate::Malformed(why) => Event::ListMalformed { server, what, why },
            });
        }
    }
}

impl SubscriptionState {
    /// Waits for the next event. Cancellation-safe.
    async fn next(&mut self, client: &Client, filter: SubscriptionFilter) -> SubscriptionEvent {
        loop {
            match self {
                SubscriptionState::None => return std::future::pending().await,
                SubscriptionState::Active(subscription) => {
                    match subscription.next(NEXT_EVENT_TIMEOUT).await {
                        Ok(frame) => return SubscriptionEvent::ListChanged(frame),
                        Err(Error::Timeout { .. }) => {}
                        Err(error) => return SubscriptionEvent::Ended(error),
                    }
                }
                SubscriptionState::RetryAt(until) => {
                    sleep_until(*until).await;
                    let client = client.clone();
                    let filter = filter.clone();
                    *self = SubscriptionState::Subscribing(Box::pin(async move {
                        client.listen(filter).await
                    }));
                }
                SubscriptionState::Subscribing(subscribing) => {
                    return match subscribing.await {
                        Ok(subscription) => SubscriptionEvent::Subscribed(Box::new(subscription)),
                        Err(error) => SubscriptionEvent::Ended(error),
                    };
                }
            }
        }
    }
}

fn timeout_error(method: &str, after: Duration) -> Error {
    Error::Timeout { method: method.to_owned(), after }
}
