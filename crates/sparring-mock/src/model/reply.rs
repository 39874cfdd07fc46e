//! Replies: their conditions, questions, steps, bodies and faults.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use sparring_peer::ReservedBytes;
use sparring_peer::client::ServerRequest as QuestionKind;
use sparring_peer::link::Faults;
use sparring_script::{Matcher, TemplateTree};
use sparring_wire::RawJson;
use sparring_wire::types::LogLevel;

use super::{EntryKind, Program};

/// A reply of an entry.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) when: Condition,
    pub(crate) times: Option<u64>,
    /// The number of times it was given.
    pub(crate) times_given: AtomicU64,
    /// The capabilities that the client must have.
    pub(crate) requires: Vec<String>,
    pub(crate) ask: Vec<Round>,
    pub(crate) during: Vec<Step>,
    pub(crate) delay: Option<Delay>,
    pub(crate) body: Body,
    pub(crate) after: Vec<Step>,
    /// Its faults.
    pub(crate) fault: Option<ReplyFault>,
    /// True if it does not see the credentials of clients, since another client wrote it.
    pub(crate) hides_secret_headers: bool,
    /// Its bytes, if a client enqueued it.
    #[expect(dead_code, reason = "frees the bytes when it is dropped")]
    pub(crate) reserved: Option<ReservedBytes>,
}

impl Reply {
    /// Creates a reply that is always given and does nothing else.
    pub(crate) fn from_body(body: Body) -> Self {
        Reply {
            when: Condition::default(),
            times: None,
            times_given: 0.into(),
            requires: Vec::new(),
            ask: Vec::new(),
            during: Vec::new(),
            delay: None,
            body,
            after: Vec::new(),
            fault: None,
            hides_secret_headers: false,
            reserved: None,
        }
    }
}

/// The condition of a reply.
#[derive(Debug, Default)]
pub(crate) struct Condition {
    pub(crate) args: Option<Matcher>,
    pub(crate) headers: Option<Matcher>,
    pub(crate) revision: Option<Matcher>,
    pub(crate) calls: Option<Matcher>,
}

/// The range of a random delay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Delay {
    pub(crate) min: Duration,
    pub(crate) max: Duration,
}

/// The body of a reply.
#[derive(Debug)]
pub(crate) enum Body {
    /// A constant result.
    Fixed(RawJson),
    /// A result with templates.
    Template(TemplateTree),
    /// A result with templates whose structured content is also sent as text.
    StructuredTemplate(TemplateTree),
    /// The response of an HTTP server.
    #[cfg(feature = "http")]
    Http(Box<super::HttpCall>),
    /// The output of a program.
    Exec(Box<Program>),
    /// The next response of a test case.
    Interaction,
    /// A JSON-RPC error.
    Error { code: i64, message: TemplateTree, data: Option<TemplateTree> },
}

impl Condition {
    /// Returns true if it accepts every request.
    pub(crate) fn accepts_all(&self) -> bool {
        self.args.is_none()
            && self.headers.is_none()
            && self.revision.is_none()
            && self.calls.is_none()
    }
}

/// Questions that are asked at once, by name.
pub(crate) type Round = Vec<(String, Question)>;

/// A question to the client.
#[derive(Debug)]
pub(crate) struct Question {
    pub(crate) kind: QuestionKind,
    pub(crate) params: TemplateTree,
}

/// A step before or after an answer.
#[derive(Debug)]
pub(crate) enum Step {
    Progress {
        progress: f64,
        total: Option<f64>,
        message: Option<TemplateTree>,
    },
    Log {
        level: LogLevel,
        logger: Option<String>,
        data: TemplateTree,
    },
    Notify {
        method: String,
        params: Option<TemplateTree>,
    },
    Delay(Duration),
    /// Adds an entry to its list, or removes it.
    SetVisible {
        kind: EntryKind,
        id: String,
        visible: bool,
    },
    /// Closes the connection; the client reconnects for the rest.
    BreakOff,
}

/// Steps that run on a timer.
#[derive(Debug)]
pub(crate) struct Timer {
    pub(crate) after: Duration,
    pub(crate) repeat: bool,
    pub(crate) steps: Vec<Step>,
}

/// The faults of a reply.
#[derive(Debug, Default)]
pub(crate) struct ReplyFault {
    /// Faults of the answer on the link.
    pub(crate) link: Faults,
    /// No answer is sent.
    pub(crate) silent: bool,
    /// Faults of the process.
    pub(crate) process: Vec<ProcessFault>,
}

/// A fault of the process that serves the script, which its owner must carry out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProcessFault {
    /// Exit with this status at once.
    Exit(u8),
    /// Write this many bytes to stderr.
    FloodStderr(usize),
}
