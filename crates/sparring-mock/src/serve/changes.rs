//! Changes to a mock while it serves: registering and removing tools, enqueuing replies, reset
//! and reload.

use std::sync::{Arc, MutexGuard, PoisonError};

use serde_json::Value;
use sparring_peer::ReservedBytes;
use sparring_script::{Problems, did_you_mean};
use tokio::sync::watch;

use super::script_state::VisibleLists;
use super::{MockHandler, ScriptState};
use crate::load::{TextOrigin, load_reply, load_tool};
use crate::model::{EntryKind, Model, Reply, Tool};
use crate::value_size::value_size;

/// The maximum number of replies in the queue of one tool.
const MAX_QUEUED_REPLIES: usize = 100_000;

/// The maximum number of tools that clients register, and the bytes of the tools and replies that
/// they add.
const MAX_CLIENT_TOOLS: usize = 1_000;
pub(super) const MAX_CLIENT_BYTES: usize = 64 * 1024 * 1024;

/// A change to a running mock failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The tool or reply has problems.
    #[error("{0}")]
    Script(#[from] Problems),
    /// No such tool.
    #[error("{0}")]
    UnknownTool(String),
    /// The queue of the tool is full.
    #[error("the queue of '{1}' already has {0} replies")]
    QueueFull(usize, String),
    /// Clients have registered too many tools.
    #[error("there are already {0} tools that were registered over HTTP")]
    TooManyTools(usize),
    /// Clients have added too much.
    #[error("tools and replies that were added over HTTP need more than {0} bytes")]
    TooLarge(usize),
}

/// The origin of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ChangeSource {
    /// The Rust code that owns it.
    Owner,
    /// A client of the control endpoints, which may not run programs.
    #[cfg(feature = "http")]
    HttpClient,
}

impl ChangeSource {
    fn text_origin(self, script: &ScriptState) -> TextOrigin {
        match self {
            ChangeSource::Owner => TextOrigin::Owner { allow_exec: script.model.allow_exec },
            #[cfg(feature = "http")]
            ChangeSource::HttpClient => TextOrigin::HttpClient(script.model.control_keys),
        }
    }

    /// Returns true if a client of the control endpoints made the change.
    fn is_client(self) -> bool {
        self != ChangeSource::Owner
    }
}

impl MockHandler {
    /// Returns the current script.
    pub(crate) fn script(&self) -> Arc<ScriptState> {
        Arc::clone(&self.script.borrow())
    }

    /// Watches the current script.
    pub(crate) fn watch_script(&self) -> watch::Receiver<Arc<ScriptState>> {
        self.script.subscribe()
    }

    /// Adds a tool or replaces the one with its name.
    pub(crate) fn register(&self, tool: &Value, source: ChangeSource) -> Result<(), ChangeError> {
        let _guard = self.lock_changes();
        let script = self.script();
        let reserved = self.reserve(tool, source)?;
        let tool =
            load_tool(tool, &script.model, tool_names(&script), source.text_origin(&script))?;
        if reserved.is_some() && script.count_client_tools(&tool.entry.id) >= MAX_CLIENT_TOOLS {
            return Err(ChangeError::TooManyTools(MAX_CLIENT_TOOLS));
        }
        script.put_tool(Arc::new(Tool { registered_at_runtime: true, reserved, ..tool }));
        self.notify(EntryKind::Tool.list_changed_method(), None);
        Ok(())
    }

    /// Removes a tool.
    pub(crate) fn remove(&self, name: &str) -> Result<(), ChangeError> {
        let _guard = self.lock_changes();
        let script = self.script();
        if script.find_tool(name).is_none() {
            return Err(unknown_tool(&script, name));
        }
        script.remove_tool(name);
        self.notify(EntryKind::Tool.list_changed_method(), None);
        Ok(())
    }

    /// Enqueues a reply for the next call of a tool, before all others.
    pub(crate) fn enqueue(
        &self,
        tool: &str,
        reply: &Value,
        source: ChangeSource,
    ) -> Result<(), ChangeError> {
        let _guard = self.lock_changes();
        let script = self.script();
        let found = script.find_tool(tool).ok_or_else(|| unknown_tool(&script, tool))?;
        let reserved = self.reserve(reply, source)?;
        let reply =
            load_reply(reply, &script.model, tool_names(&script), source.text_origin(&script))?;
        let mut queued = found.entry.queued();
        if queued.len() >= MAX_QUEUED_REPLIES {
            return Err(ChangeError::QueueFull(MAX_QUEUED_REPLIES, tool.to_owned()));
        }
        queued.push_back(Arc::new(Reply { reserved, ..reply }));
        Ok(())
    }

    /// Reserves the bytes of a tool or reply that a client adds.
    fn reserve(
        &self,
        added: &Value,
        source: ChangeSource,
    ) -> Result<Option<ReservedBytes>, ChangeError> {
        if !source.is_client() {
            return Ok(None);
        }
        let reserved = self.client_bytes.reserve(value_size(added));
        reserved.map(Some).ok_or(ChangeError::TooLarge(MAX_CLIENT_BYTES))
    }

    /// Restores the initial state, clears the journal and notifies clients of changed lists.
    pub(crate) fn reset(&self) {
        let _guard = self.lock_changes();
        let script = self.script();
        let before = script.visible_lists();
        script.reset();
        self.paused.clear();
        self.journal.clear();
        #[cfg(feature = "http")]
        self.initial_http.issuer.reset();
        self.notify_changed_lists(&before, &script.visible_lists());
    }

    /// Switches to another script. Requests in flight finish with the old one; clients are
    /// notified of changed lists.
    pub(crate) fn reload(&self, model: Arc<Model>) {
        let _guard = self.lock_changes();
        let before = self.script();
        let script = Arc::new(ScriptState::replacing(model, &before));
        self.script.send_replace(Arc::clone(&script));
        if let Some(server) = self.server() {
            server.refresh_description();
        }
        self.notify_changed_lists(&before.visible_lists(), &script.visible_lists());
    }

    /// Notifies clients of changed lists.
    fn notify_changed_lists(&self, before: &VisibleLists, now: &VisibleLists) {
        let Some(server) = self.server() else { return };
        if before.tools != now.tools {
            server.tools_changed();
        }
        if before.resources != now.resources {
            server.resources_changed();
        }
        if before.prompts != now.prompts {
            server.prompts_changed();
        }
    }

    /// Allows one change at a time, so that a reload loses none.
    fn lock_changes(&self) -> MutexGuard<'_, ()> {
        self.change_lock.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tool_names(script: &ScriptState) -> Vec<String> {
    script.tools().iter().map(|tool| tool.entry.id.clone()).collect()
}

fn unknown_tool(script: &ScriptState, name: &str) -> ChangeError {
    let names = tool_names(script);
    let suggestion = did_you_mean(name, names.iter().map(String::as_str));
    let suggestion = suggestion.map(|suggestion| format!("; {suggestion}")).unwrap_or_default();
    ChangeError::UnknownTool(format!("Tool '{name}' not found{suggestion}"))
}
