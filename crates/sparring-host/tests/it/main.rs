//! All integration tests of the host, in one binary.

#![expect(clippy::unwrap_used, reason = "a test that unwraps fails where it stands")]

mod manager;
