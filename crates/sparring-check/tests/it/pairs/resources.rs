//! Resources, prompts, completion and pagination.

use super::Case;

pub(super) const CASES: &[Case] = &[];
