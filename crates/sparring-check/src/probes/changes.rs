//! Changes of a server's lists: calls that may change something, and the announcements that
//! should follow.

use serde_json::Value;
use sparring_peer::client::ListKind;
use sparring_wire::{Entry, RawJson, Rule, Side};
use tokio::time::Instant;

use super::observed::{call_params, callable};
use crate::connection::Connection;
use crate::context::Context;
use crate::verdict::Finding;

/// The number of tools that are called to change something.
const MAX_CALLS: usize = 8;

/// Words in the names of tools that change a list or a resource.
const CHANGING: [&str; 20] = [
    "change", "update", "toggle", "add", "enable", "disable", "register", "create", "touch",
    "trigger", "notify", "edit", "modify", "set", "remove", "delete", "hide", "show", "write",
    "emit",
];

/// The lists that can be announced, with the capability and the notification.
const LISTS: [(ListKind, &str, &str); 4] = [
    (ListKind::Tools, "tools", "notifications/tools/list_changed"),
    (ListKind::Prompts, "prompts", "notifications/prompts/list_changed"),
    (ListKind::Resources, "resources", "notifications/resources/list_changed"),
    (ListKind::ResourceTemplates, "resources", "notifications/resources/list_changed"),
];

/// Returns the params of calls that may change something, the most likely ones first. Tools
/// that only read change nothing, unless their name says otherwise.
pub(super) fn changing_calls(context: &Context) -> Vec<Value> {
    let mut tools: Vec<(bool, &Value)> = callable(context, &[])
        .filter_map(|tool| {
            let name = tool["name"].as_str()?.to_ascii_lowercase();
            let mut words = name.split(|it: char| !it.is_ascii_alphanumeric());
            let named = words.any(|it| CHANGING.iter().any(|word| it.starts_with(word)));
            let reads = tool["annotations"]["readOnlyHint"] == true;
            (named || !reads).then_some((!named, tool))
        })
        .collect();
    tools.sort_by_key(|(is_unlikely, _)| *is_unlikely);
    let tools = tools.into_iter().take(MAX_CALLS);
    tools.map(|(_, tool)| call_params(context, tool, &[])).collect()
}

/// Makes calls one after the other, for as long as one response may take.
pub(super) async fn call_all(connection: &Connection, calls: &[Value]) {
    let deadline = Instant::now() + connection.request_timeout();
    for params in calls {
        if Instant::now() > deadline {
            return;
        }
        connection.request("tools/call", Some(params.clone())).await;
    }
}

/// The lists whose changes the server announces.
pub(super) struct Lists(Vec<(ListKind, &'static str, Vec<RawJson>)>);

impl Lists {
    /// Watches nothing.
    pub(super) fn none() -> Lists {
        Lists(Vec::new())
    }

    /// Reads the lists of which the server declares `listChanged`.
    pub(super) async fn read(context: &Context, connection: &Connection) -> Lists {
        let mut lists = Vec::new();
        for (kind, capability, notification) in LISTS {
            if context.facts().declares_member(capability, "listChanged")
                && let Ok(items) = connection.client().list(kind).await
            {
                lists.push((kind, notification, items));
            }
        }
        Lists(lists)
    }

    /// Reads the lists again, and reports those that changed without an announcement since
    /// this index of the recording.
    pub(super) async fn judge(
        self,
        context: &Context,
        connection: &Connection,
        start: usize,
        is_announced: impl Fn(&str) -> bool,
    ) {
        let rule = Rule::MissingListChanged;
        if self.0.is_empty() {
            context.not_applicable(rule, "nothing that may be called changes an announced list");
            return;
        }
        for (kind, notification, before) in self.0 {
            let Ok(after) = connection.client().list(kind).await else { continue };
            let texts = |items: &[RawJson]| -> Vec<String> {
                items.iter().map(|item| item.text().to_owned()).collect()
            };
            if texts(&before) == texts(&after) || !is_announced(notification) {
                continue;
            }
            let is_announcement = |entry: &Entry| entry.frame.method() == Some(notification);
            match connection.wait_for_frame(start, is_announcement).await {
                Some(_) => context.pass(rule),
                None => {
                    let frames = connection.recording().entries_from(start);
                    let calls = frames.iter().filter(|it| {
                        it.from == Side::Client && it.frame.method() == Some("tools/call")
                    });
                    let text = format!("expected {notification:?} after {} changed", kind.method());
                    context.fail(rule, Finding::new(text).with_frames(calls));
                }
            }
        }
        context.not_applicable(rule, "no list changed while it was watched");
    }
}
