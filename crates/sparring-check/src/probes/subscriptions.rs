//! Subscriptions of both eras, and announcements of changed lists.
use super::Probe;
pub(super) const PROBES: &[Probe] = &[];
