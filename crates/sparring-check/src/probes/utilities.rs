//! Ping, progress, cancellation, logging and tasks.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
