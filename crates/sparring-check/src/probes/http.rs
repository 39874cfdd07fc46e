//! Streamable HTTP.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
