//! Texts in definitions that endanger users and models.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
