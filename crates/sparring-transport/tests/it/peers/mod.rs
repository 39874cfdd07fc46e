//! Real peers as real processes: our client on servers of others, over stdio and
//! HTTP, and clients of others on a server of ours.
//!
//! `cargo xtask peers` installs them and says where they are; a peer that is
//! not there is skipped, loudly. Those in Rust are examples of
//! this crate.

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
