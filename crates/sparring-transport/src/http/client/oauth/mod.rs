//! Authorization with OAuth 2.1 (2026-07-28, basic/authorization, and the earlier revisions).
//! The authorization server is discovered when the server asks for a token. All exchanges are
//! recorded in the transcript.

mod auth_server_client;
mod authorizer;
mod bearer_challenge;
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

use crate::secrets::Secret;

pub(super) use authorizer::{AuthAttempts, Authorizer};

/// OAuth settings, as plain data.
#[derive(Clone, PartialEq, Eq)]
pub struct OAuth {
    /// The grant to use.
    pub grant: Grant,
    /// The client id, if the authorization server knows us already.
    pub client_id: Option<String>,
    /// The client's authentication.
    pub client_auth: ClientAuth,
    /// The issuer of that client id (default: the first one that the server names, and only
    /// that one from then on).
    pub issuer: Option<String>,
    /// The https URL of a client metadata document, for authorization servers that support it
    /// (Client ID Metadata Documents).
    pub client_metadata_url: Option<String>,
    /// The scopes to request (default: those that the server asks for).
    pub scopes: Vec<String>,
    /// The redirect URL: `http` on this machine. Without a port, a free one is used.
    pub redirect_url: String,
    /// The timeout of a login.
    pub login_timeout: Duration,
    /// The file that stores tokens and registrations, if any.
    pub store_path: Option<PathBuf>,
    /// Opens the login page.
    pub browser: BrowserOpener,
    /// If true, a server may name authorization servers whose addresses are nearer than its
    /// own: in a private network, on the local link, on this machine.
    pub allow_local: bool,
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

/// The authentication of a client.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum ClientAuth {
    /// Without authentication.
    #[default]
    None,
    /// With a secret.
    Secret(Secret),
    /// With a signature of this key, in PEM (`private_key_jwt`).
    Key(String),
}

/// Opens the login page. Must not block.
#[derive(Clone)]
pub struct BrowserOpener(Arc<dyn Fn(&str) + Send + Sync>);

impl BrowserOpener {
    /// Opens the page with this function, which receives the URL.
    pub fn new(visit: impl Fn(&str) + Send + Sync + 'static) -> Self {
        BrowserOpener(Arc::new(visit))
    }

    fn visit(&self, url: &str) {
        (self.0)(url);
    }
}

impl OAuth {
    /// A user logs in at a page that `browser` opens. All other settings have their defaults,
    /// and nothing is stored.
    pub fn authorization_code(browser: BrowserOpener) -> Self {
        OAuth {
            grant: Grant::Code,
            client_id: None,
            client_auth: ClientAuth::None,
            issuer: None,
            client_metadata_url: None,
            scopes: Vec::new(),
            redirect_url: "http://127.0.0.1/callback".to_owned(),
            login_timeout: Duration::from_secs(300),
            store_path: None,
            browser,
            allow_local: false,
        }
    }

    /// A client that the authorization server knows requests tokens for itself.
    pub fn client_credentials(client_id: impl Into<String>, client_auth: ClientAuth) -> Self {
        OAuth {
            grant: Grant::ClientCredentials,
            client_id: Some(client_id.into()),
            client_auth,
            ..OAuth::authorization_code(BrowserOpener::new(|_| {}))
        }
    }
}

impl PartialEq for BrowserOpener {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for BrowserOpener {}

impl fmt::Debug for OAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OAuth")
            .field("grant", &self.grant)
            .field("client_id", &self.client_id)
            .field("client_auth", &self.client_auth)
            .field("issuer", &self.issuer)
            .field("document", &self.client_metadata_url)
            .field("scopes", &self.scopes)
            .field("redirect", &self.redirect_url)
            .field("login_timeout", &self.login_timeout)
            .field("store", &self.store_path)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for ClientAuth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ClientAuth::None => "None",
            ClientAuth::Secret(_) => "Secret(hidden)",
            ClientAuth::Key(_) => "Key(hidden)",
        })
    }
}

impl fmt::Debug for BrowserOpener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Visitor")
    }
}
