//! The tools of many servers under unique names, and calls by these names.
//!
//! Each call looks up its name and its permissions anew.

mod caller;
mod manager_sync;
mod name_table;
mod rule_check;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_script::nearest_names;
use sparring_wire::types::Tool;
use sparring_wire::{Json, RawJson};

use crate::events::LagEvent;
use crate::names::NameLimit;
use crate::permissions::{Answer, Call, Denied, PermissionGate, Permissions, Reason};
use crate::text::truncate;
use name_table::NameTable;

pub use caller::{CallError, Caller, ExecuteError, Refusal, Route};
pub use name_table::RegisteredTool;

/// The maximum number of characters of a description or title; longer ones are
/// truncated.
const MAX_TEXT_CHARS: usize = 10_000;

/// The maximum number of suggestions for an unknown name.
const MAX_SUGGESTIONS: usize = 3;

/// The names that rules use for reading the resources and getting the prompts of a server.
/// No tool has such a name.
pub const RESOURCES_READ: &str = "resources/read";
/// See [`RESOURCES_READ`].
pub const PROMPTS_GET: &str = "prompts/get";

/// The tools of many servers.
#[derive(Debug)]
pub struct Registry {
    gate: PermissionGate,
    limit: NameLimit,
    state: Mutex<RegistryState>,
    events: EventSender,
    /// Distinguishes the call ids of this run from those of others.
    run: u32,
    calls: AtomicU64,
}

/// An event of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The tools of a server have changed.
    Tools {
        /// The server.
        server: Arc<str>,
    },
    /// The permissions have changed, and with them the hidden tools.
    Permissions,
    /// A note for a person.
    Note(Arc<str>),
    /// This subscriber was too slow and missed so many events.
    Missed(u64),
}

/// Events since the moment of subscribing.
pub type Events = crate::events::Events<Event>;

type EventSender = crate::events::EventSender<Event>;

impl LagEvent for Event {
    fn missed(events: u64) -> Self {
        Event::Missed(events)
    }
}

#[derive(Debug, Default)]
struct RegistryState {
    servers: BTreeMap<Arc<str>, Vec<Arc<Tool>>>,
    /// Built on the first lookup after a change, because servers change more
    /// often than they are read, and a name can depend on all of them.
    table: Option<Arc<NameTable>>,
}

impl RegistryState {
    fn table(&mut self, limit: NameLimit) -> &Arc<NameTable> {
        self.table.get_or_insert_with(|| Arc::new(NameTable::new(limit, &self.servers)))
    }
}

impl Registry {
    /// Creates an empty registry. The gate decides which calls are permitted.
    pub fn new(gate: PermissionGate) -> Registry {
        Registry {
            gate,
            limit: NameLimit::default(),
            state: Mutex::default(),
            events: EventSender::default(),
            run: fastrand::u32(..),
            calls: AtomicU64::new(1),
        }
    }

    /// Sets the maximum length of names.
    #[must_use]
    pub fn with_limit(self, limit: NameLimit) -> Registry {
        Registry { limit, ..self }
    }

    /// Replaces the tools of a server and returns their number. Of two
    /// tools with the same name the first one counts.
    pub fn register(&self, server: &str, tools: impl IntoIterator<Item = Arc<Tool>>) -> usize {
        let mut seen = HashSet::new();
        let tools: Vec<_> = tools
            .into_iter()
            .filter(|tool| seen.insert(tool.name.clone()))
            .map(truncate_texts)
            .collect();
        let count = tools.len();
        let mut state = self.lock();
        if state.servers.get(server) != Some(&tools) {
            let server = Arc::<str>::from(server);
            state.servers.insert(Arc::clone(&server), tools);
            state.table = None;
            drop(state);
            self.events.send(Event::Tools { server });
        }
        count
    }

    /// Removes all tools of a server and returns their number.
    pub fn unregister(&self, server: &str) -> usize {
        let mut state = self.lock();
        let Some((server, tools)) = state.servers.remove_entry(server) else { return 0 };
        state.table = None;
        drop(state);
        self.events.send(Event::Tools { server });
        tools.len()
    }

    /// The tools that are allowed or need a permission, sorted by server and in
    /// the server's order. Denied tools are hidden.
    pub fn tools(&self) -> Vec<RegisteredTool> {
        let table = self.table();
        table.all().iter().filter(|tool| self.hiding_reason(tool).is_none()).cloned().collect()
    }

    /// The hidden tools, each with the reason.
    pub fn hidden(&self) -> Vec<(RegisteredTool, Reason)> {
        let table = self.table();
        let hidden = |tool: &RegisteredTool| Some((tool.clone(), self.hiding_reason(tool)?));
        table.all().iter().filter_map(hidden).collect()
    }

    /// The tool of this name, hidden or not.
    pub fn get(&self, name: &str) -> Option<RegisteredTool> {
        let mut state = self.lock();
        state.table(self.limit).get(name).cloned()
    }

