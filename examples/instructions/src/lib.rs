//! A server of instructions: Markdown files in a folder, found by what they are
//! about, searched by their words, and routed to by what somebody says.
//!
//! From a folder to an answer: [`knowledge`] reads the files, [`index`] makes them
//! searchable, [`library`] holds both as one thing that is replaced as a whole;
//! [`engines`] decide what fits a message, [`tools`] are what a client calls, and
//! [`server`] puts them behind the protocol. [`watch`] follows the folder.

pub mod engines;
pub mod front_matter;
pub mod index;
pub mod knowledge;
pub mod library;
pub mod log;
pub mod phrase;
pub mod routing;
pub mod server;
pub mod tools;
pub mod watch;

pub use library::Library;
pub use log::{Level, Log};
pub use server::Instructions;
