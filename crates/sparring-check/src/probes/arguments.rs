//! Calls of tools with generated arguments.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
