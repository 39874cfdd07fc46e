//! Metadata documents of protected resources and authorization servers.

use serde::{Deserialize, Deserializer};

/// The metadata of a protected resource (RFC 9728, 2).
#[derive(Debug, Default, Deserialize)]
pub(super) struct ResourceMetadata {
    pub(super) resource: String,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) authorization_servers: Vec<String>,
    #[serde(default, deserialize_with = "or_default")]
    pub(super) scopes_supported: Vec<String>,
}

/// The metadata of an authorization server (RFC 8414, 2; OpenID Connect Discovery, 3).
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

/// Treats `null` like a missing field, as some servers write it.
fn or_default<'de, D, T>(value: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(Option::deserialize(value)?.unwrap_or_default())
}

/// The authorization server of a server.
#[derive(Debug, Clone)]
pub(super) struct Provider {
    /// The resource that the tokens are for.
    pub(super) resource: String,
    /// The scopes that the resource needs.
    pub(super) scopes: Vec<String>,
    pub(super) metadata: ServerMetadata,
    /// Set if the endpoints are guessed, since no metadata is published: the URLs that were
    /// tried.
    pub(super) guessed: Option<String>,
}

impl Provider {
    pub(super) fn issuer(&self) -> &str {
        &self.metadata.issuer
    }
}
