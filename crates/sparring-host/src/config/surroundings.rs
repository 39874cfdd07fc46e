//! What is outside of the files and decides what they mean.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use sparring_transport::http::{Proxies, Visitor};

/// Who answers a question; nothing where nobody can.
pub type Ask = Arc<dyn Fn(&Question) -> Option<String> + Send + Sync>;

/// What whoever reads config files hands in.
#[derive(Clone)]
pub struct Surroundings {
    /// The variables of the environment.
    pub variables: BTreeMap<String, String>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Where it is kept which files the user trusts, if there is a place.
    pub trust: Option<PathBuf>,
    /// Where tokens of OAuth are kept, if there is a place.
    pub credentials: Option<PathBuf>,
    /// Who opens the page to log in at. Reading twice with the same one gives
    /// equal targets.
    pub visitor: Visitor,
    /// Which proxies servers over HTTP are reached through.
    pub proxies: Proxies,
    /// Who is asked for the inputs of a file.
    pub ask: Ask,
}

/// An input that an entry needs, as `.vscode/mcp.json` describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The server that needs it.
    pub server: String,
    /// What it is called.
    pub id: String,
    /// What it is for.
    pub description: String,
    /// Whether the answer is not to be seen.
    pub is_secret: bool,
    /// The answer where none is given.
    pub default: Option<String>,
    /// The only answers there are, where there are so few.
    pub options: Vec<String>,
}

impl Surroundings {
    /// Nothing at all, and nobody to ask.
    pub fn none() -> Self {
        Surroundings {
            variables: BTreeMap::new(),
            home: None,
            trust: None,
            credentials: None,
            visitor: Visitor::new(|_| {}),
            proxies: Proxies::default(),
            ask: Arc::new(|_| None),
        }
    }
}

/// Values may be secrets, so only the names are shown.
impl std::fmt::Debug for Surroundings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings")
            .field("variables", &self.variables.keys())
            .field("home", &self.home)
            .field("trust", &self.trust)
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}
