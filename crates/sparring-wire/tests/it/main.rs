//! The integration tests of `sparring-wire`, in one binary.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod frame;
mod invariants;
mod mutations;
mod official;
mod rules_page;
