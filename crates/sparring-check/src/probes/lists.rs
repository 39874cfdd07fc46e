//! Lists of tools, resources and prompts: all their pages, and lists that vary.

use std::collections::{BTreeSet, HashSet};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sparring_peer::client::ListKind;
use sparring_wire::{Entry, Rule};

use super::pagination::has_nothing_new;
use super::{Probe, probe};
use crate::connection::{Connection, Reply};
use crate::context::{Context, ProbeResult};
use crate::verdict::Finding;

/// All lists of a server.
pub(super) const LISTS: [ListKind; 4] =
    [ListKind::Tools, ListKind::Resources, ListKind::ResourceTemplates, ListKind::Prompts];

/// The number of pages after which a look at a list stops.
const MAX_PAGES: usize = 200;

/// The number of bytes after which it stops.
const MAX_BYTES: usize = 16 * 1024 * 1024;

/// The number of looks at one list.
const LOOKS: usize = 3;

/// The time after which a list that differs is looked at again.
const SETTLE_TIME: Duration = Duration::from_millis(300);

/// The number of such looks.
const MAX_SETTLES: usize = 4;

pub(super) const PROBES: &[Probe] = &[probe!([VaryingList, ToolOrder], varying_lists)];

/// One look at all pages of a list.
pub(super) struct ListLook {
    pub(super) kind: ListKind,
    pub(super) pages: Vec<Page>,
    pub(super) end: ListEnd,
}

/// One page of a list.
pub(super) struct Page {
    /// The cursor of the request.
    pub(super) cursor: Option<String>,
    pub(super) reply: Reply,
    /// The names or URIs of the items.
    pub(super) keys: Vec<String>,
}

/// The end of a look.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ListEnd {
    /// The last page has no cursor.
    Complete,
    /// The last page is not a list.
    Failed,
    /// The last page has the cursor of an earlier page.
    RepeatedCursor(String),
    /// There are many pages, and the last one has no new items.
    NothingNew,
    /// There are many pages.
    Stopped,
}

impl ListLook {
    /// Requests all pages.
    pub(super) async fn new(connection: &Connection, kind: ListKind) -> ListLook {
        let started = Instant::now();
        let mut pages: Vec<Page> = Vec::new();
        let (mut cursors, mut seen) = (HashSet::new(), HashSet::new());
        let mut cursor: Option<String> = None;
        let mut bytes = 0;
        let end = loop {
            let params = cursor.as_ref().map(|cursor| json!({"cursor": cursor}));
            let reply = connection.request(kind.method(), params).await;
            let keys = Self::keys_of(kind, &reply);
            let next = reply.result().and_then(|it| Some(it["nextCursor"].as_str()?.to_owned()));
            let is_list = keys.is_some();
            bytes += reply.frames().iter().map(|it| it.frame.bytes().len()).sum::<usize>();
            let keys = keys.unwrap_or_default();
            let nothing_new = has_nothing_new(&mut seen, &keys);
            pages.push(Page { cursor: cursor.take(), reply, keys });
            let is_long = pages.len() >= MAX_PAGES
                || bytes > MAX_BYTES
                || started.elapsed() > connection.request_timeout();
            match next {
                _ if !is_list => break ListEnd::Failed,
                None => break ListEnd::Complete,
                Some(next) if !cursors.insert(next.clone()) => {
                    break ListEnd::RepeatedCursor(next);
                }
                Some(_) if is_long && nothing_new => break ListEnd::NothingNew,
                Some(_) if is_long => break ListEnd::Stopped,
                Some(next) => cursor = Some(next),
            }
        };
        ListLook { kind, pages, end }
    }

    /// Returns the names or URIs of the items of a page.
    pub(super) fn keys_of(kind: ListKind, reply: &Reply) -> Option<Vec<String>> {
        let result = reply.result()?;
        let items = result[kind.field()].as_array()?;
        Some(items.iter().map(|item| key_of(kind, item)).collect())
    }

    /// Returns true if the first page is a list.
    pub(super) fn has_result(&self) -> bool {
        self.pages.len() > 1 || self.end != ListEnd::Failed
    }

    /// Returns the names or URIs of all items; `None` if a page is missing.
    fn keys(&self) -> Option<Vec<String>> {
        let is_complete = self.end == ListEnd::Complete;
        is_complete.then(|| self.pages.iter().flat_map(|page| page.keys.clone()).collect())
    }

    fn frames(&self) -> Vec<Entry> {
        let page = self.pages.first();
        page.map(|page| page.reply.frames().to_vec()).unwrap_or_default()
    }
}

/// Returns the name of a list for messages.
pub(super) fn kind_name(kind: ListKind) -> &'static str {
    match kind {
        ListKind::Tools => "tools",
        ListKind::Resources => "resources",
        ListKind::ResourceTemplates => "templates",
        ListKind::Prompts => "prompts",
    }
}

fn key_of(kind: ListKind, item: &Value) -> String {
    let member = match kind {
        ListKind::Tools | ListKind::Prompts => "name",
        ListKind::Resources => "uri",
        ListKind::ResourceTemplates => "uriTemplate",
    };
    item[member].as_str().unwrap_or_default().to_owned()
}

