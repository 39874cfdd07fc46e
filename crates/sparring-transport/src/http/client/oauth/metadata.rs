//! The documents that say who gives the tokens, and how.

use serde::{Deserialize, Deserializer};

/// A protected resource's (RFC 9728, 2).
#[derive(Debug, Default, Deserialize)]
pub(super) struct ResourceMetadata {
    pub(super) resource: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) authorization_servers: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) scopes_supported: Vec<String>,
}

/// An authorization server's (RFC 8414, 2; OpenID Connect Discovery, 3).
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct ServerMetadata {
    pub(super) issuer: String,
    #[serde(default)]
    pub(super) authorization_endpoint: Option<String>,
    pub(super) token_endpoint: String,
    #[serde(default)]
    pub(super) registration_endpoint: Option<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) scopes_supported: Vec<String>,
    #[serde(default)]
    pub(super) grant_types_supported: Option<Vec<String>>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) code_challenge_methods_supported: Vec<String>,
    #[serde(default)]
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    #[serde(default)]
    pub(super) token_endpoint_auth_signing_alg_values_supported: Option<Vec<String>>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) authorization_response_iss_parameter_supported: bool,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) client_id_metadata_document_supported: bool,
}

/// Reads a field that some write as `null` where they mean to leave it out.
fn or_default<'de, D, T>(value: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(value)?.unwrap_or_default())
}

/// Who gives the tokens for a server.
#[derive(Debug, Clone)]
pub(super) struct Provider {
    /// The name of what the tokens are for.
    pub(super) resource: String,
    /// What that says it needs.
    pub(super) scopes: Vec<String>,
    pub(super) metadata: ServerMetadata,
    /// Set if it is only guessed, since nobody publishes anything: what was
    /// looked at in vain.
    pub(super) guessed: Option<String>,
}

impl Provider {
    pub(super) fn issuer(&self) -> &str {
        &self.metadata.issuer
    }
}
