//! Modules that `spar codegen` writes. That they compile is shown by this crate;
//! here they are used, on a mock and on servers of others.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod calls;
mod generated;
mod hostile;
mod page;
mod peers;
