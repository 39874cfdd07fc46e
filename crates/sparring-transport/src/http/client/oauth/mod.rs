//! Authorization by OAuth 2.1, as the protocol has it (2026-07-28,
//! basic/authorization, and what the revisions before it say): who gives the
//! tokens is found out when the server asks for one, and everything that is
//! said on the way is in the transcript.

mod authorizer;
mod challenge;
mod client;
mod code;
mod denied;
mod discovery;
mod jwt;
mod metadata;
mod obtain;
mod redirect;
mod scopes;
mod store;
mod token;
mod web;

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(super) use authorizer::{Authorizer, Tries};

/// How to be let in by OAuth, as plain data.
#[derive(Clone, PartialEq, Eq)]
pub struct OAuth {
    /// On whose behalf.
    pub grant: Grant,
    /// Who we are at the authorization server, if it knows us already.
    pub client_id: Option<String>,
    /// How we show that we are that client.
    pub proof: Proof,
    /// Who knows that client. If that is not said, it is whoever the server names
    /// first, and from then on nobody else.
    pub issuer: Option<String>,
    /// The https URL of a document that says who we are, for authorization
    /// servers that look there (Client ID Metadata Documents).
    pub document: Option<String>,
    /// What to ask for, instead of what the server says it needs.
    pub scopes: Vec<String>,
    /// Where the browser is to come back to: `http`, on this machine. Without a
    /// port, any that is free.
    pub redirect: String,
    /// How long somebody may take to log in.
    pub patience: Duration,
    /// The file in which tokens and registrations are kept, if they are.
    pub store: Option<PathBuf>,
    /// Who opens the page to log in at.
    pub visitor: Visitor,
}

/// On whose behalf a token is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Grant {
    /// On a person's, who logs in with a browser: authorization code and PKCE.
    #[default]
    Code,
    /// On our own: client credentials.
    ClientCredentials,
}

/// How a client shows that it is the one it says.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum Proof {
    /// Not at all.
    #[default]
    None,
    /// By a secret.
    Secret(String),
    /// By a signature with this key, in PEM (`private_key_jwt`).
    Key(String),
}

/// Who opens the page at which a person logs in. Must not block.
#[derive(Clone)]
pub struct Visitor(Arc<dyn Fn(&str) + Send + Sync>);

impl Visitor {
    /// Has the page opened by this function; it is given the URL.
    pub fn new(visit: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Visitor(Arc::new(visit))
    }

    fn visit(&self, url: &str) {
        (self.0)(url);
    }
}

impl OAuth {
    /// A person logs in, at a page that this visitor opens; everything else as
    /// it is by default. Nothing is kept.
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

    /// This client, known to the authorization server, asks for itself.
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
