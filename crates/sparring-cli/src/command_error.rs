//! The errors that end a verb, with their exit codes.

use std::io;
use std::time::Duration;

use sparring_check::CheckError;
use sparring_host::agent::AgentError;
use sparring_peer::Cause;
use sparring_peer::client::Error;
use sparring_script::Problems;
use sparring_transport::http::HttpError;
use sparring_transport::http::client::TlsError;
use sparring_transport::{ChildError, ContainerError, OpenError};
use sparring_wire::Frame;

use crate::exit::{Exit, Signal};

/// Why a verb has no good result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    /// The arguments are wrong.
    #[error("{0}")]
    Usage(String),
    /// A file of the user cannot be read or written.
    #[error("{0}")]
    File(String),
    /// Files of the user have problems.
    #[error("{}", problems_message(.0))]
    Script(Vec<Problems>),
    /// The target could not be started or connected to.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The server has no tools to generate a module from.
    #[error("{0}")]
    NoTools(String),
    /// None of the servers to serve could be connected. The reasons were printed before.
    #[error("{}", none_connected_message(*.0))]
    NoneConnected(usize),
    /// No named server could be connected.
    #[error("{0}")]
    NoServer(sparring_host::manager::Error),
    /// The model's endpoint failed.
    #[error("{0}")]
    Model(AgentError),
    /// The model gave no answer.
    #[error("{0}")]
    NoAnswer(String),
    /// The target did not accept the connection in time.
    #[error("the target did not accept a connection within {0:?}")]
    ConnectTimeout(Duration),
    /// The target was started or reached, but the handshake failed.
    #[error("{}", connect_message(.0))]
    Connect(Error),
    /// The request failed.
    #[error("{}", request_message(.0))]
    Request(Error),
    /// The target did not read everything that was sent.
    #[error(
        "the target did not read all input within {within:?}: {left} of {all} bytes were not sent"
    )]
    Unsent {
        /// The bytes that were not sent.
        left: usize,
        /// The bytes to send.
        all: usize,
        /// The time limit.
        within: Duration,
    },
    #[error("cannot write to stdout: {0}")]
    Output(io::Error),
    /// The server could not be checked.
    #[error(transparent)]
    Check(CheckError),
    /// A signal stopped the program.
    #[error("stopped by {0}")]
    Stopped(Signal),
    /// The client of a server over stdio does not read.
    #[error("{0}")]
    Client(Cause),
    /// The system lacks something that the program needs to run.
    #[error("cannot run: {0}")]
    System(io::Error),
}

