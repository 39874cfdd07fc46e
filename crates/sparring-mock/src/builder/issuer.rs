//! An issuer written in Rust: the keys of `auth: {oauth: …}`, read as those are.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};
use sparring_script::Source;

use super::StartError;
use crate::issuer::Issuer;
use crate::load::load_issuer;

/// An issuer to be.
#[derive(Clone, PartialEq)]
#[must_use = "a builder does nothing until it starts something"]
pub struct IssuerBuilder {
    said: Map<String, Value>,
    address: SocketAddr,
}

impl Default for IssuerBuilder {
    fn default() -> Self {
        IssuerBuilder { said: Map::new(), address: SocketAddr::from(([127, 0, 0, 1], 0)) }
    }
}

impl IssuerBuilder {
    /// Adds a client that shows by a secret who it is.
    pub fn client(self, id: &str, secret: &str) -> Self {
        self.and_client(json!({"id": id, "secret": secret}))
    }

    /// Adds a client that has no secret; its browsers may be sent there.
    pub fn public_client<T: Into<String>>(
        self,
        id: &str,
        redirects: impl IntoIterator<Item = T>,
    ) -> Self {
        let redirects: Vec<String> = redirects.into_iter().map(Into::into).collect();
        self.and_client(json!({"id": id, "redirect_uris": redirects}))
    }

    /// Names the scopes that there are.
    pub fn scopes<T: Into<String>>(self, scopes: impl IntoIterator<Item = T>) -> Self {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        self.with("scopes", scopes)
    }

    /// Says how long its tokens are good, in whole seconds.
    pub fn lifetime(self, lifetime: Duration) -> Self {
        self.with("lifetime", format!("{}ms", lifetime.as_millis()))
    }

    /// Sets any key that `oauth` of a script can have, but for those that say
    /// whom the mock lets in.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.said.insert(key.to_owned(), value.into());
        self
    }

    /// Puts it at this address, and not on a free port of 127.0.0.1.
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    fn and_client(mut self, client: Value) -> Self {
        let clients = self.said.entry("clients").or_insert_with(|| json!([]));
        if let Value::Array(clients) = clients {
            clients.push(client);
        }
        self
    }

    /// Starts it.
    ///
    /// # Errors
    /// When something of what was said is wrong, in the lines of the JSON that
    /// was built, or when the address cannot be listened on.
    pub async fn start(self) -> Result<Issuer, StartError> {
        let address = self.address;
        let source = Source::new("issuer", format!("{:#}", Value::Object(self.said)));
        let plan = load_issuer(&source, Path::new(""))?;
        let listening = Issuer::listen(plan, address).await;
        listening.map_err(|error| StartError::Listen { address, error })
    }
}

/// Says what was said something about, since there are secrets in it.
impl fmt::Debug for IssuerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&String> = self.said.keys().collect();
        f.debug_struct("IssuerBuilder").field("said", &keys).finish_non_exhaustive()
    }
}
