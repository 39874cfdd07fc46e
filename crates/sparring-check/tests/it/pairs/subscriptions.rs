//! Subscriptions and requests of the server.

use super::Case;

pub(super) const CASES: &[Case] = &[];
