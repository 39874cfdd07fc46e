//! Prompts and completion.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
