//! Calls of tools with generated arguments.

mod cases;
mod generate;
mod schema_parts;

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
