//! Replies: when they fit, what happens meanwhile, what they say.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use sparring_script::{Matcher, Tree};
use sparring_wire::RawJson;

use super::{Program, ReplyFault, Round, Step};

/// One reply of an entry.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) when: When,
    pub(crate) times: Option<u64>,
    /// How often it was given.
    pub(crate) given: AtomicU64,
    /// The client's capabilities without which it refuses.
    pub(crate) requires: Vec<String>,
    pub(crate) ask: Vec<Round>,
    pub(crate) during: Vec<Step>,
    pub(crate) delay: Option<Delay>,
    pub(crate) body: Body,
    pub(crate) after: Vec<Step>,
    /// What goes wrong with it, where something does.
    pub(crate) fault: Option<ReplyFault>,
}

impl Reply {
    /// One that is always given, and does nothing else.
    pub(crate) fn of(body: Body) -> Self {
        Reply {
            when: When::default(),
            times: None,
            given: 0.into(),
            requires: Vec::new(),
            ask: Vec::new(),
            during: Vec::new(),
            delay: None,
            body,
            after: Vec::new(),
            fault: None,
        }
    }
}

/// What a request must be like.
#[derive(Debug, Default)]
pub(crate) struct When {
    pub(crate) args: Option<Matcher>,
    pub(crate) headers: Option<Matcher>,
    pub(crate) revision: Option<Matcher>,
    pub(crate) calls: Option<Matcher>,
}

/// How long an answer waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delay {
    pub(crate) least: Duration,
    pub(crate) most: Duration,
}

/// What is answered.
#[derive(Debug)]
pub(crate) enum Body {
    /// Always the same result.
    Fixed(RawJson),
    /// A result with holes.
    Filled(Tree),
    /// A result with holes whose structured content is said as a text too.
    Mirrored(Tree),
    /// What an HTTP server answers.
    #[cfg(feature = "http")]
    Http(Box<super::HttpCall>),
    /// What a program says.
    Exec(Box<Program>),
    /// The next of a test case's queue.
    Interaction,
    /// A JSON-RPC error.
    Error { code: i64, message: Tree, data: Option<Tree> },
}

impl When {
    /// Whether it takes any request.
    pub(crate) fn is_any(&self) -> bool {
        self.args.is_none()
            && self.headers.is_none()
            && self.revision.is_none()
            && self.calls.is_none()
    }
}
