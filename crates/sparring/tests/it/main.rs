//! The library as its users meet it: what a check takes, and what a test that
//! fails is told.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod failure;

// What is checked.
mod content;
mod listed;
mod response;
mod snapshot;
mod waiting;
mod when;

// What a failure shows.
mod scene;
