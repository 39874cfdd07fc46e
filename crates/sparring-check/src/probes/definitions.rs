//! Definitions of tools, prompts and resources: schemas, names and descriptions.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
