//! Tools: lists, calls and results.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
