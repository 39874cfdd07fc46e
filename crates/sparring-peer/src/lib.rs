//! The client and the server of the Model Context Protocol.
//!
//! `Client` and `Server` are cores without I/O. Drivers run them over a [`Link`].
//! Neither knows a transport: they see only the events of a link.

mod byte_budget;
mod cancellation;
pub mod client;
pub mod link;
pub mod server;
pub mod task;
mod timer;

pub use byte_budget::{ByteBudget, ReservedBytes};
pub use client::{Client, ClientBuilder, ClientOptions, Protocol, Response};
pub use link::{
    Cause, Envelope, Era, Incoming, LineLink, Link, LinkInfo, LinkKind, MemoryLink,
    MemoryTransport, Outgoing, Stream, memory,
};
pub use server::{Handler, Server};
