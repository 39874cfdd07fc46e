//! All integration tests of the peers, in one binary.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod batches;
mod cancellation;
mod client;
mod crowded;
mod faults;
mod fixture;
mod hard_ends;
mod headers;
mod lifecycle;
mod lines;
mod loopback;
mod memory;
mod questions;
mod replies;
mod rmcp;
mod server;
mod stage;
mod subscriptions;