    /// The gate that decides about calls.
    pub fn gate(&self) -> &PermissionGate {
        &self.gate
    }

    /// Replaces the permission rules.
    pub fn set_permissions(&self, permissions: Permissions) {
        self.gate.set_permissions(permissions);
        self.events.send(Event::Permissions);
    }

    /// Subscribes to all events from now on.
    pub fn subscribe(&self) -> Events {
        self.events.subscribe()
    }

    /// Checks the permission to call a tool with these arguments, and returns its route. It
    /// may ask a person first.
    ///
    /// # Errors
    /// If the call is denied, or there is no such tool; also if the tool was
    /// removed while a person was asked.
    pub async fn permit(&self, name: &str, arguments: Json<'_>) -> Result<Route, Refusal> {
        let Some((server, tool)) = self.find(name) else { return Err(self.unknown_tool(name)) };
        // Read before the decision: a permitted call goes to this server or to
        // none.
        let target = self.gate.permissions().fingerprint(&server).cloned();
        self.permit_request(&server, &tool.name, arguments).await?;
        match self.find(name) {
            Some((other, now)) if other == server && now.name == tool.name => {
                Ok(Route { server, tool, target })
            }
            _ => Err(Refusal::Gone { name: name.to_owned() }),
        }
    }

    /// Checks the permission of a request to a server: a call of a tool by the server's name
    /// for it, [`RESOURCES_READ`] or [`PROMPTS_GET`]. It may ask a person first.
    ///
    /// # Errors
    /// If the request is denied.
    pub async fn permit_request(
        &self,
        server: &str,
        tool: &str,
        arguments: Json<'_>,
    ) -> Result<(), Denied> {
        let id = format!("{:08x}-{}", self.run, self.calls.fetch_add(1, Ordering::Relaxed));
        let checked = self.gate.check(Call { id: &id, server, tool, arguments }).await;
        let reason = checked.as_ref().map_or_else(|denied| denied.reason(), |it| Some(&it.reason));
        if let Some(Reason::Answer(Some(Answer::Never))) = reason {
            self.events.send(Event::Permissions);
        }
        if let Some(note) = checked?.note {
            self.events.send(Event::Note(note.into()));
        }
        Ok(())
    }

    /// Returns true if such a request would be denied without a question.
    pub fn hides_request(&self, server: &str, tool: &str) -> bool {
        self.gate.decide_without_asking(server, tool).is_some_and(|decided| !decided.allowed)
    }

    /// Calls a tool by its registered name, if that is permitted.
    ///
    /// # Errors
    /// If the call is denied or fails.
    pub async fn execute<C: Caller>(
        &self,
        caller: &C,
        name: &str,
        arguments: RawJson,
    ) -> Result<C::Answer, ExecuteError<C::Error>> {
        let route = self.permit(name, arguments.view()).await?;
        caller.call(&route, arguments).await.map_err(ExecuteError::Call)
    }

    fn hiding_reason(&self, tool: &RegisteredTool) -> Option<Reason> {
        let settled = self.gate.decide_without_asking(&tool.server, &tool.tool.name)?;
        (!settled.allowed).then_some(settled.reason)
    }

    fn unknown_tool(&self, name: &str) -> Refusal {
        let tools = self.tools();
        // The caller may have used the server's own name for the tool.
        let meant = tools.iter().filter(|tool| tool.tool.name == name).map(|tool| &*tool.name);
        let mut near: Vec<&str> = meant.take(MAX_SUGGESTIONS).collect();
        if near.is_empty() {
            near = nearest_names(name, tools.iter().map(|tool| &*tool.name));
        }
        let near = near.into_iter().map(str::to_owned).collect();
        Refusal::Unknown { name: name.to_owned(), near }
    }

    /// Returns the tool of this registered name and its server.
    fn find(&self, name: &str) -> Option<(Arc<str>, Arc<Tool>)> {
        let mut state = self.lock();
        let found = state.table(self.limit).get(name)?;
        Some((Arc::clone(&found.server), Arc::clone(&found.tool)))
    }

    fn table(&self) -> Arc<NameTable> {
        Arc::clone(self.lock().table(self.limit))
    }

    fn lock(&self) -> MutexGuard<'_, RegistryState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Truncates the description and title of a tool.
fn truncate_texts(tool: Arc<Tool>) -> Arc<Tool> {
    let is_long = |text: &str| text.len() > MAX_TEXT_CHARS;
    let title = tool.rest.get("title").and_then(|title| title.as_str());
    if !tool.description.as_deref().is_some_and(is_long) && !title.is_some_and(is_long) {
        return tool;
    }
    let title = title.map(|title| truncate(title, MAX_TEXT_CHARS));
    let mut tool = Arc::unwrap_or_clone(tool);
    tool.description = tool.description.map(|text| truncate(&text, MAX_TEXT_CHARS));
    if let Some(title) = title {
        tool.rest.insert("title".to_owned(), title.into());
    }
    Arc::new(tool)
}
