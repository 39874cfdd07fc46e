//! Remembers which era a server turned out to be of, for as long as this
//! program runs (2026-07-28, basic/versioning: the era is a property of the
//! origin).

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use sparring_peer::Era;

use super::endpoint::Origin;

/// The most origins that are remembered.
const MOST: usize = 10_000;

static KNOWN: LazyLock<Mutex<HashMap<Origin, Era>>> = LazyLock::new(Mutex::default);

pub(super) fn of(origin: &Origin) -> Option<Era> {
    known().get(origin).copied()
}

pub(super) fn learn(origin: &Origin, era: Era) {
    let mut known = known();
    if known.len() < MOST || known.contains_key(origin) {
        known.insert(origin.clone(), era);
    }
}

fn known() -> MutexGuard<'static, HashMap<Origin, Era>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
