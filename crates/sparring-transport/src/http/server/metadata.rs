//! The server's metadata as a protected resource (RFC 9728).

use http::{HeaderMap, header};
use serde_json::json;

/// The well-known path of the metadata; the resource's path may follow.
pub(super) const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// A protected resource and its authorization servers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProtectedResource {
    /// Its URL (default: the URL of the request).
    pub resource: Option<String>,
    /// Its authorization servers; a path means the same origin.
    pub authorization_servers: Vec<String>,
    /// The scopes that its tokens may have.
    pub scopes: Vec<String>,
}

impl ProtectedResource {
    /// Returns the metadata as JSON.
    pub(super) fn document(&self, headers: &HeaderMap, path: &str) -> String {
        let address = self.resource_url(headers, path);
        let here = |name: &String| match name.starts_with('/') {
            true => format!("{}{}", split_origin(&address).0, name.trim_end_matches('/')),
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

    /// Returns the URL of the metadata: the resource's path follows the well-known path (RFC
    /// 9728, 3.1).
    pub(super) fn metadata_url(&self, headers: &HeaderMap, path: &str) -> String {
        let address = self.resource_url(headers, path);
        let (origin, path) = split_origin(&address);
        format!("{origin}{WELL_KNOWN}{path}")
    }

    /// Returns true if the metadata is served at this suffix of the well-known path; `paths`
    /// are those of the server.
    pub(super) fn is_served_at(&self, suffix: &str, paths: &[&str]) -> bool {
        let own = self.resource.as_deref().map(|resource| split_origin(resource).1);
        suffix.is_empty() || paths.contains(&suffix) || own == Some(suffix)
    }

    /// Returns the URL of the resource, for a request with these headers and this path.
    pub(super) fn resource_url(&self, headers: &HeaderMap, path: &str) -> String {
        match &self.resource {
            Some(resource) => resource.clone(),
            None => {
                let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
                // The value is put between quotes.
                let host = host.filter(|host| host.bytes().all(is_host_byte));
                format!("http://{}{path}", host.unwrap_or("localhost"))
            }
        }
    }
}

/// Splits a URL into its origin and its path without a trailing slash.
fn split_origin(address: &str) -> (&str, &str) {
    let rest = address.find("://").map_or(0, |colon| colon + 3);
    let slash = address[rest..].find('/').map_or(address.len(), |slash| rest + slash);
    (&address[..slash], address[slash..].trim_end_matches('/'))
}

fn is_host_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:[]%".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_metadata_url_ends_with_the_path_of_the_resource() {
        let url = |resource: &str| {
            let resource =
                ProtectedResource { resource: Some(resource.to_owned()), ..Default::default() };
            resource.metadata_url(&HeaderMap::new(), "/mcp")
        };
        assert_eq!(url("https://a.b/mcp"), format!("https://a.b{WELL_KNOWN}/mcp"));
        assert_eq!(url("https://a.b/"), format!("https://a.b{WELL_KNOWN}"));
        assert_eq!(url("https://a.b:1"), format!("https://a.b:1{WELL_KNOWN}"));
    }
}
