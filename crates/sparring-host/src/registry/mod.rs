//! The tools of many servers under names of their own, and calls by these names.
//!
//! Which server a name belongs to stands in a table; it is looked up anew for
//! every call, and so is what may be called.

mod calling;
mod error;
mod event;
mod following;
mod table;
mod unfit;

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_script::nearest;
use sparring_wire::types::Tool;
use sparring_wire::{Json, RawJson};

use crate::names::Limit;
use crate::permissions::{Answer, Call, Gate, Permissions, Reason};
use crate::text::cut;
use event::Announcer;
use table::Table;

pub use calling::{CallError, Caller, Route};
pub use error::{ExecuteError, Refusal};
pub use event::{Event, Events};
pub use table::Registered;

/// The most characters of a description or a title that are kept.
const LONGEST_TEXT: usize = 10_000;

/// The most names that are offered in place of one that is unknown.
const MOST_NEAR: usize = 3;

/// The tools of many servers.
#[derive(Debug)]
pub struct Registry {
    gate: Gate,
    limit: Limit,
    state: Mutex<State>,
    announcer: Announcer,
    /// What tells the calls of this run from those of others.
    run: u32,
    calls: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    servers: BTreeMap<Arc<str>, Vec<Arc<Tool>>>,
    /// Made when somebody looks: servers come and go more often, and a name can
    /// depend on all of them.
    table: Option<Arc<Table>>,
}

impl State {
    fn table(&mut self, limit: Limit) -> &Arc<Table> {
        self.table.get_or_insert_with(|| Arc::new(Table::new(limit, &self.servers)))
    }
}

impl Registry {
    /// One without tools. What may be called is the gate's to say.
    pub fn new(gate: Gate) -> Registry {
        Registry {
            gate,
            limit: Limit::default(),
            state: Mutex::default(),
            announcer: Announcer::default(),
            run: fastrand::u32(..),
            calls: AtomicU64::new(1),
        }
    }

    /// The same with longer or shorter names.
    #[must_use]
    pub fn with_limit(self, limit: Limit) -> Registry {
        Registry { limit, ..self }
    }

    /// Puts these tools in the place of those that the server had, and says how
    /// many there are now. Of two with one name the first counts.
    pub fn register(&self, server: &str, tools: impl IntoIterator<Item = Arc<Tool>>) -> usize {
        let mut seen = HashSet::new();
        let tools: Vec<_> =
            tools.into_iter().filter(|tool| seen.insert(tool.name.clone())).map(bounded).collect();
        let count = tools.len();
        let mut state = self.state();
        if state.servers.get(server) != Some(&tools) {
            let server = Arc::<str>::from(server);
            state.servers.insert(Arc::clone(&server), tools);
            state.table = None;
            drop(state);
            self.announcer.tell(Event::Tools { server });
        }
        count
    }

    /// Removes all tools of a server, and says how many there were.
    pub fn unregister(&self, server: &str) -> usize {
        let mut state = self.state();
        let Some((server, tools)) = state.servers.remove_entry(server) else { return 0 };
        state.table = None;
        drop(state);
        self.announcer.tell(Event::Tools { server });
        tools.len()
    }

    /// The tools that can be called or asked for, by server, and in the server's
    /// order. What is denied is hidden.
    pub fn tools(&self) -> Vec<Registered> {
        let table = self.table();
        table.all().iter().filter(|tool| self.hidden_by(tool).is_none()).cloned().collect()
    }

    /// The tools that are hidden, and why.
    pub fn hidden(&self) -> Vec<(Registered, Reason)> {
        let table = self.table();
        let hidden = |tool: &Registered| Some((tool.clone(), self.hidden_by(tool)?));
        table.all().iter().filter_map(hidden).collect()
    }

    /// The tool of that name, hidden or not.
    pub fn get(&self, name: &str) -> Option<Registered> {
        let mut state = self.state();
        state.table(self.limit).get(name).cloned()
    }

    /// Who decides what may be called.
    pub fn gate(&self) -> &Gate {
        &self.gate
    }

