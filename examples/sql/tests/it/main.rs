//! Tests of the server, by protocol, tool, rule and transport, and through four ways to reach it.

#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod fixture;
mod limits;
mod process;
mod protocol;
mod resources;
mod security;
mod tokens;
mod tools;
mod values;
mod ways;
