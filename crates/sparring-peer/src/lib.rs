//! Both ends of the Model Context Protocol.
//!
//! `Client` and `Server` are cores without I/O, pumped by drivers over a
//! [`Link`]. Neither can name a transport: all they know is what a link gives.

pub mod client;
pub mod link;
mod notices;
mod panics;
pub mod server;
pub mod task;
mod timer;

pub use client::{Client, ClientBuilder, ClientOptions, Protocol, Response};
pub use link::{
    Cause, Envelope, Era, Incoming, Lines, Link, LinkKind, MemoryLink, MemoryTransport, Outgoing,
    Stream, memory,
};
pub use server::{Handler, Server};
