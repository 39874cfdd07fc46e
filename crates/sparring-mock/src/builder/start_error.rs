//! Why something that listens does not.

use std::net::SocketAddr;

use sparring_script::Problems;

/// Why there is no issuer or LLM endpoint.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// What was said is wrong.
    #[error("{0}")]
    Script(#[from] Problems),
    /// The address cannot be listened on.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system said.
        error: std::io::Error,
    },
}