    /// Other rules from now on.
    pub fn set_permissions(&self, permissions: Permissions) {
        self.gate.set_permissions(permissions);
        self.announcer.tell(Event::Permissions);
    }

    /// Tells of everything that changes from now on.
    pub fn subscribe(&self) -> Events {
        self.announcer.subscribe()
    }

    /// Whether a tool may be called with these arguments now, and where it is.
    /// Somebody may be asked first.
    ///
    /// # Errors
    /// When it may not; or there is no such tool, also if it is gone by the time
    /// that somebody has answered.
    pub async fn permit(&self, name: &str, arguments: Json<'_>) -> Result<Route, Refusal> {
        let Some((server, tool)) = self.find(name) else { return Err(self.unknown(name)) };
        // Looked up before anything is decided: a call that is permitted goes to this
        // server or to none.
        let target = self.gate.permissions().fingerprint(&server).cloned();
        let id = format!("{:08x}-{}", self.run, self.calls.fetch_add(1, Ordering::Relaxed));
        let call = Call { id: &id, server: &server, tool: &tool.name, arguments };
        let checked = self.gate.check(call).await;
        let reason = checked.as_ref().map_or_else(|denied| denied.reason(), |it| Some(&it.reason));
        if let Some(Reason::Answer(Some(Answer::Never))) = reason {
            self.announcer.tell(Event::Permissions);
        }
        if let Some(note) = checked?.note {
            self.announcer.tell(Event::Note(note.into()));
        }
        match self.find(name) {
            Some((other, now)) if other == server && now.name == tool.name => {
                Ok(Route { server, tool, target })
            }
            _ => Err(Refusal::Gone { name: name.to_owned() }),
        }
    }

    /// Calls a tool by its name here, if it may be called.
    ///
    /// # Errors
    /// When it may not be called, or the call fails.
    pub async fn execute<C: Caller>(
        &self,
        caller: &C,
        name: &str,
        arguments: RawJson,
    ) -> Result<C::Answer, ExecuteError<C::Error>> {
        let route = self.permit(name, arguments.view()).await?;
        caller.call(&route, arguments).await.map_err(ExecuteError::Call)
    }

    fn hidden_by(&self, tool: &Registered) -> Option<Reason> {
        let settled = self.gate.standing(&tool.server, &tool.tool.name)?;
        (!settled.allowed).then_some(settled.reason)
    }

    fn unknown(&self, name: &str) -> Refusal {
        let tools = self.tools();
        // Whoever knows the server's own name for a tool is close.
        let meant = tools.iter().filter(|tool| tool.tool.name == name).map(|tool| &*tool.name);
        let mut near: Vec<&str> = meant.take(MOST_NEAR).collect();
        if near.is_empty() {
            near = nearest(name, tools.iter().map(|tool| &*tool.name));
        }
        let near = near.into_iter().map(str::to_owned).collect();
        Refusal::Unknown { name: name.to_owned(), near }
    }

    /// A tool by its name here, and its server.
    fn find(&self, name: &str) -> Option<(Arc<str>, Arc<Tool>)> {
        let mut state = self.state();
        let found = state.table(self.limit).get(name)?;
        Some((Arc::clone(&found.server), Arc::clone(&found.tool)))
    }

    fn table(&self) -> Arc<Table> {
        Arc::clone(self.state().table(self.limit))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A tool whose texts are not too long.
fn bounded(tool: Arc<Tool>) -> Arc<Tool> {
    let is_long = |text: &str| text.len() > LONGEST_TEXT;
    let title = tool.rest.get("title").and_then(|title| title.as_str());
    if !tool.description.as_deref().is_some_and(is_long) && !title.is_some_and(is_long) {
        return tool;
    }
    let title = title.map(|title| cut(title, LONGEST_TEXT));
    let mut tool = Arc::unwrap_or_clone(tool);
    tool.description = tool.description.map(|text| cut(&text, LONGEST_TEXT));
    if let Some(title) = title {
        tool.rest.insert("title".to_owned(), title.into());
    }
    Arc::new(tool)
}
