//! Tests of the server in memory, as a child process, over HTTP and in a container.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod client;
mod container;
mod files;
mod generated;
mod process;
mod project;
mod reload;
mod resources;
mod routing;
mod searching;
mod test_support;
mod usage;
