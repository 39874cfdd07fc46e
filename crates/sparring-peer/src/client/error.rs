//! What can keep a client from getting an answer. Each names the method, and
//! shows what came instead where something came.

use std::time::Duration;

use sparring_wire::{ErrorObject, Frame, Id, Revision, Violation};

use crate::link::Cause;

/// The most of a frame that a message shows.
const SHOWN: usize = 200;

/// Why a request has no answer that could be used, or a connection failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No answer in time.
    #[error("no answer to {method} within {after:?}")]
    Timeout {
        /// The method that was waited for.
        method: String,
        /// How long.
        after: Duration,
    },
    /// No answer in time, but something of it.
    #[error("no answer to {method} within {after:?}: {state}")]
    Stalled {
        /// The method that was waited for.
        method: String,
        /// How long.
        after: Duration,
        /// How far the answer had come.
        state: String,
    },
    /// The connection ended first.
    #[error("{method} has no answer: {cause}")]
    Closed {
        /// The method that was waited for.
        method: String,
        /// Why the connection ended.
        cause: Cause,
    },
    /// A session was to be opened anew, which cannot be.
    #[error("the session cannot be opened anew: {reason}")]
    NotReopened {
        /// Why not.
        reason: String,
    },
    /// The answer came, and is not what an answer must be.
    #[error("the answer to {method} is wrong: {}: {}", listed(violations), shown(frame))]
    WrongAnswer {
        /// The method that was answered.
        method: String,
        /// What is wrong with it.
        violations: Vec<Violation>,
        /// The answer.
        frame: Frame,
    },
    /// Instead of the answer came something that is no frame.
    #[error("no answer to {method}; instead came: {}: {}", listed(frame.violations()), shown(frame))]
    Noise {
        /// The method that was waited for.
        method: String,
        /// What came.
        frame: Frame,
    },
    /// Instead of the answer came one to another request.
    #[error(
        "no answer to {method} with id {expected}; instead came one with id {found}: {}",
        shown(frame)
    )]
    ForeignId {
        /// The method that was waited for.
        method: String,
        /// The id of the request.
        expected: Id,
        /// The id that came.
        found: Id,
        /// What came.
        frame: Frame,
    },
    /// The server answered with an error where a result is needed.
    #[error("{method} was refused: {error}")]
    Refused {
        /// The method that was refused.
        method: String,
        /// What the server said.
        error: Box<ErrorObject>,
    },
    /// No protocol revision that both sides speak.
    #[error(
        "no common protocol version: this side has {}, the server {}",
        names(ours),
        named(theirs)
    )]
    VersionRefused {
        /// What this side would speak.
        ours: Vec<Revision>,
        /// What the server named, or how it answered instead.
        theirs: Vec<String>,
    },
    /// The result lacks what its method must give.
    #[error("the result of {method} cannot be used: {reason}")]
    Unusable {
        /// The method that was answered.
        method: String,
        /// What is missing or wrong.
        reason: String,
    },
    /// The server asked for input that this side does not give.
    #[error("{method} needs {request} ({key}), which was not answered: {error}")]
    Unanswered {
        /// The method that was called.
        method: String,
        /// The method that the server asked back.
        request: String,
        /// The server's name for that input.
        key: String,
        /// Why it was not answered.
        error: Box<ErrorObject>,
    },
    /// The server kept asking for input.
    #[error("{method} asked for input {rounds} times without coming to an end")]
    TooManyRounds {
        /// The method that was called.
        method: String,
        /// How often.
        rounds: u32,
    },
    /// A list that does not end.
    #[error("{method} does not end: {reason}")]
    EndlessList {
        /// The method of the list.
        method: String,
        /// Which limit it broke.
        reason: String,
    },
    /// The caller gave the request up.
    #[error("{method} was cancelled")]
    Cancelled {
        /// The method that was given up.
        method: String,
    },
    /// A callback of the caller's panicked while the request was in flight.
    #[error("a callback of {method} panicked: {panic}")]
    CallbackPanicked {
        /// The method that was waited for.
        method: String,
        /// What the panic said.
        panic: String,
    },
}

impl Error {
    /// A stable name for what it is, for programs and suites.
    pub fn kind(&self) -> &'static str {
        match self {
            Error::Timeout { .. } | Error::Stalled { .. } => "timeout",
            Error::Closed { cause, .. } => match cause {
                Cause::Unreachable(_) => "unreachable",
                Cause::Http { .. } => "http",
                Cause::NotAuthorized(_) => "not-authorized",
                Cause::SessionLost(_) => "session-lost",
                Cause::Broken(_) => "broken",
                _ => "closed",
            },
            Error::WrongAnswer { .. } => "wrong-answer",
            Error::Noise { .. } => "noise",
            Error::ForeignId { .. } => "foreign-id",
            Error::Refused { .. } => "refused",
            Error::VersionRefused { .. } => "version-refused",
            Error::Unusable { .. } => "unusable",
            Error::Unanswered { .. } => "unanswered",
            Error::TooManyRounds { .. } => "too-many-rounds",
            Error::EndlessList { .. } => "endless-list",
            Error::Cancelled { .. } => "cancelled",
            Error::NotReopened { .. } | Error::CallbackPanicked { .. } => "other",
        }
    }
}

fn listed(violations: &[Violation]) -> String {
    let each: Vec<_> = violations
        .iter()
        .map(|violation| format!("{} ({})", violation.message, violation.rule))
        .collect();
    each.join("; ")
}

fn named(theirs: &[String]) -> String {
    match theirs.is_empty() {
        true => "names none".to_owned(),
        false => theirs.join(", "),
    }
}

fn names(revisions: &[Revision]) -> String {
    revisions.iter().map(|revision| revision.name()).collect::<Vec<_>>().join(", ")
}

/// The beginning of a frame, for a message.
fn shown(frame: &Frame) -> String {
    let text = frame.text();
    match text.char_indices().nth(SHOWN) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], frame.bytes().len()),
    }
}
