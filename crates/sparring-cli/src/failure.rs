//! Why a verb has no good result, and which exit code that is.

use std::io;
use std::time::Duration;

use sparring_host::agent::AgentError;
use sparring_peer::Cause;
use sparring_peer::client::Error;
use sparring_script::Problems;
use sparring_transport::http::HttpError;
use sparring_transport::http::client::TlsError;
use sparring_transport::{ChildError, ContainerError, OpenError};
use sparring_wire::Frame;

use crate::exit::{Exit, Signal};

/// An end without a good result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// What was typed cannot be done.
    #[error("{0}")]
    Usage(String),
    /// A file of the user's cannot be read or written.
    #[error("{0}")]
    File(String),
    /// Files of the user's are wrong.
    #[error("{}", of_files(.0))]
    Script(Vec<Problems>),
    /// The target could not be started or connected to.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The server has nothing that a module could be made of.
    #[error("{0}")]
    NoTools(String),
    /// None of the servers that were to be served could be connected to; why was
    /// told of each.
    #[error("{}", none_of(*.0))]
    NoneConnected(usize),
    /// No server that was named could be connected to.
    #[error("{0}")]
    NoServer(sparring_host::manager::Error),
    /// The model's endpoint has no answer.
    #[error("{0}")]
    Model(AgentError),
    /// The model did not answer.
    #[error("{0}")]
    NoAnswer(String),
    /// Nobody took the connection in time.
    #[error("no connection within {0:?}")]
    NotConnected(Duration),
    /// The target is there, and the two sides did not come together.
    #[error("{}", of_connecting(.0))]
    Connect(Error),
    /// The request has no good answer.
    #[error("{}", of_request(.0))]
    Request(Error),
    /// The target did not take what it was sent.
    #[error(
        "the target did not read what was sent within {within:?}: {left} of {all} bytes are left"
    )]
    Unsent {
        /// The bytes that did not get out.
        left: usize,
        /// All of them.
        all: usize,
        /// How long was waited.
        within: Duration,
    },
    /// The result could not be printed.
    #[error("cannot write to stdout: {0}")]
    Output(io::Error),
    /// A signal came first.
    #[error("stopped by {0}")]
    Stopped(Signal),
    /// The system does not give what the program needs to run at all.
    #[error("cannot run: {0}")]
    System(io::Error),
}

impl Failure {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Failure::Usage(_) | Failure::File(_) | Failure::Script(_) => Exit::Usage,
            Failure::Open(OpenError::Http(error)) if typed(error).is_some() => Exit::Usage,
            Failure::Model(AgentError::Target(_)) => Exit::Usage,
            Failure::Model(AgentError::Refused { .. }) | Failure::NoAnswer(_) => Exit::Failed,
            Failure::Request(Error::Refused { .. }) => Exit::Failed,
            Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Good,
            Failure::Output(_) => Exit::Usage,
            Failure::Stopped(signal) => Exit::Stopped(*signal),
            Failure::Open(_)
            | Failure::NoServer(_)
            | Failure::NoTools(_)
            | Failure::Model(_)
            | Failure::NotConnected(_)
            | Failure::NoneConnected(_)
            | Failure::Connect(_)
            | Failure::Request(_)
            | Failure::Unsent { .. }
            | Failure::System(_) => Exit::Unreachable,
        }
    }

    /// Whether nothing is said: whoever reads our stdout has seen enough.
    pub(crate) fn is_silent(&self) -> bool {
        matches!(self, Failure::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    /// Whether no answer came in time, and nobody said why.
    pub(crate) fn is_silence(&self) -> bool {
        let (Failure::Connect(error) | Failure::Request(error)) = self else {
            return matches!(self, Failure::Unsent { .. });
        };
        matches!(error, Error::Timeout { .. } | Error::Stalled { .. })
    }

    /// Nothing, where nobody was there to read a result that is bad anyway.
    ///
    /// # Errors
    /// The failure itself, where it is to be told.
    pub(crate) fn unless_loud(self) -> Result<(), Failure> {
        if self.is_silent() { Ok(()) } else { Err(self) }
    }

    /// The name that `--json` gives it.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Failure::Usage(_) => "usage",
            Failure::File(_) => "file",
            Failure::Script(_) => "script",
            Failure::Unsent { .. } => "unsent",
            Failure::Open(OpenError::Child(ChildError::NotFound { .. })) => "command-not-found",
            Failure::Open(OpenError::Child(ChildError::NotExecutable { .. })) => "not-executable",
            Failure::Open(OpenError::Http(error)) => typed(error).unwrap_or("unreachable"),
            Failure::Open(OpenError::Container(error)) => of_container(error),
            Failure::Open(_) | Failure::NoServer(_) | Failure::NotConnected(_) => "unreachable",
            Failure::Model(error) => of_model(error),
            Failure::NoAnswer(_) => "no-answer",
            Failure::NoTools(_) => "no-tools",
            Failure::NoneConnected(_) => "unreachable",
            Failure::Connect(error) | Failure::Request(error) => error.kind(),
            Failure::Output(_) => "output",
            Failure::Stopped(_) => "stopped",
            Failure::System(_) => "system",
        }
    }

    /// What the server answered over HTTP instead of a frame: the status, and
    /// how the body begins, which the message leaves out.
    pub(crate) fn http(&self) -> Option<(u16, &str)> {
        match self {
            Failure::Connect(Error::Closed { cause, .. })
            | Failure::Request(Error::Closed { cause, .. }) => match cause {
                Cause::Http { status, body, .. } => Some((*status, body)),
                _ => None,
            },
            _ => None,
        }
    }

    /// The frame that the message shows.
    pub(crate) fn frame(&self) -> Option<&Frame> {
        match self {
            Failure::Connect(error) | Failure::Request(error) => match error {
                Error::WrongAnswer { frame, .. }
                | Error::Noise { frame, .. }
                | Error::ForeignId { frame, .. } => Some(frame),
                _ => None,
            },
            _ => None,
        }
    }
}

