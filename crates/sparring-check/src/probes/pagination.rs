//! Pages of lists.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
