//! Definitions, cost and safety.

use super::Case;

pub(super) const CASES: &[Case] = &[];