impl CommandError {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            CommandError::Usage(_) | CommandError::File(_) | CommandError::Script(_) => Exit::Usage,
            CommandError::Open(OpenError::Http(error)) if usage_kind(error).is_some() => {
                Exit::Usage
            }
            CommandError::Model(AgentError::Target(_)) => Exit::Usage,
            CommandError::Model(AgentError::Refused { .. }) | CommandError::NoAnswer(_) => {
                Exit::Failed
            }
            CommandError::Request(Error::ErrorResponse { .. }) | CommandError::Client(_) => {
                Exit::Failed
            }
            CommandError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                Exit::Success
            }
            CommandError::Output(_) => Exit::Usage,
            CommandError::Stopped(signal) => Exit::Stopped(*signal),
            CommandError::Open(_)
            | CommandError::Check(_)
            | CommandError::NoServer(_)
            | CommandError::NoTools(_)
            | CommandError::Model(_)
            | CommandError::ConnectTimeout(_)
            | CommandError::NoneConnected(_)
            | CommandError::Connect(_)
            | CommandError::Request(_)
            | CommandError::Unsent { .. }
            | CommandError::System(_) => Exit::Unreachable,
        }
    }

    /// Returns true if the reader of stdout is gone. Nothing is printed then.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, CommandError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Returns true if no response arrived in time for an unknown reason.
    pub(crate) fn is_timeout(&self) -> bool {
        let (CommandError::Connect(error) | CommandError::Request(error)) = self else {
            return matches!(self, CommandError::Unsent { .. });
        };
        matches!(error, Error::Timeout { .. } | Error::Stalled { .. })
    }

    /// Drops the failure if the reader of stdout is gone, for a result that is bad
    /// anyway.
    ///
    /// # Errors
    /// Any other failure.
    pub(crate) fn ignore_broken_pipe(self) -> Result<(), CommandError> {
        if self.is_broken_pipe() { Ok(()) } else { Err(self) }
    }

    /// The `kind` in the output of `--json`.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            CommandError::Usage(_) => "usage",
            CommandError::File(_) => "file",
            CommandError::Script(_) => "script",
            CommandError::Check(CheckError::NoRevision(_)) => "no-revision",
            CommandError::Check(_) => "unreachable",
            CommandError::Unsent { .. } => "unsent",
            CommandError::Open(OpenError::Child(ChildError::NotFound { .. })) => {
                "command-not-found"
            }
            CommandError::Open(OpenError::Child(ChildError::NotExecutable { .. })) => {
                "not-executable"
            }
            CommandError::Open(OpenError::Http(error)) => {
                usage_kind(error).unwrap_or("unreachable")
            }
            CommandError::Open(OpenError::Container(error)) => container_error_kind(error),
            CommandError::Open(_) | CommandError::NoServer(_) | CommandError::ConnectTimeout(_) => {
                "unreachable"
            }
            CommandError::Model(error) => model_error_kind(error),
            CommandError::NoAnswer(_) => "no-answer",
            CommandError::NoTools(_) => "no-tools",
            CommandError::NoneConnected(_) => "unreachable",
            CommandError::Connect(error) | CommandError::Request(error) => error.kind(),
            CommandError::Output(_) => "output",
            CommandError::Stopped(_) => "stopped",
            CommandError::Client(_) => "client",
            CommandError::System(_) => "system",
        }
    }

    /// The status and the beginning of the body of an HTTP response without a frame. The
    /// message leaves both out.
    pub(crate) fn http(&self) -> Option<(u16, &str)> {
        match self {
            CommandError::Connect(Error::Closed { cause, .. })
            | CommandError::Request(Error::Closed { cause, .. }) => match cause {
                Cause::Http { status, body, .. } => Some((*status, body)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The end of the stderr of a process that ended. The message leaves it out.
    pub(crate) fn stderr(&self) -> Option<&str> {
        match self {
            CommandError::Connect(Error::Closed { cause, .. })
            | CommandError::Request(Error::Closed { cause, .. }) => match cause {
                Cause::ProcessEnded { stderr, .. } => Some(stderr),
                _ => None,
            },
            _ => None,
        }
    }

    /// The frame that the message shows.
    pub(crate) fn frame(&self) -> Option<&Frame> {
        match self {
            CommandError::Connect(error) | CommandError::Request(error) => match error {
                Error::InvalidResponse { frame, .. }
                | Error::Noise { frame, .. }
                | Error::ForeignId { frame, .. } => Some(frame),
                _ => None,
            },
            _ => None,
        }
    }
}

/// Returns the kind if the arguments are wrong.
fn usage_kind(error: &HttpError) -> Option<&'static str> {
    match error {
        HttpError::Url(_) | HttpError::Header(_) | HttpError::OAuth(_) => Some("usage"),
        HttpError::Tls(TlsError::Certificates { .. }) => Some("file"),
        _ => None,
    }
}

fn none_connected_message(servers: usize) -> String {
    match servers {
        1 => "the server could not be connected".to_owned(),
        _ => format!("none of the {servers} servers could be connected"),
    }
}

fn problems_message(problems: &[Problems]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

fn model_error_kind(error: &AgentError) -> &'static str {
    match error {
        AgentError::Target(_) => "usage",
        AgentError::Refused { .. } => "refused",
        AgentError::Timeout { .. } => "timeout",
        AgentError::InvalidResponse { .. } => "unusable",
        _ => "unreachable",
    }
}

fn container_error_kind(error: &ContainerError) -> &'static str {
    match error {
        ContainerError::NoEngine { .. } => "engine-not-found",
        ContainerError::StateUnknown { .. } => "engine-refused",
        ContainerError::NoContainer { .. } => "no-container",
        ContainerError::NotRunning { .. } => "not-running",
        ContainerError::Paused { .. } => "paused",
        ContainerError::Unhealthy { .. } => "unhealthy",
        ContainerError::NotReady { .. } => "not-ready",
        _ => "unreachable",
    }
}

/// Describes why the handshake failed. Leaves out the method, which does not help a user
/// without a connection.
fn connect_message(error: &Error) -> String {
    match error {
        Error::Closed { cause: Cause::Broken(why), .. } => why.clone(),
        Error::Closed { cause, .. } => {
            http_cause_message(cause).unwrap_or_else(|| request_message(error))
        }
        error => request_message(error),
    }
}

/// Describes a failed request without the target's stderr and without the body of a
/// response, which are printed separately.
fn request_message(error: &Error) -> String {
    match error {
        Error::Closed { method, cause: Cause::ProcessEnded { reason, .. } } => {
            format!("the server {reason} before it answered {method}")
        }
        Error::Closed { method, cause } => match http_cause_message(cause) {
            Some(cause) => format!("{cause} (no answer to {method})"),
            None => error.to_string(),
        },
        error => error.to_string(),
    }
}

/// Describes a cause that already names its origin.
fn http_cause_message(cause: &Cause) -> Option<String> {
    match cause {
        Cause::Http { what, .. } => Some(what.clone()),
        Cause::Unreachable(_) | Cause::NotAuthorized(_) | Cause::SessionLost(_) => {
            Some(cause.to_string())
        }
        _ => None,
    }
}
