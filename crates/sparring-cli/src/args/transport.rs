//! `--transport`: which way to the target is taken, and which cannot be.

use clap::ValueEnum;
use sparring_peer::Protocol;
use sparring_transport::http::HttpTransport;

use crate::failure::Failure;

/// The ways that can be asked for: the target's own, a command's stdin and
/// stdout, Streamable HTTP, and the HTTP+SSE of 2024-11-05.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Transport {
    Auto,
    Stdio,
    Http,
    Sse,
}

impl Transport {
    /// The way to a URL.
    ///
    /// # Errors
    /// When there is none, or none for that revision.
    pub(super) fn over_http(self, protocol: Protocol) -> Result<HttpTransport, Failure> {
        match (self, protocol) {
            (Transport::Stdio, _) => Err(contradiction("stdio is for a command, not for --url")),
            (Transport::Sse, Protocol::Only(revision)) if revision.is_modern() => {
                let name = revision.name();
                Err(contradiction(&format!("sse does not exist in {name}; --transport http does")))
            }
            (Transport::Sse, _) => Ok(HttpTransport::Sse),
            (Transport::Http, _) => Ok(HttpTransport::Streamable),
            (Transport::Auto, _) => Ok(HttpTransport::Auto),
        }
    }

    /// Whether this can be the way to a command.
    ///
    /// # Errors
    /// When it cannot.
    pub(super) fn to_command(self) -> Result<(), Failure> {
        match self {
            Transport::Auto | Transport::Stdio => Ok(()),
            Transport::Http => Err(contradiction("http is for --url, not for a command")),
            Transport::Sse => Err(contradiction("sse is for --url, not for a command")),
        }
    }
}

fn contradiction(message: &str) -> Failure {
    Failure::Usage(format!("--transport {message}"))
}
