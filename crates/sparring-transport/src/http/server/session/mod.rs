//! Sessions that begin with a handshake: their streams, what they keep for a
//! client that comes back, and the link that a peer sees of them.

mod hub;
mod link;
mod outlet;
mod reader;
mod registry;

pub(super) use hub::{Full, Hub, Limits, Unkept};
pub(super) use link::SessionLink;
pub(super) use reader::{First, Reader};
pub(super) use registry::{Entry, Registry, SessionId};