/// Looks at all lists again on the shared connection, after all other requests, and on a new
/// connection.
async fn varying_lists(context: &Context) -> ProbeResult {
    let declared = LISTS.into_iter().filter(|it| context.facts().declares(it.capability()));
    let declared: Vec<ListKind> = declared.collect();
    if !context.facts().declares("tools") {
        context.not_applicable(Rule::ToolOrder, "the server does not declare `tools`");
    }
    if declared.is_empty() {
        let reason = "the server declares no tools, resources or prompts";
        context.not_applicable(Rule::VaryingList, reason);
        return Ok(());
    }
    // A list that comes before discovery shows also whether it depends on it.
    let fresh = match context.revision.is_modern() {
        true => context.connect_without_discovery().await?,
        false => context.connect().await?,
    };
    for kind in declared {
        let looks = Looks::new(context, kind, &fresh).await;
        looks.check_variation(context, &fresh).await;
        if kind == ListKind::Tools {
            looks.check_order(context);
        }
    }
    context.not_applicable(Rule::VaryingList, "the server answers no list to its end");
    context.not_applicable(Rule::ToolOrder, "the server answers no list to its end");
    fresh.close().await;
    Ok(())
}

/// The looks at one list in one revision.
struct Looks {
    kind: ListKind,
    /// The items when the check began.
    first: Vec<String>,
    /// The looks on the same connection, after all other requests.
    later: Vec<ListLook>,
    /// The look on a new connection.
    fresh: ListLook,
}

impl Looks {
    async fn new(context: &Context, kind: ListKind, fresh: &Connection) -> Looks {
        let facts = context.facts();
        let first = match kind {
            ListKind::Tools => &facts.tools,
            ListKind::Resources => &facts.resources,
            ListKind::ResourceTemplates => &facts.templates,
            ListKind::Prompts => &facts.prompts,
        };
        let mut later = Vec::new();
        for _ in 0..LOOKS {
            later.push(ListLook::new(context.main(), kind).await);
        }
        Looks {
            kind,
            first: first.iter().map(|item| key_of(kind, item)).collect(),
            later,
            fresh: ListLook::new(fresh, kind).await,
        }
    }

    /// Returns the items of all looks, oldest first; `None` if one is incomplete.
    fn all(&self) -> Option<Vec<Vec<String>>> {
        let looks = self.later.iter().chain([&self.fresh]);
        let looks: Option<Vec<_>> = looks.map(ListLook::keys).collect();
        let mut looks = looks?;
        looks.insert(0, self.first.clone());
        Some(looks)
    }

    /// A list may change in time. It must not depend on the connection, or on other requests
    /// of the connection.
    async fn check_variation(&self, context: &Context, connection: &Connection) {
        let Some(all) = self.all() else { return };
        let sets: Vec<BTreeSet<&String>> = all.iter().map(|keys| keys.iter().collect()).collect();
        let (first, later, fresh) = (&sets[0], &sets[1..=LOOKS], &sets[LOOKS + 1]);
        let now = &later[LOOKS - 1];
        let list = kind_name(self.kind);
        let message = if later.iter().any(|it| it != now) {
            format!("expected the same {list} in each list; the server lists others at once")
        } else if now == fresh || self.changes_in_time(context, connection).await {
            context.pass(Rule::VaryingList);
            return;
        } else if first == fresh {
            format!(
                "expected {list} that do not depend on other requests of the connection; the server lists others after them"
            )
        } else {
            format!(
                "expected the same {list} on each connection; the server lists others on a new connection"
            )
        };
        let frames = [&self.later[0], &self.later[LOOKS - 1], &self.fresh];
        let frames: Vec<Entry> = frames.into_iter().flat_map(ListLook::frames).collect();
        let finding = Finding::new(message).with_frames(&frames).about(self.kind.method());
        context.fail(Rule::VaryingList, finding);
    }

    /// Returns true if both connections see the same list after a while, because it has
    /// changed.
    async fn changes_in_time(&self, context: &Context, fresh: &Connection) -> bool {
        for _ in 0..MAX_SETTLES {
            tokio::time::sleep(SETTLE_TIME).await;
            let shared = ListLook::new(context.main(), self.kind).await.keys();
            let fresh = ListLook::new(fresh, self.kind).await.keys();
            let (Some(mut shared), Some(mut fresh)) = (shared, fresh) else { return true };
            shared.sort_unstable();
            fresh.sort_unstable();
            if shared == fresh {
                return true;
            }
        }
        false
    }

    /// The same tools have to be in the same order.
    fn check_order(&self, context: &Context) {
        let Some(all) = self.all() else { return };
        let sorted = |keys: &[String]| {
            let mut keys = keys.to_vec();
            keys.sort_unstable();
            keys
        };
        let is_reordered =
            |other: &&Vec<String>| **other != all[0] && sorted(other) == sorted(&all[0]);
        let Some(index) = all.iter().position(|it| is_reordered(&it)) else {
            context.pass(Rule::ToolOrder);
            return;
        };
        let message = "expected the tools in the same order in every list; the order differs";
        let shown = self.later.iter().chain([&self.fresh]);
        let frames: Vec<Entry> =
            shown.skip(index.saturating_sub(2)).take(2).flat_map(ListLook::frames).collect();
        context.fail(Rule::ToolOrder, Finding::new(message).with_frames(&frames));
    }
}
