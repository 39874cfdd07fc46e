//! URLs in metadata and challenges, as far as the rules of authorization compare them.

use std::net::IpAddr;

/// An absolute URL with the scheme `http` or `https`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WebUrl {
    is_https: bool,
    /// In lower case, without brackets.
    host: String,
    port: u16,
    path: String,
    pub(super) has_fragment: bool,
}

impl WebUrl {
    /// Parses a text. Returns `None` if it is not an absolute URL with the scheme `http` or
    /// `https`.
    pub(super) fn parse(text: &str) -> Option<WebUrl> {
        let (scheme, rest) = text.split_once("://")?;
        let is_https = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        if text.contains(|c: char| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let (authority, rest) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) = match authority.strip_prefix('[') {
            Some(address) => {
                let (address, after) = address.split_once(']')?;
                (address, after.strip_prefix(':'))
            }
            None => match authority.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (authority, None),
            },
        };
        let port = match port {
            Some(port) => port.parse().ok()?,
            None if is_https => 443,
            None => 80,
        };
        let path = &rest[..rest.find(['?', '#']).unwrap_or(rest.len())];
        (!host.is_empty()).then(|| WebUrl {
            is_https,
            host: host.to_ascii_lowercase(),
            port,
            path: path.trim_end_matches('/').to_owned(),
            has_fragment: rest.contains('#'),
        })
    }

    /// Returns the path without a slash at its end.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns the URL without its path.
    pub(super) fn origin(&self) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        match self.host.contains(':') {
            true => format!("{scheme}://[{}]:{}", self.host, self.port),
            false => format!("{scheme}://{}:{}", self.host, self.port),
        }
    }

    /// Returns true for HTTPS, and on the loopback interface.
    pub(super) fn is_secure(&self) -> bool {
        self.is_https || self.is_loopback()
    }

    /// Returns true if the host is this machine.
    pub(super) fn is_loopback(&self) -> bool {
        let is_address = self.host.parse().is_ok_and(|it: IpAddr| it.is_loopback());
        is_address || self.host == "localhost" || self.host.ends_with(".localhost")
    }

    /// Returns true if a client that connects to the other URL accepts this one as the name of
    /// its resource: the origins are equal, and the path is the beginning of the other's.
    pub(super) fn covers(&self, other: &WebUrl) -> bool {
        let same_host = self.host == other.host || self.is_loopback() && other.is_loopback();
        let same_origin = same_host && (self.is_https, self.port) == (other.is_https, other.port);
        let rest = other.path.strip_prefix(&self.path);
        same_origin && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_absolute_urls() {
        for (text, origin, path) in [
            ("HTTPS://Example.org/a/?x#y", "https://example.org:443", "/a"),
            ("http://[::1]:9", "http://[::1]:9", ""),
            ("http://me:secret@localhost:80/", "http://localhost:80", ""),
        ] {
            let url = WebUrl::parse(text).unwrap();
            assert_eq!((url.origin().as_str(), url.path()), (origin, path));
        }
        for text in ["example.org", "/a", "ftp://a", "http://", "http://a b", "http://a:x/", ""] {
            assert_eq!(WebUrl::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_resource_covers_the_paths_below_it() {
        for (resource, server, expected) in [
            ("http://127.0.0.1:1/mcp", "http://localhost:1/mcp", true),
            ("https://a", "https://A:443/x/mcp", true),
            ("https://a/x/", "https://a/x", true),
            ("https://a/x", "https://a/xy", false),
            ("https://b/x", "https://a/x", false),
            ("https://a/x", "http://a/x", false),
        ] {
            let [resource, server] = [resource, server].map(|it| WebUrl::parse(it).unwrap());
            assert_eq!(resource.covers(&server), expected, "{resource:?} {server:?}");
        }
    }
}
