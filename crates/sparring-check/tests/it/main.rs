//! Checks of servers in memory and over HTTP.

mod arguments;
mod bad_servers;
mod clean;
mod handshakes;
mod musts;
mod pairs;
mod requirements_page;
mod shapes;
mod support;
