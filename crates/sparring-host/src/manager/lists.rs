//! The lists of a server, each with the error that makes it out of date.

use std::collections::HashSet;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use sparring_peer::Client;
use sparring_peer::client::{Error, ListKind, TypedList};
use sparring_wire::code;
use sparring_wire::types::{Prompt, Resource, ResourceTemplate, Tool};
use tokio::time::timeout;

use crate::text::escape_control;

/// All lists of a server. Lists that the server does not declare are empty and
/// not fetched.
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

/// One list of a server.
#[derive(Debug, Clone, PartialEq)]
pub struct List<T> {
    /// The items, in the server's order. Cheap to clone.
    pub items: Arc<[Arc<T>]>,
    /// The error of the last fetch, if the list may be out of date.
    pub stale: Option<Arc<str>>,
    /// The problem with malformed items of the server's list, which are left out here.
    pub malformed: Option<Arc<str>>,
}

impl<T> Default for List<T> {
    fn default() -> Self {
        List { items: Arc::new([]), stale: None, malformed: None }
    }
}

/// All lists of the protocol.
pub(super) const ALL_LISTS: [ListKind; 4] =
    [ListKind::Tools, ListKind::Resources, ListKind::ResourceTemplates, ListKind::Prompts];

/// The result of fetching a list.
pub(super) enum FetchedList {
    Tools(Result<TypedList<Tool>, Error>),
    Resources(Result<TypedList<Resource>, Error>),
    Templates(Result<TypedList<ResourceTemplate>, Error>),
    Prompts(Result<TypedList<Prompt>, Error>),
}

/// Fetches these lists concurrently, within that time.
pub(super) async fn fetch(
    client: Client,
    what: Vec<ListKind>,
    within: Duration,
) -> Vec<FetchedList> {
    let client = &client.with_timeout(within);
    join_all(what.into_iter().map(|what| async move {
        match what {
            ListKind::Tools => {
                FetchedList::Tools(with_timeout(what, within, client.list_tools()).await)
            }
            ListKind::Resources => {
                FetchedList::Resources(with_timeout(what, within, client.list_resources()).await)
            }
            ListKind::ResourceTemplates => {
                let templates = with_timeout(what, within, client.list_resource_templates()).await;
                FetchedList::Templates(templates.or_else(empty_if_unsupported))
            }
            ListKind::Prompts => {
                FetchedList::Prompts(with_timeout(what, within, client.list_prompts()).await)
            }
        }
    }))
    .await
}

/// A difference of a list after it was fetched again.
pub(super) enum ListUpdate {
    /// The items have changed.
    Changed,
    /// The fetch failed for this reason; the items are the old ones.
    Stale(Arc<str>),
    /// The malformed items have changed.
    Malformed(Arc<str>),
}

impl Lists {
    /// Applies the result of a fetch.
    pub(super) fn apply(&mut self, fetched: FetchedList) -> (ListKind, Vec<ListUpdate>) {
        match fetched {
            FetchedList::Tools(found) => {
                let found = found.map(|found| without_duplicates(found, |tool| &tool.name));
                (ListKind::Tools, self.tools.apply(found))
            }
            FetchedList::Resources(found) => {
                let found = found.map(|found| without_duplicates(found, |it| &it.uri));
                (ListKind::Resources, self.resources.apply(found))
            }
            FetchedList::Templates(found) => {
                let found = found.map(|found| without_duplicates(found, |it| &it.uri_template));
                (ListKind::ResourceTemplates, self.templates.apply(found))
            }
            FetchedList::Prompts(found) => {
                let found = found.map(|found| without_duplicates(found, |prompt| &prompt.name));
                (ListKind::Prompts, self.prompts.apply(found))
            }
        }
    }
}

impl<T: PartialEq> List<T> {
    fn apply(&mut self, found: Result<TypedList<T>, Error>) -> Vec<ListUpdate> {
        let mut updates = Vec::new();
        match found {
            Ok(found) => {
                self.stale = None;
                let malformed = found.malformed_summary().map(Arc::from);
                let items: Arc<[Arc<T>]> = found.into_iter().map(Arc::new).collect();
                if items != self.items {
                    updates.push(ListUpdate::Changed);
                }
                if malformed != self.malformed {
                    updates.extend(malformed.clone().map(ListUpdate::Malformed));
                }
                (self.items, self.malformed) = (items, malformed);
            }
            Err(error) => {
                let why: Arc<str> = error.to_string().into();
                self.stale = Some(Arc::clone(&why));
                updates.push(ListUpdate::Stale(why));
            }
        }
        updates
    }
}

/// Keeps the first item of each name or URI: a request could not reach another
/// one.
fn without_duplicates<T>(mut list: TypedList<T>, key: fn(&T) -> &String) -> TypedList<T> {
    let mut seen = HashSet::new();
    let malformed = &mut list.malformed;
    list.items.retain(|item| {
        let is_new = seen.insert(key(item).clone());
        if !is_new {
            malformed.push(format!("'{}' is listed twice", escape_control(key(item))));
        }
        is_new
    });
    list
}

async fn with_timeout<T>(
    what: ListKind,
    within: Duration,
    request: impl Future<Output = Result<T, Error>>,
) -> Result<T, Error> {
    let late = |_| Error::Timeout { method: what.method().to_owned(), after: within };
    timeout(within, request).await.map_err(late)?
}

/// A server with resources but without templates may not know the method.
fn empty_if_unsupported(error: Error) -> Result<TypedList<ResourceTemplate>, Error> {
    match &error {
        Error::ErrorResponse { error: refused, .. } if refused.code == code::METHOD_NOT_FOUND => {
            Ok(TypedList { items: Vec::new(), malformed: Vec::new() })
        }
        _ => Err(error),
    }
}
