//! The text of a message, and the fields of JSON-RPC.

use super::Case;

pub(super) const CASES: &[Case] = &[];