/// The kind of what is wrong with what was typed; none where nothing is.
fn typed(error: &HttpError) -> Option<&'static str> {
    match error {
        HttpError::Url(_) | HttpError::Header(_) | HttpError::OAuth(_) => Some("usage"),
        HttpError::Tls(TlsError::Certificates { .. }) => Some("file"),
        _ => None,
    }
}

/// All that is wrong with all of the files.
fn none_of(servers: usize) -> String {
    match servers {
        1 => "the server could not be connected to".to_owned(),
        _ => format!("none of the {servers} servers could be connected to"),
    }
}

fn of_files(problems: &[Problems]) -> String {
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n")
}

fn of_model(error: &AgentError) -> &'static str {
    match error {
        AgentError::Target(_) => "usage",
        AgentError::Refused { .. } => "refused",
        AgentError::Late { .. } => "timeout",
        AgentError::Unusable { .. } => "unusable",
        _ => "unreachable",
    }
}

fn of_container(error: &ContainerError) -> &'static str {
    match error {
        ContainerError::NoEngine { .. } => "engine-not-found",
        ContainerError::Refused { .. } => "engine-refused",
        ContainerError::NoContainer { .. } => "no-container",
        ContainerError::NotRunning { .. } => "not-running",
        ContainerError::Paused { .. } => "paused",
        ContainerError::Unhealthy { .. } => "unhealthy",
        ContainerError::NotReady { .. } => "not-ready",
        _ => "unreachable",
    }
}

/// What kept the two sides from coming together. Which request of the handshake
/// that was says nothing to whoever has no connection.
fn of_connecting(error: &Error) -> String {
    match error {
        Error::Closed { cause: Cause::Broken(why), .. } => why.clone(),
        Error::Closed { cause, .. } => over_http(cause).unwrap_or_else(|| of_request(error)),
        error => of_request(error),
    }
}

/// The message without the target's last words and without the body of an
/// answer, which are shown apart.
fn of_request(error: &Error) -> String {
    match error {
        Error::Closed { method, cause: Cause::Gone { how, .. } } => {
            format!("{method} has no answer: {how}")
        }
        Error::Closed { method, cause } => match over_http(cause) {
            Some(cause) => format!("{cause}; {method} has no answer"),
            None => error.to_string(),
        },
        error => error.to_string(),
    }
}

/// A cause that stands for itself, since it says where it comes from.
fn over_http(cause: &Cause) -> Option<String> {
    match cause {
        Cause::Http { what, .. } => Some(what.clone()),
        Cause::Unreachable(_) | Cause::NotAuthorized(_) | Cause::SessionLost(_) => {
            Some(cause.to_string())
        }
        _ => None,
    }
}
