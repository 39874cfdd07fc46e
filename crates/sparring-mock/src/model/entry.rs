//! What is listed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use sparring_script::Schema;
use sparring_wire::RawJson;

use super::{Cache, Reply};

/// A list that a server has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Tool,
    Resource,
    Template,
    Prompt,
}

/// One entry of a list, with its replies.
#[derive(Debug)]
pub(crate) struct Entry {
    /// What it is asked for by: a name, a URI, a pattern.
    pub(crate) id: String,
    /// As it stands in its list.
    pub(crate) listed: Value,
    /// Whether it is left out of its list now.
    pub(crate) hidden: AtomicBool,
    pub(crate) hidden_at_first: bool,
    /// The arguments that must be there, of a prompt.
    pub(crate) required: Vec<String>,
    pub(crate) replies: Vec<Arc<Reply>>,
    /// Replies that were given at run time; they come first, once each.
    pub(crate) queued: Mutex<VecDeque<Arc<Reply>>>,
    pub(crate) cache: Option<Cache>,
    /// How often it was asked for.
    pub(crate) calls: AtomicU64,
}

/// A tool.
#[derive(Debug)]
pub(crate) struct Tool {
    pub(crate) entry: Entry,
    /// What its arguments are held against; none where they are not.
    pub(crate) input: Option<Schema>,
    /// Its schema, where headers mirror some arguments.
    pub(crate) mirrored: Option<RawJson>,
    /// Whether it came at run time, and not with the script.
    pub(crate) came_later: bool,
}

/// The values of an argument.
#[derive(Debug)]
pub(crate) struct Completion {
    pub(crate) of: Reference,
    pub(crate) argument: String,
    pub(crate) values: Vec<String>,
    pub(crate) total: Option<u64>,
    pub(crate) has_more: Option<bool>,
}

/// Whose argument is completed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reference {
    Prompt(String),
    Template(String),
}

impl Entry {
    pub(crate) fn queued(&self) -> MutexGuard<'_, VecDeque<Arc<Reply>>> {
        self.queued.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes it as it was at first.
    pub(crate) fn reset(&self) {
        self.hidden.store(self.hidden_at_first, Ordering::Relaxed);
        self.calls.store(0, Ordering::Relaxed);
        self.queued().clear();
        for reply in &self.replies {
            reply.given.store(0, Ordering::Relaxed);
        }
    }
}

impl Kind {
    /// The key of a step that names one.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::Tool => "tool",
            Kind::Resource => "resource",
            Kind::Template => "template",
            Kind::Prompt => "prompt",
        }
    }

    /// What is said when its list has changed.
    pub(crate) fn changed(self) -> &'static str {
        match self {
            Kind::Tool => "notifications/tools/list_changed",
            Kind::Resource | Kind::Template => "notifications/resources/list_changed",
            Kind::Prompt => "notifications/prompts/list_changed",
        }
    }
}
