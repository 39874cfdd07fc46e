//! The stdio transport.

use super::Case;

pub(super) const CASES: &[Case] = &[];
