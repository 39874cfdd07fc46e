//! What a run finds outside of its files. Only the program reads it.

use std::collections::HashMap;
use std::path::PathBuf;

use sparring_transport::Secrets;
use sparring_transport::http::Proxies;

/// What is outside.
#[derive(Clone, Default)]
pub struct World {
    /// This program, for `${spar}`.
    pub program: PathBuf,
    /// The variables of the environment.
    pub variables: HashMap<String, String>,
    /// Which proxies to go through.
    pub proxies: Proxies,
    /// What must not be shown: a run adds what it fills in, and hides it in all
    /// that it tells.
    pub secrets: Secrets,
}

/// Values of the environment may be secrets.
impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").field("program", &self.program).finish_non_exhaustive()
    }
}
