//! A database as an MCP server, with rules about which statements may run.
//!
//! `main` only reads flags; everything else is in this library, so that tests can use
//! the server without a process.

mod database;
mod error;
mod resources;
mod server;
mod serving;
mod settings;
pub mod statements;
mod tools;

pub use error::{Error, OpenError};
pub use server::{SqlServer, serve};
pub use serving::{BACKGROUND_VARIABLE, ServingMode};
pub use settings::{Limits, Location, Settings};
