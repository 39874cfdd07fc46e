//! The library as its users meet it: what a check takes, and what a test that
//! fails is told.

#![cfg(all(feature = "mock", feature = "http", feature = "rmcp"))]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod again;
mod failure;
mod greeter;

// What is checked.
mod content;
mod listed;
mod response;
mod snapshot;
mod waiting;
mod when;

// What a failure shows.
mod scene;

// What is connected to, and what a test stands on.
mod blocking;
#[cfg(target_os = "linux")]
mod children;
#[cfg(all(unix, feature = "containers"))]
mod container;
mod everywhere;
mod over_http;
mod project;
mod rmcp;
mod shared;
mod skip;
