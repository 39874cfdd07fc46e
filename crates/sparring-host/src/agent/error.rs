//! Why there is no answer of a model.

use std::time::Duration;

use sparring_transport::http::HttpError;

/// Why there is no answer of a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The address of the endpoint cannot even be tried.
    #[error(transparent)]
    Target(#[from] HttpError),
    /// There is no connection to the endpoint.
    #[error("{why}")]
    Unreachable {
        /// Why, with the address.
        why: String,
    },
    /// The endpoint did not answer in time.
    #[error("{url} did not answer within {after:?}")]
    Late {
        /// The endpoint.
        url: String,
        /// How long it was waited.
        after: Duration,
    },
    /// What came is no answer of this API.
    #[error("what {url} answers cannot be used: {why}")]
    Unusable {
        /// The endpoint.
        url: String,
        /// Why not.
        why: String,
    },
    /// The endpoint answered with an error.
    #[error("{url} answered {status}{}{}", shown(message), tried(*tries))]
    Refused {
        /// The endpoint.
        url: String,
        /// The status.
        status: u16,
        /// What it says of it.
        message: String,
        /// How often it was asked.
        tries: u32,
    },
}

fn shown(message: &str) -> String {
    if message.is_empty() { String::new() } else { format!(": {message}") }
}

fn tried(tries: u32) -> String {
    if tries > 1 { format!(" (tried {tries} times)") } else { String::new() }
}
