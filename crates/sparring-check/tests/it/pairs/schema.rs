//! The methods and types of a revision, and the syntax of strings.

use super::Case;

pub(super) const CASES: &[Case] = &[];
