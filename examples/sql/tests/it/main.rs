//! The server in one test binary: by protocol, tool, rule and transport, and all
//! four ways to reach it side by side.

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
