//! The connection as a whole.

use super::Case;

pub(super) const CASES: &[Case] = &[];
