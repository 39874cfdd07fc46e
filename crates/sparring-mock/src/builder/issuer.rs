//! Builds an issuer in Rust with the keys of `auth: {oauth: …}`.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use sparring_script::Source;

use super::StartError;
use crate::issuer::Issuer;
use crate::load::load_issuer;

/// Builds an [`Issuer`].
#[derive(Clone, PartialEq)]
#[must_use = "a builder does nothing until it starts something"]
pub struct IssuerBuilder {
    config: Map<String, Value>,
    address: SocketAddr,
}

impl Default for IssuerBuilder {
    fn default() -> Self {
        IssuerBuilder { config: Map::new(), address: SocketAddr::from(([127, 0, 0, 1], 0)) }
    }
}

impl IssuerBuilder {
    /// Adds a client with a secret.
    pub fn client(self, id: &str, secret: &str) -> Self {
        self.push_client(json!({"id": id, "secret": secret}))
    }

    /// Adds a client without a secret, with its redirect URIs.
    pub fn public_client<T: Into<String>>(
        self,
        id: &str,
        redirects: impl IntoIterator<Item = T>,
    ) -> Self {
        let redirects: Vec<String> = redirects.into_iter().map(Into::into).collect();
        self.push_client(json!({"id": id, "redirect_uris": redirects}))
    }

    /// Sets the scopes that it knows.
    pub fn scopes<T: Into<String>>(self, scopes: impl IntoIterator<Item = T>) -> Self {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        self.with("scopes", scopes)
    }

    /// Sets the lifetime of its tokens, in whole seconds.
    pub fn lifetime(self, lifetime: Duration) -> Self {
        self.with("lifetime", format!("{}ms", lifetime.as_millis()))
    }

    /// Sets any key of `oauth`, except `requires` and `tools`.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.config.insert(key.to_owned(), value.into());
        self
    }

    /// Sets the address to listen on (default: a free port of 127.0.0.1).
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    fn push_client(mut self, client: Value) -> Self {
        let clients = self.config.entry("clients").or_insert_with(|| json!([]));
        if let Value::Array(clients) = clients {
            clients.push(client);
        }
        self
    }

    /// Starts the issuer.
    ///
    /// # Errors
    /// If a value is wrong, with positions in the generated JSON, or if it cannot listen on the
    /// address.
    pub async fn start(self) -> Result<Issuer, StartError> {
        let address = self.address;
        let source = Source::new("issuer", format!("{:#}", Value::Object(self.config)));
        let issuer = load_issuer(&source, Path::new(""))?;
        let listening = Issuer::listen(issuer, address).await;
        listening.map_err(|error| StartError::Listen { address, error })
    }
}

/// Shows only the keys, since values may be secret.
impl fmt::Debug for IssuerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&String> = self.config.keys().collect();
        f.debug_struct("IssuerBuilder").field("keys", &keys).finish_non_exhaustive()
    }
}
