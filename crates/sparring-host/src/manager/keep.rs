//! Keeps the lists of a connected server right: hears that one has changed and
//! asks for it again, one time for any number of changes that come together.

use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::OptionFuture;
use sparring_peer::Client;
use sparring_peer::client::{Error, Filter, Listing, Subscription};
use sparring_wire::{Frame, Revision};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};

use super::backoff;
use super::entry::Entry;
use super::event::{Announcer, Event};
use super::lists::{self, Fetched, Lists, Turn};
use crate::config::Reconnect;

/// How long a subscription is waited at before it is waited at again.
const LONG: Duration = Duration::from_secs(24 * 60 * 60);

/// How long after a subscription has ended another is asked for; the wait
/// doubles until there is one that lasts.
const AGAIN: Reconnect = Reconnect { attempts: u32::MAX, delay: Duration::from_secs(1) };

/// How long one must have lasted to be one that lasts.
const LASTING: Duration = Duration::from_secs(60);

type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Who keeps the lists of one connection.
pub(super) struct Keep {
    server: Arc<str>,
    client: Client,
    config: watch::Receiver<Entry>,
    lists: watch::Sender<Lists>,
    announcer: Announcer,
    hearing: Hearing,
    /// How often a subscription was asked for since one lasted.
    tries: u32,
    /// Since when there is one.
    since: Instant,
    /// The lists that have to be asked for.
    due: Vec<Listing>,
    asking: Option<Work<Vec<Fetched>>>,
}

/// How it is heard of changes.
enum Hearing {
    /// There is nothing to hear of.
    Nothing,
    Subscribed(Box<Subscription>),
    /// It has ended, and is asked for again then.
    Ended(Instant),
    Asking(Work<Result<Subscription, Error>>),
}

/// What is heard.
enum Heard {
    Changed(Frame),
    Subscribed(Box<Subscription>),
    /// None is left, for this reason.
    Ended(Error),
}

impl Keep {
    /// Listens for changes, then asks for all lists that the server declares.
    /// One that cannot be had is empty and says why.
    pub(super) async fn begin(
        server: Arc<str>,
        client: Client,
        config: watch::Receiver<Entry>,
        announcer: Announcer,
    ) -> (Keep, watch::Receiver<Lists>) {
        let (lists, receiver) = watch::channel(Lists::default());
        let hearing = Hearing::Nothing;
        let (tries, since, due, asking) = (0, Instant::now(), Vec::new(), None);
        let mut keep =
            Keep { server, client, config, lists, announcer, hearing, tries, since, due, asking };
        let all = keep.timeout();
        let until = Instant::now() + all;
        // First: what changes while the lists are on their way is not missed.
        if keep.filter() != Filter::default() {
            let client = keep.client.clone();
            let late = |_| late("subscriptions/listen", all / 2);
            let listening = timeout(all / 2, client.listen(keep.filter()));
            match listening.await.map_err(late).and_then(|listening| listening) {
                Ok(subscription) => keep.hearing = Hearing::Subscribed(Box::new(subscription)),
                Err(error) => keep.ended(&error),
            }
        }
        let left = until.duration_since(Instant::now());
        let fetched = lists::fetch(keep.client.clone(), lists::ALL.to_vec(), left).await;
        keep.take(fetched);
        (keep, receiver)
    }

    /// Goes on for as long as somebody waits for it.
    pub(super) async fn run(&mut self) -> Infallible {
        loop {
            if self.asking.is_none() && !self.due.is_empty() {
                let due = std::mem::take(&mut self.due);
                let asking = lists::fetch(self.client.clone(), due, self.timeout());
                self.asking = Some(Box::pin(asking));
            }
            let filter = self.filter();
            tokio::select! {
                Some(fetched) = OptionFuture::from(self.asking.as_mut()) => {
                    self.asking = None;
                    self.take(fetched);
                }
                heard = self.hearing.next(&self.client, filter) => match heard {
                    Heard::Changed(frame) => self.changed(&frame),
                    Heard::Subscribed(subscription) => {
                        self.hearing = Hearing::Subscribed(subscription);
                        self.since = Instant::now();
                        // What has changed meanwhile nobody told.
                        lists::ALL.into_iter().for_each(|what| self.want(what));
                    }
                    Heard::Ended(error) => self.ended(&error),
                },
            }
        }
    }

