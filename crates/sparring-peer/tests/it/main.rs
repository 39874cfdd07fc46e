//! All integration tests of the peers, in one binary.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod batches;
mod cancellation;
mod client;
mod core_fixture;
mod disconnects;
mod faults;
mod fixture;
mod headers;
mod lifecycle;
mod limits;
mod lines;
mod loopback;
mod memory;
mod replies;
mod rmcp;
mod server;
mod server_requests;
mod subscriptions;
