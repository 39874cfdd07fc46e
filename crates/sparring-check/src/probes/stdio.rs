//! The stdio transport.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
