//! The parts of a server: what a [`Handler`](crate::Handler) receives and returns,
//! and the handles of a running [`Server`](crate::Server).
//!
//! ```
//! use sparring::server::Counts;
//! # use sparring::blocking::Wait as _;
//! use sparring::{Client, Handler, Revision, Server};
//!
//! struct Silent;
//! impl Handler for Silent {}
//!
//! let server = Server::speaking(Silent, &[Revision::V2025_11_25]);
//! let client = Client::in_memory(&server).wait()?;
//! client.ping().wait()?;
//! assert_eq!(client.revision(), Some(Revision::V2025_11_25));
//! let _counts: Counts = server.counts();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use sparring_peer::server::{
    Alone, Answer, Context, Counts, Failure, InputRequired, Listed, NoLink, Page, Reply, Running,
    Session, WeakServer,
};
