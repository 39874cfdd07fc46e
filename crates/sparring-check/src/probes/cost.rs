//! The number of tokens of definitions.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
