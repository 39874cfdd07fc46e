//! Checks access tokens for a mock, the protected resource of its issuer.

use std::collections::HashMap;

use sparring_transport::http::TokenVerifier;
use sparring_wire::Frame;

use super::Issuer;

/// Accepts access tokens of one issuer.
#[derive(Debug)]
pub(crate) struct IssuerTokenVerifier {
    pub(crate) issuer: Issuer,
    /// Scopes that every request needs.
    pub(crate) requires: Vec<String>,
    /// Scopes that a tool needs in addition.
    pub(crate) tools: HashMap<String, Vec<String>>,
}

impl TokenVerifier for IssuerTokenVerifier {
    fn verify(&self, token: &str, resource: &str) -> Result<Vec<String>, String> {
        let server = &self.issuer.server;
        // The third slash of a URL ends its origin.
        let slash = resource.match_indices('/').nth(2).map_or(resource.len(), |(at, _)| at);
        let origin = &resource[..slash];
        let verified = server.verify(token, origin)?;
        let origins: Vec<String> =
            [Some(origin.to_owned()), server.own_origin()].into_iter().flatten().collect();
        let is_own_resource =
            |audience: &&str| origins.iter().any(|origin| server.is_own_resource(audience, origin));
        match verified.audience().iter().any(is_own_resource) {
            true => Ok(verified.scopes()),
            false => Err("it is for another audience".to_owned()),
        }
    }

    /// Every token of the same subject and client has the same owner, also after a renewal.
    fn owner(&self, token: &str) -> String {
        self.issuer.server.owner(token)
    }

    fn required_scopes(&self) -> &[String] {
        &self.requires
    }

    fn required_scopes_for(&self, frame: &Frame) -> Vec<String> {
        if frame.method() == Some("tools/call") {
            let name = frame.params().and_then(|params| params.get("name")?.as_str());
            let required_scopes = name.and_then(|name| self.tools.get(&*name));
            return required_scopes.cloned().unwrap_or_default();
        }
        frame.batch_items().flat_map(|frame| self.required_scopes_for(&frame)).collect()
    }
}
