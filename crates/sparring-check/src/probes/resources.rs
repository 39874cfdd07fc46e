//! Resources and their templates.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
