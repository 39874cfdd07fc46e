//! A database as an MCP server, with rules about which statements may run.
//!
//! Everything is here and `main` only reads flags, so that tests can have the
//! server without a process around it.

mod database;
mod error;
mod resources;
mod server;
mod settings;
pub mod statements;
mod tools;

pub use error::{Error, OpenError};
pub use server::{SqlServer, serve};
pub use settings::{Limits, Location, Settings};
