//! Ping, progress, cancellation, logging, caching and tasks.

use super::Case;

pub(super) const CASES: &[Case] = &[];
