//! What a server says of itself as a protected resource (RFC 9728), and where.

use http::{HeaderMap, header};
use serde_json::json;

/// Where the metadata is, followed by the path of the resource or by nothing.
pub(super) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A protected resource: who it is, and who gives tokens for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProtectedResource {
    /// Its address; where none is given, the one that it was asked at.
    pub resource: Option<String>,
    /// Who gives tokens for it; a path is one at the same origin.
    pub authorization_servers: Vec<String>,
    /// The scopes that its tokens may have.
    pub scopes: Vec<String>,
}

impl ProtectedResource {
    /// The metadata as JSON.
    pub(super) fn document(&self, headers: &HeaderMap, path: &str) -> String {
        let address = self.address(headers, path);
        let here = |name: &String| match name.starts_with('/') {
            true => format!("{}{}", split(&address).0, name.trim_end_matches('/')),
            false => name.clone(),
        };
        let servers: Vec<_> = self.authorization_servers.iter().map(here).collect();
        let mut document = json!({
            "resource": address,
            "authorization_servers": servers,
            "bearer_methods_supported": ["header"],
        });
        if !self.scopes.is_empty() {
            document["scopes_supported"] = self.scopes.clone().into();
        }
        document.to_string()
    }

    /// Where the metadata of the resource is: its path is put behind the well
    /// known one (RFC 9728, 3.1).
    pub(super) fn url(&self, headers: &HeaderMap, path: &str) -> String {
        let address = self.address(headers, path);
        let (origin, path) = split(&address);
        format!("{origin}{WELL_KNOWN}{path}")
    }

    /// Whether the metadata is there where that follows the well known path;
    /// the server is at these paths.
    pub(super) fn is_at(&self, suffix: &str, paths: &[&str]) -> bool {
        let own = self.resource.as_deref().map(|resource| split(resource).1);
        suffix.is_empty() || paths.contains(&suffix) || own == Some(suffix)
    }

    /// The name of the resource, asked at that path.
    pub(super) fn address(&self, headers: &HeaderMap, path: &str) -> String {
        match &self.resource {
            Some(resource) => resource.clone(),
            None => {
                let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
                // It is to stand between quotes.
                let host = host.filter(|host| host.bytes().all(is_of_a_host));
                format!("http://{}{path}", host.unwrap_or("localhost"))
            }
        }
    }
}

/// The origin of an address, and its path without the slash at its end.
fn split(address: &str) -> (&str, &str) {
    let rest = address.find("://").map_or(0, |colon| colon + 3);
    let slash = address[rest..].find('/').map_or(address.len(), |slash| rest + slash);
    (&address[..slash], address[slash..].trim_end_matches('/'))
}

fn is_of_a_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:[]%".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_has_the_path_of_the_resource_behind_it() {
        let url = |resource: &str| {
            let resource =
                ProtectedResource { resource: Some(resource.to_owned()), ..Default::default() };
            resource.url(&HeaderMap::new(), "/mcp")
        };
        assert_eq!(url("https://a.b/mcp"), format!("https://a.b{WELL_KNOWN}/mcp"));
        assert_eq!(url("https://a.b/"), format!("https://a.b{WELL_KNOWN}"));
        assert_eq!(url("https://a.b:1"), format!("https://a.b:1{WELL_KNOWN}"));
    }
}
