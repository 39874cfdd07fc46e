//! Expectations of a text: strings and regular expressions, combined with and, or
//! and not. This module does not depend on a client or the protocol.
//! [`Content`](crate::Content) is at the crate root.

mod condition;
pub(crate) mod expected_text;
mod mismatch;

pub use mismatch::Mismatch;
