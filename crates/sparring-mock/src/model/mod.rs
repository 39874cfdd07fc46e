//! What a script says, as data that is ready to be served. What was said at
//! which place is known no more, but for templates, which may fail later.

mod ask;
mod entry;
mod fault;
mod reply;
mod step;
mod uri_pattern;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use sparring_script::Source;
use sparring_wire::Revision;
use sparring_wire::types::{Implementation, ServerCapabilities};

use crate::interactions::Interactions;
#[cfg(feature = "http")]
use crate::over_http::OverHttp;

pub(crate) use ask::{Question, Round};
pub use fault::ProcessFault;

pub(crate) use crate::program::Program;
#[cfg(feature = "http")]
pub(crate) use crate::upstream::HttpCall;
pub(crate) use entry::{Completion, Entry, Kind, Reference, Tool};
pub(crate) use fault::ReplyFault;
pub(crate) use reply::{Body, Delay, Reply, When};
pub(crate) use step::{Step, Timer};
pub(crate) use uri_pattern::UriPattern;

/// A script that was read and found good.
#[derive(Debug)]
pub(crate) struct Model {
    pub(crate) source: Source,
    /// Where files are looked for.
    pub(crate) folder: PathBuf,
    /// The keys that take effect only when a mock starts, with what stands there.
    pub(crate) fixed: [(&'static str, u64); 3],
    /// Whether programs may be run.
    pub(crate) allow_exec: bool,
    pub(crate) info: Implementation,
    pub(crate) instructions: Option<String>,
    pub(crate) revisions: Vec<Revision>,
    pub(crate) capabilities: ServerCapabilities,
    pub(crate) vars: Value,
    pub(crate) seed: Option<u64>,
    pub(crate) page_size: Option<usize>,
    pub(crate) cache: Option<Cache>,
    #[cfg(feature = "http")]
    pub(crate) over_http: Arc<OverHttp>,
    /// Whether some template asks for earlier calls.
    pub(crate) recalls: bool,
    pub(crate) tools: Vec<Arc<Tool>>,
    pub(crate) resources: Vec<Entry>,
    pub(crate) templates: Vec<(UriPattern, Entry)>,
    pub(crate) prompts: Vec<Entry>,
    pub(crate) interactions: Interactions,
    pub(crate) completions: Vec<Completion>,
    pub(crate) timers: Vec<Timer>,
}

/// How long a result may be kept, and for whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cache {
    pub(crate) ttl: Duration,
    pub(crate) public: bool,
}

impl Cache {
    /// Adds the hint to a result.
    pub(crate) fn add_to(self, result: &mut Map<String, Value>) {
        let milliseconds = u64::try_from(self.ttl.as_millis()).unwrap_or(u64::MAX);
        let scope = if self.public { "public" } else { "private" };
        result.insert("ttlMs".to_owned(), milliseconds.into());
        result.insert("cacheScope".to_owned(), scope.into());
    }
}
