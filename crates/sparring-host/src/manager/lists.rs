//! What a server has to offer, as far as it was told: each list with whether it
//! is still the right one.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use sparring_peer::Client;
use sparring_peer::client::{Error, Listing, TypedList};
use sparring_wire::code;
use sparring_wire::types::{Prompt, Resource, ResourceTemplate, Tool};
use tokio::time::timeout;

/// All that a server lists. What it does not declare is empty, and was not
/// asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Lists {
    /// Its tools.
    pub tools: List<Tool>,
    /// Its resources.
    pub resources: List<Resource>,
    /// Its resource templates.
    pub templates: List<ResourceTemplate>,
    /// Its prompts.
    pub prompts: List<Prompt>,
}

/// One list of a server's.
#[derive(Debug, Clone, PartialEq)]
pub struct List<T> {
    /// What is on it, in the server's order. Cheap to clone.
    pub items: Arc<[Arc<T>]>,
    /// Why it may not be the right one any more: the last time that it was
    /// asked for, this happened.
    pub stale: Option<Arc<str>>,
    /// What is wrong with the malformed items that the server lists too, which
    /// are left out here.
    pub malformed: Option<Arc<str>>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List { items: Arc::new([]), stale: None, malformed: None }
    }
}

/// All lists that there are.
pub(super) const ALL: [Listing; 4] =
    [Listing::Tools, Listing::Resources, Listing::ResourceTemplates, Listing::Prompts];

/// A list that was asked for.
pub(super) enum Fetched {
    Tools(Result<TypedList<Tool>, Error>),
    Resources(Result<TypedList<Resource>, Error>),
    Templates(Result<TypedList<ResourceTemplate>, Error>),
    Prompts(Result<TypedList<Prompt>, Error>),
}

/// Asks for these lists beside each other, within that time.
pub(super) async fn fetch(client: Client, what: Vec<Listing>, within: Duration) -> Vec<Fetched> {
    let client = &client.with_timeout(within);
    join_all(what.into_iter().map(|what| async move {
        match what {
            Listing::Tools => Fetched::Tools(bounded(what, within, client.list_tools()).await),
            Listing::Resources => {
                Fetched::Resources(bounded(what, within, client.list_resources()).await)
            }
            Listing::ResourceTemplates => {
                let templates = bounded(what, within, client.list_resource_templates()).await;
                Fetched::Templates(templates.or_else(none_where_unknown))
            }
            Listing::Prompts => {
                Fetched::Prompts(bounded(what, within, client.list_prompts()).await)
            }
        }
    }))
    .await
}

/// What is different about a list after it was asked for.
pub(super) enum Turn {
    /// It is another one.
    Other,
    /// It is the old one, for this reason.
    Stale(Arc<str>),
    /// It has other malformed items than before.
    Malformed(Arc<str>),
}

impl Lists {
    /// Takes what came of a list.
    pub(super) fn take(&mut self, fetched: Fetched) -> (Listing, Vec<Turn>) {
        match fetched {
            Fetched::Tools(found) => (Listing::Tools, self.tools.take(found)),
            Fetched::Resources(found) => (Listing::Resources, self.resources.take(found)),
            Fetched::Templates(found) => (Listing::ResourceTemplates, self.templates.take(found)),
            Fetched::Prompts(found) => (Listing::Prompts, self.prompts.take(found)),
        }
    }
}

impl<T: PartialEq> List<T> {
    fn take(&mut self, found: Result<TypedList<T>, Error>) -> Vec<Turn> {
        let mut turns = Vec::new();
        match found {
            Ok(found) => {
                self.stale = None;
                let malformed = found.malformed_summary().map(Arc::from);
                let items: Arc<[Arc<T>]> = found.into_iter().map(Arc::new).collect();
                if items != self.items {
                    turns.push(Turn::Other);
                }
                if malformed != self.malformed {
                    turns.extend(malformed.clone().map(Turn::Malformed));
                }
                (self.items, self.malformed) = (items, malformed);
            }
            Err(error) => {
                let why: Arc<str> = error.to_string().into();
                self.stale = Some(Arc::clone(&why));
                turns.push(Turn::Stale(why));
            }
        }
        turns
    }
}

async fn bounded<T>(
    what: Listing,
    within: Duration,
    asking: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let late = |_| Error::Timeout { method: what.method().to_owned(), after: within };
    timeout(within, asking).await.map_err(late)?
}

/// A server that has resources and no templates may not know the question.
fn none_where_unknown(error: Error) -> Result<TypedList<ResourceTemplate>, Error> {
    match &error {
        Error::Refused { error: refused, .. } if refused.code == code::METHOD_NOT_FOUND => {
            Ok(TypedList { items: Vec::new(), malformed: Vec::new() })
        }
        _ => Err(error),
    }
}
