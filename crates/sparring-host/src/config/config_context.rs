//! The context of config files: environment variables, folders, and callbacks.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use sparring_transport::Secrets;
use sparring_transport::http::{BrowserOpener, Proxies};

/// Asks for an input; returns `None` if it cannot.
pub type InputPrompt = Arc<dyn Fn(&InputQuestion) -> Option<String> + Send + Sync>;

/// The context for reading config files.
#[derive(Clone)]
pub struct ConfigContext {
    /// The environment variables.
    pub variables: BTreeMap<String, String>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The trust store, if there is one.
    pub trust: Option<PathBuf>,
    /// The store of OAuth tokens, if there is one.
    pub credentials: Option<PathBuf>,
    /// Opens the login page. Reading twice with the same browser gives equal
    /// targets.
    pub browser: BrowserOpener,
    /// The proxies for servers over HTTP.
    pub proxies: Proxies,
    /// Asks for the inputs of a file.
    pub ask: InputPrompt,
    /// Receives the secrets of all entries, for masking output.
    pub secrets: Secrets,
}

/// An input that an entry needs, as `.vscode/mcp.json` describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputQuestion {
    /// The server that needs it.
    pub server: String,
    /// Its id.
    pub id: String,
    /// Its description.
    pub description: String,
    /// True if the answer must not be shown.
    pub is_secret: bool,
    /// The default answer.
    pub default: Option<String>,
    /// The only possible answers; empty if any answer is possible.
    pub options: Vec<String>,
}

impl ConfigContext {
    /// An empty context that cannot ask.
    pub fn empty() -> Self {
        ConfigContext {
            variables: BTreeMap::new(),
            home: None,
            trust: None,
            credentials: None,
            browser: BrowserOpener::new(|_| {}),
            proxies: Proxies::default(),
            ask: Arc::new(|_| None),
            secrets: Secrets::default(),
        }
    }
}

/// Shows only the names of variables, because their values may be secrets.
impl std::fmt::Debug for ConfigContext {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ConfigContext")
            .field("variables", &self.variables.keys())
            .field("home", &self.home)
            .field("trust", &self.trust)
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}
