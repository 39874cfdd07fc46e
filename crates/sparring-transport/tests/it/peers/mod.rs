//! Real peers as real processes: our client on servers of others, over stdio and
//! HTTP, and clients of others on a server of ours.
//!
//! `cargo xtask peers` installs them and says where they are; a peer that is
//! not there is skipped, loudly. Those in Rust are examples of
//! this crate.

pub(crate) mod desk;
mod everything;
mod fastmcp;
mod filesystem;
mod inspector;
mod oidc;
mod peer;
pub(crate) mod place;
mod rmcp;
mod rust_mcp_sdk;
mod sdk;
pub(crate) mod their_clients;
mod time;
mod visit;

use sparring_wire::Revision;

/// The revisions that begin with a handshake.
fn legacy() -> Vec<Revision> {
    Revision::ALL.into_iter().filter(|revision| !revision.is_modern()).collect()
}
