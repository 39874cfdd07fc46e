//! Real peers as real processes: our client against servers of other projects,
//! over stdio and HTTP, and their clients against our server.
//!
//! `cargo xtask peers` installs the peers and passes their folder to the tests.
//! The tests of a missing peer are skipped with a message. The peers in Rust are
//! examples of this crate.

mod everything;
pub(crate) mod example_server;
mod fastmcp;
mod filesystem;
mod inspector;
pub(crate) mod installed;
mod oidc;
mod peer;
mod peer_connection;
mod rmcp;
mod rust_mcp_sdk;
mod sdk;
pub(crate) mod their_clients;
mod time;

use sparring_wire::Revision;

/// Returns the revisions that start with `initialize`.
fn legacy() -> Vec<Revision> {
    Revision::ALL.into_iter().filter(|revision| !revision.is_modern()).collect()
}
