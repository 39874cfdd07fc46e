//! Lifecycle, versioning and discovery.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
