//! Endpoints and metadata of an issuer (RFC 8414; OpenID Connect Discovery).

use serde_json::{Value, json};

use super::authorization_server::AuthorizationServer;
use super::client::AuthMethod;

/// An endpoint of the issuer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Endpoint {
    Metadata,
    Keys,
    Authorize,
    Token,
    Register,
    Introspect,
    Revoke,
}

const ENDPOINTS: [(Endpoint, &str); 6] = [
    (Endpoint::Keys, "/jwks.json"),
    (Endpoint::Authorize, "/authorize"),
    (Endpoint::Token, "/token"),
    (Endpoint::Register, "/register"),
    (Endpoint::Introspect, "/introspect"),
    (Endpoint::Revoke, "/revoke"),
];

impl Endpoint {
    /// Returns its path below that of the issuer.
    pub(super) fn path(self) -> &'static str {
        let found = ENDPOINTS.iter().find(|(endpoint, _)| *endpoint == self);
        found.map_or("", |(_, path)| *path)
    }
}

impl AuthorizationServer {
    /// Returns the endpoint at a path. Both well-known paths of the metadata come before the path
    /// of the issuer. The path of OpenID may also come after it.
    pub(super) fn endpoint_at(&self, path: &str) -> Option<Endpoint> {
        let own = self.config.path.as_str();
        for known in
            ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]
        {
            if path.strip_prefix(known) == Some(own) {
                return Some(Endpoint::Metadata);
            }
        }
        let rest = path.strip_prefix(own)?;
        if rest == "/.well-known/openid-configuration" {
            return Some(Endpoint::Metadata);
        }
        let found = ENDPOINTS.iter().find(|(_, name)| *name == rest).map(|(endpoint, _)| *endpoint);
        found.filter(|endpoint| *endpoint != Endpoint::Register || self.config.registration)
    }

    pub(super) fn metadata(&self, origin: &str) -> Value {
        let issuer = self.issuer_at(origin);
        let at = |endpoint: Endpoint| format!("{issuer}{}", endpoint.path());
        let documents = self.config.clients.iter().any(|client| client.id.starts_with("https://"));
        let mut metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": at(Endpoint::Authorize),
            "token_endpoint": at(Endpoint::Token),
            "jwks_uri": at(Endpoint::Keys),
            "introspection_endpoint": at(Endpoint::Introspect),
            "revocation_endpoint": at(Endpoint::Revoke),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "client_credentials", "refresh_token"],
            "token_endpoint_auth_methods_supported": AuthMethod::ALL.map(AuthMethod::name),
            "token_endpoint_auth_signing_alg_values_supported":
                ["ES256", "ES384", "EdDSA", "RS256"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "client_id_metadata_document_supported": documents,
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self.key.algorithm()],
        });
        if self.config.registration {
            metadata["registration_endpoint"] = json!(at(Endpoint::Register));
        }
        if !self.config.scopes.is_empty() {
            metadata["scopes_supported"] = self.config.scopes.clone().into();
        }
        metadata
    }

    pub(super) fn jwks(&self) -> Value {
        json!({"keys": self.public.jwk().into_iter().collect::<Vec<_>>()})
    }
}
