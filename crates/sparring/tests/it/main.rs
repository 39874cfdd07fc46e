//! The library as its users meet it: what a check takes, and what a test that
//! fails is told.

#![cfg(all(feature = "mock", feature = "http", feature = "rmcp"))]
#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod failure;
mod greeter;
mod panics;

// What is checked.
mod content;
mod listed;
mod response;

// What is connected to, and what a test stands on.
mod everywhere;
mod project;
mod rmcp;
