//! Checks access tokens for a mock, the protected resource of its issuer.

use std::collections::HashMap;

use sparring_transport::http::TokenCheck;
use sparring_wire::Frame;

use super::Issuer;

/// Accepts access tokens of one issuer.
#[derive(Debug)]
pub(crate) struct TokenVerifier {
    pub(crate) issuer: Issuer,
    /// Scopes that every request needs.
    pub(crate) requires: Vec<String>,
    /// Scopes that a tool needs in addition.
    pub(crate) tools: HashMap<String, Vec<String>>,
}

impl TokenCheck for TokenVerifier {
    fn scopes_of(&self, token: &str, resource: &str) -> Result<Vec<String>, String> {
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

    fn needed(&self) -> &[String] {
        &self.requires
    }

    fn needed_for(&self, frame: &Frame) -> Vec<String> {
        if frame.method() == Some("tools/call") {
            let name = frame.params().and_then(|params| params.get("name")?.as_str());
            let needed = name.and_then(|name| self.tools.get(&*name));
            return needed.cloned().unwrap_or_default();
        }
        frame.batch().flat_map(|frame| self.needed_for(&frame)).collect()
    }
}
