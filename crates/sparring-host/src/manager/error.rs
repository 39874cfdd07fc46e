//! Why a server is not connected, or what was asked cannot be done.

use std::sync::Arc;
use std::time::Duration;

use sparring_peer::{Cause, client};
use sparring_transport::OpenError;

/// Why a server is not connected. Cheap to clone: all who wait for a server are
/// told the same.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such server is configured.
    #[error("no server `{server}` is configured")]
    Unknown {
        /// The name that was asked for.
        server: String,
    },
    /// Its entry says that it is not to be connected to.
    #[error("server `{server}` is disabled")]
    Disabled {
        /// The server.
        server: Arc<str>,
    },
    /// There is no link to it: no such program, no such container.
    #[error("server `{server}`: {error}")]
    NotOpened {
        /// The server.
        server: Arc<str>,
        /// Why not.
        error: Arc<OpenError>,
    },
    /// There was no link to it in time.
    #[error("server `{server}`: no connection within {after:?}")]
    Late {
        /// The server.
        server: Arc<str>,
        /// How long it was waited.
        after: Duration,
    },
    /// It was there, and the two sides did not come to terms.
    #[error("server `{server}`: {error}{}", last_words(stderr))]
    NotConnected {
        /// The server.
        server: Arc<str>,
        /// Why not; of a child that is gone with its end and its last words.
        error: Arc<client::Error>,
        /// The end of its stderr, where the error does not show it.
        stderr: String,
    },
    /// It was connected, and is not any more.
    #[error("server `{server}` was lost: {cause}")]
    Lost {
        /// The server.
        server: Arc<str>,
        /// What happened; of a child with its end and its last words.
        cause: Cause,
    },
    /// Somebody wanted something else before it was connected: to disconnect,
    /// to replace or to remove it.
    #[error("server `{server}` was given up while it connected")]
    GivenUp {
        /// The server.
        server: Arc<str>,
    },
    /// The manager has shut down.
    #[error("the manager has shut down")]
    ShutDown,
}

impl Error {
    /// Whether trying again leads to the same: somebody has to do something
    /// first.
    pub(super) fn is_final(&self) -> bool {
        use client::Error as Peer;
        let Error::NotConnected { error, .. } = self else {
            return matches!(self, Error::ShutDown);
        };
        match &**error {
            Peer::VersionRefused { .. } => true,
            Peer::Closed { cause: Cause::NotAuthorized(_), .. } => true,
            Peer::Closed { cause: Cause::Http { status, .. }, .. } => matches!(status, 401 | 403),
            _ => false,
        }
    }
}

fn last_words(stderr: &str) -> String {
    match stderr.trim_end() {
        "" => String::new(),
        words => format!("; its stderr ends with:\n{words}"),
    }
}
