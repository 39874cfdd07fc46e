//! The context of a run: the program's path, environment variables, proxies and secrets.

use std::collections::HashMap;
use std::path::PathBuf;

use sparring_transport::Secrets;
use sparring_transport::http::Proxies;

/// Values from outside the suite files. The program provides them; the runner does not
/// read the process environment.
#[derive(Clone, Default)]
pub struct RunContext {
    /// The path of this program, for `${spar}`.
    pub program: PathBuf,
    /// The environment variables.
    pub variables: HashMap<String, String>,
    /// The proxies for HTTP connections.
    pub proxies: Proxies,
    /// Values to mask. A run adds the secrets that it fills in, and masks them in every
    /// event.
    pub secrets: Secrets,
}

/// Omits the variables, which may be secrets.
impl std::fmt::Debug for RunContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunContext").field("program", &self.program).finish_non_exhaustive()
    }
}
