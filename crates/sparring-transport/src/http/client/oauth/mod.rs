//! Authorization with OAuth 2.1 (2026-07-28, basic/authorization, and the earlier revisions).
//! The authorization server is discovered when the server asks for a token. All exchanges are
//! recorded in the transcript.

mod auth_server_client;
mod authorizer;
mod challenge;
mod client;
mod credential_store;
mod discovery;
mod error;
mod login;
mod metadata;
mod obtain_token;
mod redirect_listener;
mod scopes;
mod token;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(super) use authorizer::{AuthAttempts, Authorizer};

/// OAuth settings, as plain data.
#[derive(Clone, PartialEq, Eq)]
pub struct OAuth {
    /// The grant to use.
    pub grant: Grant,
    /// The client id, if the authorization server knows us already.
    pub client_id: Option<String>,
    /// How the client authenticates.
    pub proof: Proof,
    /// The issuer of that client id (default: the first one that the server names, and only
    /// that one from then on).
    pub issuer: Option<String>,
    /// The https URL of a client metadata document, for authorization servers that support it
    /// (Client ID Metadata Documents).
    pub document: Option<String>,
    /// The scopes to request (default: those that the server asks for).
    pub scopes: Vec<String>,
    /// The redirect URL: `http` on this machine. Without a port, a free one is used.
    pub redirect: String,
    /// How long a login may take.
    pub patience: Duration,
    /// The file that stores tokens and registrations, if any.
    pub store: Option<PathBuf>,
    /// Opens the login page.
    pub visitor: Visitor,
}

/// The OAuth grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grant {
    /// A user logs in with a browser: authorization code with PKCE.
    #[default]
    Code,
    /// The client acts for itself: client credentials.
    ClientCredentials,
}

/// How a client authenticates.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum Proof {
    /// Without authentication.
    #[default]
    None,
    /// With a secret.
    Secret(String),
    /// With a signature of this key, in PEM (`private_key_jwt`).
    Key(String),
}

/// Opens the login page. Must not block.
#[derive(Clone)]
pub struct Visitor(Arc<dyn Fn(&str) + Send + Sync>);

impl Visitor {
    /// Opens the page with this function, which receives the URL.
    pub fn new(visit: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Visitor(Arc::new(visit))
    }

    fn visit(&self, url: &str) {
        (self.0)(url);
    }
}

impl OAuth {
    /// A user logs in at a page that `visitor` opens. All other settings have their defaults,
    /// and nothing is stored.
    pub fn code(visitor: Visitor) -> Self {
        OAuth {
            grant: Grant::Code,
            client_id: None,
            proof: Proof::None,
            issuer: None,
            document: None,
            scopes: Vec::new(),
            redirect: "http://127.0.0.1/callback".to_owned(),
            patience: Duration::from_secs(300),
            store: None,
            visitor,
        }
    }

    /// A client that the authorization server knows requests tokens for itself.
    pub fn client_credentials(client_id: impl Into<String>, proof: Proof) -> Self {
        OAuth {
            grant: Grant::ClientCredentials,
            client_id: Some(client_id.into()),
            proof,
            ..OAuth::code(Visitor::new(|_| {}))
        }
    }
}

impl PartialEq for Visitor {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Visitor {}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("grant", &self.grant)
            .field("client_id", &self.client_id)
            .field("proof", &self.proof)
            .field("issuer", &self.issuer)
            .field("document", &self.document)
            .field("scopes", &self.scopes)
            .field("redirect", &self.redirect)
            .field("patience", &self.patience)
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Proof {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Proof::None => "None",
            Proof::Secret(_) => "Secret(hidden)",
            Proof::Key(_) => "Key(hidden)",
        })
    }
}

impl fmt::Debug for Visitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visitor")
    }
}
