//! Modules that `spar codegen` generates. This crate compiles them, and calls a mock
//! and servers of other implementations with them.

#![expect(clippy::unwrap_used, reason = "an unwrap in a test fails at its line")]

mod calls;
mod generated;
mod hostile;
mod page;
mod peers;
