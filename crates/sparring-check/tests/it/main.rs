//! Checks of servers in memory and over HTTP.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod arguments;
mod bad_servers;
mod clean;
mod handshakes;
mod musts;
mod pairs;
mod requirements_page;
mod shapes;
mod support;
