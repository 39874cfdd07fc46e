//! Servers of one's own: handlers, and what they are given and give back.
//!
//! ```
//! use sparring::server::{Handler, Server};
//! # use sparring::blocking::Wait as _;
//! # use sparring::{Client, Revision};
//!
//! struct Silent;
//! impl Handler for Silent {}
//!
//! let server = Server::speaking(Silent, &[Revision::V2025_11_25]);
//! let client = Client::in_memory(&server).wait()?;
//! client.ping().wait()?;
//! assert_eq!(client.revision(), Some(Revision::V2025_11_25));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use sparring_peer::server::{
    Alone, Answer, Context, Counts, Failure, Handler, InputRequired, Listed, NoLink, Page, Reply,
    Running, Server, Session, WeakServer,
};
