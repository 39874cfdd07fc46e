//! A server of instructions: Markdown files in a folder. Clients find them by topic,
//! search their words, and route messages to them.
//!
//! [`knowledge`] reads the files, [`index`] makes them searchable, and [`library`]
//! combines both in one value that is replaced as a whole. [`engines`] choose the
//! instructions for a message, [`tools`] are the tools that a client calls, and
//! [`server`] implements the protocol. [`watch`] watches the folder. [`test_support`] has
//! checks for tests of the server.

pub mod engines;
pub mod front_matter;
pub mod index;
pub mod knowledge;
pub mod library;
pub mod log;
pub mod phrase;
pub mod routing;
pub mod server;
pub mod test_support;
pub mod tools;
pub mod watch;

pub use library::Library;
pub use log::{Level, Log};
pub use server::Instructions;
