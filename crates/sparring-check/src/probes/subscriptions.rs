//! Subscriptions and notifications about changes, in both eras.

use super::Probe;

pub(super) const PROBES: &[Probe] = &[];
