//! The model of a script, ready to be served. It has no positions in the script, except for
//! templates, which can fail later.

mod entry;
mod reply;
mod uri_template;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use sparring_script::Source;
use sparring_wire::Revision;
use sparring_wire::types::{Implementation, ServerCapabilities};

#[cfg(feature = "http")]
use crate::http_serving::HttpConfig;
use crate::interactions::Interactions;

pub use reply::ProcessFault;

pub(crate) use crate::program::Program;
#[cfg(feature = "http")]
pub(crate) use crate::upstream::HttpCall;
pub(crate) use entry::{Completion, CompletionRef, Entry, EntryKind, Tool};
pub(crate) use reply::{Body, Condition, Delay, Question, Reply, ReplyFault, Round, Step, Timer};
pub(crate) use uri_template::{MAX_URI_BYTES, UriTemplate};

/// A script that was loaded without problems.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) source: Source,
    /// The folder that relative paths start from.
    pub(crate) folder: PathBuf,
    /// Digests of the keys that take effect only on a restart.
    pub(crate) restart_only: [(&'static str, u64); 3],
    /// True if replies may run programs.
    pub(crate) allow_exec: bool,
    #[cfg(feature = "http")]
    pub(crate) control_keys: crate::load::ControlKeys,
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) revisions: Vec<Revision>,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) vars: Value,
    pub(crate) seed: Option<u64>,
    pub(crate) page_size: Option<usize>,
    pub(crate) cache: Option<Cache>,
    #[cfg(feature = "http")]
    pub(crate) http: Arc<HttpConfig>,
    /// True if a template uses the arguments of earlier calls.
    pub(crate) uses_last_calls: bool,
    pub(crate) tools: Vec<Arc<Tool>>,
    pub(crate) resources: Vec<Entry>,
    pub(crate) templates: Vec<(UriTemplate, Entry)>,
    pub(crate) prompts: Vec<Entry>,
    pub(crate) interactions: Interactions,
    pub(crate) completions: Vec<Completion>,
    pub(crate) timers: Vec<Timer>,
}

/// The caching hint of a result: its lifetime and its scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cache {
    pub(crate) ttl: Duration,
    pub(crate) public: bool,
}

impl Cache {
    /// Adds the caching hint to a result.
    pub(crate) fn add_to(self, result: &mut Map<String, Value>) {
        let milliseconds = u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX);
        let scope = if self.public { "public" } else { "private" };
        result.insert("ttlMs".to_owned(), milliseconds.into());
        result.insert("cacheScope".to_owned(), scope.into());
    }
}
