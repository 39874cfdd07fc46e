//! Errors of connecting to a server.

use std::sync::Arc;
use std::time::Duration;

use sparring_peer::{Cause, client};
use sparring_transport::OpenError;

/// Why a server is not connected. Cheap to clone: all callers that wait for a
/// server get the same error.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No server of this name is configured.
    #[error("no server named `{server}` is configured")]
    Unknown {
        /// The requested name.
        server: String,
    },
    /// The server's entry disables it.
    #[error("server `{server}` is disabled")]
    Disabled {
        /// The server.
        server: Arc<str>,
    },
    /// The link cannot be opened, for example because the program or container
    /// does not exist.
    #[error("server `{server}`: {error}")]
    OpenFailed {
        /// The server.
        server: Arc<str>,
        /// The reason.
        error: Arc<OpenError>,
    },
    /// Opening the link took too long.
    #[error("server `{server}`: no connection within {after:?}")]
    Timeout {
        /// The server.
        server: Arc<str>,
        /// The timeout.
        after: Duration,
    },
    /// The link is open, but the protocol's handshake failed.
    #[error("server `{server}`: {error}{}", stderr_note(stderr))]
    ConnectFailed {
        /// The server.
        server: Arc<str>,
        /// The reason; for a child that exited with its exit status and stderr.
        error: Arc<client::Error>,
        /// The end of the server's stderr, if the error does not include it.
        stderr: String,
    },
    /// The connection was lost.
    #[error("server `{server}` was lost: {cause}")]
    Lost {
        /// The server.
        server: Arc<str>,
        /// The cause; for a child with its exit status and stderr.
        cause: Cause,
    },
    /// The connection attempt was cancelled, because the server was
    /// disconnected, replaced or removed.
    #[error("connecting to server `{server}` was cancelled")]
    Cancelled {
        /// The server.
        server: Arc<str>,
    },
    /// The manager has shut down.
    #[error("the manager has shut down")]
    ShutDown,
}

impl Error {
    /// Returns true if a retry would fail in the same way until a person
    /// changes something.
    pub(super) fn is_final(&self) -> bool {
        use client::Error as Peer;
        let Error::ConnectFailed { error, .. } = self else {
            return matches!(self, Error::ShutDown);
        };
        match &**error {
            Peer::NoCommonVersion { .. } => true,
            Peer::Closed { cause: Cause::NotAuthorized(_), .. } => true,
            Peer::Closed { cause: Cause::Http { status, .. }, .. } => matches!(status, 401 | 403),
            _ => false,
        }
    }
}

fn stderr_note(stderr: &str) -> String {
    match stderr.trim_end() {
        "" => String::new(),
        text => format!("; its stderr ends with:\n{text}"),
    }
}
