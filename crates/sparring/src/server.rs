//! The parts of a server: the arguments and results of a [`Handler`](crate::Handler),
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
//! let server = Server::with_revisions(Silent, &[Revision::V2025_11_25]);
//! let client = Client::in_memory(&server).wait()?;
//! client.ping().wait()?;
//! assert_eq!(client.revision(), Some(Revision::V2025_11_25));
//! let _counts: Counts = server.counts();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use sparring_peer::server::{
    ClientDescription, Context, Counts, HandlerError, HandlerResult, InputRequired, ListItem,
    NoLink, Page, Reply, ServerTask, Session, SingleRequest, WeakServer,
};
