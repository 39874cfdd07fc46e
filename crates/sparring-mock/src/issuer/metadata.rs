//! What an issuer publishes about itself (RFC 8414; OpenID Connect Discovery),
//! and where.

use serde_json::{Value, json};

use super::client::Method;
use super::core::Core;

/// What is at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Metadata,
    Keys,
    Authorize,
    Token,
    Register,
    Introspect,
    Revoke,
}

const ENDPOINTS: [(Place, &str); 6] = [
    (Place::Keys, "/jwks.json"),
    (Place::Authorize, "/authorize"),
    (Place::Token, "/token"),
    (Place::Register, "/register"),
    (Place::Introspect, "/introspect"),
    (Place::Revoke, "/revoke"),
];

impl Place {
    /// Its path behind that of the issuer.
    pub(super) fn path(self) -> &'static str {
        let found = ENDPOINTS.iter().find(|(place, _)| *place == self);
        found.map_or("", |(_, path)| *path)
    }
}

impl Core {
    /// What is there. The metadata has its own path before that of the issuer,
    /// and OpenID's also behind it.
    pub(super) fn place(&self, path: &str) -> Option<Place> {
        let own = self.plan.path.as_str();
        for known in
            ["/.well-known/oauth-authorization-server", "/.well-known/openid-configuration"]
        {
            if path.strip_prefix(known) == Some(own) {
                return Some(Place::Metadata);
            }
        }
        let rest = path.strip_prefix(own)?;
        if rest == "/.well-known/openid-configuration" {
            return Some(Place::Metadata);
        }
        let found = ENDPOINTS.iter().find(|(_, name)| *name == rest).map(|(place, _)| *place);
        found.filter(|place| *place != Place::Register || self.plan.registration)
    }

    pub(super) fn metadata(&self, origin: &str) -> Value {
        let issuer = self.name_at(origin);
        let at = |place: Place| format!("{issuer}{}", place.path());
        let documents = self.plan.clients.iter().any(|client| client.id.starts_with("https://"));
        let mut metadata = json!({
            "issuer": issuer,
            "authorization_endpoint": at(Place::Authorize),
            "token_endpoint": at(Place::Token),
            "jwks_uri": at(Place::Keys),
            "introspection_endpoint": at(Place::Introspect),
            "revocation_endpoint": at(Place::Revoke),
            "response_types_supported": ["code"],
            "response_modes_supported": ["query"],
            "grant_types_supported": ["authorization_code", "client_credentials", "refresh_token"],
            "token_endpoint_auth_methods_supported": Method::ALL.map(Method::name),
            "token_endpoint_auth_signing_alg_values_supported":
                ["ES256", "ES384", "EdDSA", "RS256"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "client_id_metadata_document_supported": documents,
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self.key.algorithm()],
        });
        if self.plan.registration {
            metadata["registration_endpoint"] = json!(at(Place::Register));
        }
        if !self.plan.scopes.is_empty() {
            metadata["scopes_supported"] = self.plan.scopes.clone().into();
        }
        metadata
    }

    pub(super) fn keys(&self) -> Value {
        json!({"keys": self.public.jwk().into_iter().collect::<Vec<_>>()})
    }
}
