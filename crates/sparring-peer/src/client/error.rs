//! Errors of a client's requests and connections. Each names the method, and
//! shows the frame that arrived instead, if one did.

use std::time::Duration;

use sparring_wire::{ErrorObject, Frame, Id, Revision, Violation};

use crate::link::{Cause, render_stderr};

/// The number of characters of a frame that a message shows.
const MAX_FRAME_PREVIEW: usize = 200;

/// The reason why a request has no usable response, or a connection failed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No response arrived in time.
    #[error("no answer to {method} within {after:?}")]
    Timeout {
        /// The method of the request.
        method: String,
        /// The timeout.
        after: Duration,
    },
    /// The response started to arrive, and was not complete in time.
    #[error("no answer to {method} within {after:?}: {state}")]
    Stalled {
        /// The method of the request.
        method: String,
        /// The timeout.
        after: Duration,
        /// The progress of the response.
        state: String,
    },
    /// The connection ended before the response.
    #[error("{}", render_closed(method, cause))]
    Closed {
        /// The method of the request.
        method: String,
        /// The reason why the connection ended.
        cause: Cause,
    },
    /// The session could not be opened again.
    #[error("cannot reopen the session: {reason}")]
    NotReopened {
        /// The reason.
        reason: String,
    },
    /// The response is malformed.
    #[error(
        "invalid answer to {method}: {}: {}",
        render_violations(violations),
        render_frame(frame)
    )]
    InvalidResponse {
        /// The method of the request.
        method: String,
        /// The rules that the response breaks.
        violations: Vec<Violation>,
        /// The response.
        frame: Frame,
    },
    /// Something that is not a frame arrived instead of the response.
    #[error("no answer to {method}; {}", render_noise(frame, *printed))]
    Noise {
        /// The method of the request.
        method: String,
        /// The bytes that arrived.
        frame: Frame,
        /// True if they arrived as a line on a shared channel, such as stdout.
        printed: bool,
    },
    /// A response with another id arrived instead.
    #[error(
        "no answer to {method} with id {expected}; the server sent one with id {found}: {}",
        render_frame(frame)
    )]
    ForeignId {
        /// The method of the request.
        method: String,
        /// The id of the request.
        expected: Id,
        /// The id of the response.
        found: Id,
        /// The response.
        frame: Frame,
    },
    /// The server answered with an error where a result is required.
    #[error("the server answered {method} with an error: {error}")]
    ErrorResponse {
        /// The method of the request.
        method: String,
        /// The server's error.
        error: Box<ErrorObject>,
    },
    /// Client and server have no common protocol revision.
    #[error(
        "no common protocol version; client: {}; server: {}",
        render_revisions(ours),
        render_versions(theirs)
    )]
    NoCommonVersion {
        /// The client's revisions.
        ours: Vec<Revision>,
        /// The revisions that the server named, or a description of its answer.
        theirs: Vec<String>,
    },
    /// The result lacks something that its method requires.
    #[error("invalid result of {method}: {reason}")]
    InvalidResult {
        /// The method of the request.
        method: String,
        /// The missing or wrong part.
        reason: String,
    },
    /// The server asked for input that the client did not provide.
    #[error("the client did not answer {request} (input `{key}` of {method}): {error}")]
    InputNotProvided {
        /// The method of the request.
        method: String,
        /// The method of the input that the server asked for.
        request: String,
        /// The server's key of the input.
        key: String,
        /// The reason why the client did not provide it.
        error: Box<ErrorObject>,
    },
    /// The server asked for input too often.
    #[error("the server asked for input for {method} more than {rounds} times")]
    TooManyRounds {
        /// The method of the request.
        method: String,
        /// The number of times.
        rounds: u32,
    },
    /// A list exceeded a limit or repeated a cursor.
    #[error("{method} returned an endless list: {reason}")]
    EndlessList {
        /// The method of the list.
        method: String,
        /// The limit.
        reason: String,
    },
    /// The lists of all servers of the process would have too many bytes.
    #[error(
        "no room for the result of {method}: the lists of all servers have {limit} bytes at most"
    )]
    ListsTooLarge {
        /// The method of the list.
        method: String,
        /// The limit.
        limit: usize,
    },
    /// The caller cancelled the request.
    #[error("{method} was cancelled")]
    Cancelled {
        /// The method of the request.
        method: String,
    },
    /// A callback of the caller panicked while the request was in flight.
    #[error("a callback of {method} panicked: {panic}")]
    CallbackPanicked {
        /// The method of the request.
        method: String,
        /// The message of the panic.
        panic: String,
    },
}

impl Error {
    /// Returns a stable name of the error for programs and suites.
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
            Error::InvalidResponse { .. } => "wrong-answer",
            Error::Noise { .. } => "noise",
            Error::ForeignId { .. } => "foreign-id",
            Error::ErrorResponse { .. } => "refused",
            Error::NoCommonVersion { .. } => "version-refused",
            Error::InvalidResult { .. } => "unusable",
            Error::InputNotProvided { .. } => "unanswered",
            Error::TooManyRounds { .. } => "too-many-rounds",
            Error::EndlessList { .. } => "endless-list",
            Error::Cancelled { .. } => "cancelled",
            Error::NotReopened { .. }
            | Error::ListsTooLarge { .. }
            | Error::CallbackPanicked { .. } => "other",
        }
    }
}

/// Names the event that ended the connection before the response.
fn render_closed(method: &str, cause: &Cause) -> String {
    match cause {
        Cause::EndOfInput => format!("{cause} before it answered {method}"),
        Cause::ProcessEnded { reason, stderr } => {
            format!("the server {reason} before it answered {method}{}", render_stderr(stderr))
        }
        _ => format!("no answer to {method}: {cause}"),
    }
}

fn render_violations(violations: &[Violation]) -> String {
    let each: Vec<_> = violations
        .iter()
        .map(|violation| format!("{} ({})", violation.message, violation.rule))
        .collect();
    each.join("; ")
}

/// Describes the bytes that arrived instead of the response.
fn render_noise(frame: &Frame, printed: bool) -> String {
    if printed && frame.is_foreign_line() {
        let rules = frame.violations().iter().map(|violation| violation.rule.id());
        let rules = rules.collect::<Vec<_>>().join(", ");
        return format!("{} ({rules})", frame.describe_printed_line());
    }
    let violations = render_violations(frame.violations());
    format!("the server sent something else: {violations}: {}", render_frame(frame))
}

fn render_versions(theirs: &[String]) -> String {
    match theirs.is_empty() {
        true => "names none".to_owned(),
        false => theirs.join(", "),
    }
}

fn render_revisions(revisions: &[Revision]) -> String {
    revisions.iter().map(|revision| revision.name()).collect::<Vec<_>>().join(", ")
}

/// Returns the beginning of a frame, for a message.
fn render_frame(frame: &Frame) -> String {
    let text = frame.text();
    match text.char_indices().nth(MAX_FRAME_PREVIEW) {
        None => text.into_owned(),
        Some((end, _)) => format!("{}… ({} bytes)", &text[..end], frame.bytes().len()),
    }
}
