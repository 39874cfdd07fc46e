//! A mock as a protected resource: it lets in whoever has a token of its issuer.

use std::collections::HashMap;

use sparring_transport::http::TokenCheck;
use sparring_wire::Frame;

use super::Issuer;

/// Whom a mock lets in.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) issuer: Issuer,
    /// The scopes that everybody needs.
    pub(crate) requires: Vec<String>,
    /// Those that a tool needs besides.
    pub(crate) tools: HashMap<String, Vec<String>>,
}

impl TokenCheck for Door {
    fn scopes_of(&self, token: &str, resource: &str) -> Result<Vec<String>, String> {
        let core = &self.issuer.core;
        // After the scheme and two slashes the next one ends the origin.
        let slash = resource.match_indices('/').nth(2).map_or(resource.len(), |(at, _)| at);
        let origin = &resource[..slash];
        let known = core.known(token, origin)?;
        let here = [Some(origin.to_owned()), core.home()];
        let here: Vec<String> = here.into_iter().flatten().collect();
        let meant = |audience: &&str| here.iter().any(|origin| core.is_for(audience, origin));
        match known.audience().iter().any(meant) {
            true => Ok(known.scopes()),
            false => Err("it is for somebody else".to_owned()),
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
