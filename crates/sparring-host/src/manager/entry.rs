//! The entry of a server in its configuration file.

use std::ops::Deref;
use std::sync::Arc;

use crate::config::ServerConfig;
use crate::permissions::Fingerprint;

/// A server's entry, with its fingerprint. Every call compares fingerprints, so it
/// is computed only when the entry changes.
pub(super) struct Entry {
    pub(super) config: Arc<ServerConfig>,
    pub(super) fingerprint: Fingerprint,
}

impl Entry {
    pub(super) fn new(config: Arc<ServerConfig>) -> Entry {
        Entry { fingerprint: Fingerprint::of(&config), config }
    }
}

impl Deref for Entry {
    type Target = ServerConfig;

    fn deref(&self) -> &ServerConfig {
        &self.config
    }
}