    /// What is to be heard of: all that the server says it would tell.
    fn filter(&self) -> Filter {
        let capabilities = self.client.capabilities();
        Filter {
            tools_list_changed: capabilities.has("tools.listChanged"),
            prompts_list_changed: capabilities.has("prompts.listChanged"),
            resources_list_changed: capabilities.has("resources.listChanged"),
            uris: Vec::new(),
        }
    }

    fn timeout(&self) -> Duration {
        self.config.borrow().timeout
    }

    fn changed(&mut self, frame: &Frame) {
        match frame.method() {
            Some("notifications/tools/list_changed") => self.want(Listing::Tools),
            Some("notifications/prompts/list_changed") => self.want(Listing::Prompts),
            Some("notifications/resources/list_changed") => {
                self.want(Listing::Resources);
                self.want(Listing::ResourceTemplates);
            }
            _ => {}
        }
    }

    fn want(&mut self, what: Listing) {
        if !self.due.contains(&what) {
            self.due.push(what);
        }
    }

    /// A subscription has ended, or there was none. Before 2026-07-28 it only
    /// ends with its connection; and a server that refuses is not asked twice.
    fn ended(&mut self, error: &Error) {
        let lasted =
            matches!(&self.hearing, Hearing::Subscribed(_) if self.since.elapsed() >= LASTING);
        if lasted {
            self.tries = 0;
        }
        let modern = self.client.revision().is_some_and(Revision::is_modern);
        self.hearing = match modern && !matches!(error, Error::Refused { .. }) {
            true => Hearing::Ended(Instant::now() + backoff::wait(&AGAIN, self.tries)),
            false => Hearing::Nothing,
        };
        self.tries = self.tries.saturating_add(1);
        if self.client.is_connected() {
            let (server, why) = (Arc::clone(&self.server), error.to_string().into());
            self.announcer.tell(Event::NotListening { server, why });
        }
    }

    fn take(&mut self, fetched: Vec<Fetched>) {
        let mut turns = Vec::new();
        self.lists.send_modify(|lists| {
            for fetched in fetched {
                let (what, of_list) = lists.take(fetched);
                turns.extend(of_list.into_iter().map(|turn| (what, turn)));
            }
        });
        for (what, turn) in turns {
            let server = Arc::clone(&self.server);
            self.announcer.tell(match turn {
                Turn::Other => Event::Listed { server, what },
                Turn::Stale(why) => Event::Stale { server, what, why },
                Turn::Malformed(why) => Event::Malformed { server, what, why },
            });
        }
    }
}

impl Hearing {
    /// The next thing that is heard. Nothing is lost where it is dropped.
    async fn next(&mut self, client: &Client, filter: Filter) -> Heard {
        loop {
            match self {
                Hearing::Nothing => return std::future::pending().await,
                Hearing::Subscribed(subscription) => match subscription.next(LONG).await {
                    Ok(frame) => return Heard::Changed(frame),
                    Err(Error::Timeout { .. }) => {}
                    Err(error) => return Heard::Ended(error),
                },
                Hearing::Ended(until) => {
                    sleep_until(*until).await;
                    let client = client.clone();
                    let filter = filter.clone();
                    *self = Hearing::Asking(Box::pin(async move { client.listen(filter).await }));
                }
                Hearing::Asking(asking) => {
                    return match asking.await {
                        Ok(subscription) => Heard::Subscribed(Box::new(subscription)),
                        Err(error) => Heard::Ended(error),
                    };
                }
            }
        }
    }
}

fn late(method: &str, after: Duration) -> Error {
    Error::Timeout { method: method.to_owned(), after }
}
