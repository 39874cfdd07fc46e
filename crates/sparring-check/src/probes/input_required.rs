//! Requests of the server to the client, and `input_required` results.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
