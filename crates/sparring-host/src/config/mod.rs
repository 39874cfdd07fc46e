//! What is configured: servers, each with where it was said.

mod server;

pub use server::{Origin, Reconnect, Rules, Scope, ServerConfig};
