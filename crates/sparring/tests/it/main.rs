//! Tests of the library's public API: its checks, its failures and its fixtures.

#![cfg(all(feature = "mock", feature = "http", feature = "rmcp"))]
#![expect(clippy::unwrap_used, reason = "an unwrap in a test fails at its line")]

mod failure;
mod greeter;
mod subprocess;

// Checks.
mod content;
mod lists;
mod response;
mod snapshot;
mod waiting;
mod when;

// Checks of whole servers.
#[cfg(feature = "check")]
mod check;

// Failures.
mod failure_context;

// Connections and fixtures.
mod bearer_token;
mod blocking;
#[cfg(target_os = "linux")]
mod children;
#[cfg(all(unix, feature = "containers"))]
mod container;
mod everywhere;
#[cfg(target_os = "linux")]
mod http_process;
mod project;
mod rmcp;
mod shared;
mod skip;
#[cfg(unix)]
mod timeouts;
