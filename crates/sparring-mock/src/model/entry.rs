//! Entries: tools, resources, templates, prompts and completions.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sparring_peer::ReservedBytes;
use sparring_script::Schema;
use sparring_wire::RawJson;

use super::{Cache, Reply};

/// The kind of an entry, and of the list it is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum EntryKind {
    Tool,
    Resource,
    Template,
    Prompt,
}

/// An entry of a list, with its replies.
#[derive(Debug)]
pub(crate) struct Entry {
    /// Its name, URI or URI template.
    pub(crate) id: String,
    /// Its definition in lists.
    pub(crate) definition: Value,
    /// True if lists omit it now.
    pub(crate) hidden: AtomicBool,
    pub(crate) initially_hidden: bool,
    /// The required arguments of a prompt.
    pub(crate) required: Vec<String>,
    pub(crate) replies: Vec<Arc<Reply>>,
    /// Replies enqueued at run time; they are given first, once each.
    pub(crate) queued: Mutex<VecDeque<Arc<Reply>>>,
    pub(crate) cache: Option<Cache>,
    /// The number of requests for it.
    pub(crate) calls: AtomicU64,
}

/// A tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) entry: Entry,
    /// The schema that validates its arguments, if they are validated.
    pub(crate) input: Option<Schema>,
    /// Its input schema, if headers mirror some arguments.
    pub(crate) mirrored_input: Option<RawJson>,
    /// True if it was registered at run time.
    pub(crate) registered_at_runtime: bool,
    /// Its bytes, if a client registered it.
    pub(crate) reserved: Option<ReservedBytes>,
}

/// Completion values of an argument.
#[derive(Debug)]
pub(crate) struct Completion {
    pub(crate) reference: CompletionRef,
    pub(crate) argument: String,
    pub(crate) values: Vec<String>,
    pub(crate) total: Option<u64>,
    pub(crate) has_more: Option<bool>,
}

/// The prompt or template whose argument is completed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum CompletionRef {
    Prompt(String),
    Template(String),
}

impl Entry {
    pub(crate) fn queued(&self) -> MutexGuard<'_, VecDeque<Arc<Reply>>> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores the initial state.
    pub(crate) fn reset(&self) {
        self.hidden.store(self.initially_hidden, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        self.queued().clear();
        for reply in &self.replies {
            reply.times_given.store(0, Ordering::Relaxed);
        }
    }
}

impl EntryKind {
    /// Returns the key of a step that names such an entry.
    pub(crate) fn name(self) -> &'static str {
        match self {
            EntryKind::Tool => "tool",
            EntryKind::Resource => "resource",
            EntryKind::Template => "template",
            EntryKind::Prompt => "prompt",
        }
    }

    /// Returns the notification that its list has changed.
    pub(crate) fn list_changed_method(self) -> &'static str {
        match self {
            EntryKind::Tool => "notifications/tools/list_changed",
            EntryKind::Resource | EntryKind::Template => "notifications/resources/list_changed",
            EntryKind::Prompt => "notifications/prompts/list_changed",
        }
    }
}
