//! Integration tests of the host.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod agent;
mod artifacts;
mod config;
mod gateway;
mod manager;
mod permissions;
mod registry;
mod session;
