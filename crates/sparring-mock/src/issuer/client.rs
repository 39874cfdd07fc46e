//! Clients of an issuer: their authentication methods and redirect URIs.

use std::fmt;

use http::Uri;
use sparring_transport::Secret;
use sparring_transport::http::jwt::PublicKey;

/// A client that the issuer knows.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) secret: Option<Secret>,
    pub(crate) key: Option<PublicKey>,
    /// Allowed redirect URIs; empty allows any on this machine.
    pub(crate) redirects: Vec<String>,
    /// The authentication method, if the client registered itself.
    pub(crate) method: Option<AuthMethod>,
    /// The grant types, if the client registered itself.
    pub(crate) grants: Option<Vec<String>>,
}

/// The authentication method of a client (RFC 7591, 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AuthMethod {
    None,
    Basic,
    Post,
    Key,
}

impl AuthMethod {
    pub(super) const ALL: [AuthMethod; 4] =
        [AuthMethod::None, AuthMethod::Basic, AuthMethod::Post, AuthMethod::Key];

    pub(super) fn name(self) -> &'static str {
        match self {
            AuthMethod::None => "none",
            AuthMethod::Basic => "client_secret_basic",
            AuthMethod::Post => "client_secret_post",
            AuthMethod::Key => "private_key_jwt",
        }
    }
}

impl Client {
    /// Compares a secret in constant time.
    pub(super) fn has_secret(&self, given: &str) -> bool {
        self.secret.as_ref().is_some_and(|own| own.matches(given.as_bytes()))
    }

    /// Returns true if the client has neither a secret nor a key.
    pub(super) fn is_public(&self) -> bool {
        self.secret.is_none() && self.key.is_none()
    }

    pub(super) fn allows_grant(&self, grant: &str) -> bool {
        self.grants.as_ref().is_none_or(|grants| grants.iter().any(|own| own == grant))
    }

    /// Returns true if the client may redirect to this URI.
    pub(super) fn allows_redirect(&self, address: &str) -> bool {
        match self.redirects.is_empty() {
            true => is_loopback(address),
            false => self.redirects.iter().any(|own| is_same_redirect(own, address)),
        }
    }
}

/// Shows the id, never the secret.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Returns the reason why a redirect URI cannot be used, if any (RFC 6749, 3.1.2).
pub(crate) fn redirect_problem(address: &str) -> Option<&'static str> {
    if !address.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some("a URL cannot contain these characters");
    }
    if address.contains('#') {
        return Some("a redirect URI cannot have a fragment");
    }
    let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        None | Some("") => Some("a redirect URI must be absolute"),
        Some("javascript" | "data" | "vbscript" | "file") => Some("this scheme is not allowed"),
        Some("http") if !is_loopback(address) => Some("http is allowed only on this machine"),
        Some("https") if address.parse::<Uri>().is_err() => Some("not a URL"),
        Some(_) => None,
    }
}

/// Returns true if a URI is http on this machine.
fn is_loopback(address: &str) -> bool {
    loopback_parts(address).is_some()
}

/// Returns true if two redirect URIs are equal. On this machine the port does not count, because
/// clients choose it late (RFC 8252, 7.3).
fn is_same_redirect(known: &str, given: &str) -> bool {
    known == given
        || loopback_parts(known).is_some_and(|known| Some(known) == loopback_parts(given))
}

/// Returns host and path of an http URI on this machine.
fn loopback_parts(address: &str) -> Option<(String, String)> {
    if has_forbidden_characters(address) {
        return None;
    }
    let uri: Uri = address.parse().ok()?;
    let host = uri.host()?.to_ascii_lowercase();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let is_local = host == "localhost"
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let is_plain_http = uri.scheme_str() == Some("http")
        && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    let rest = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    (is_local && is_plain_http).then_some((host, rest))
}

fn has_forbidden_characters(address: &str) -> bool {
    address.contains('#') || !address.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(redirects: &[&str]) -> Client {
        let redirects = redirects.iter().map(|it| (*it).to_owned()).collect();
        let id = "me".to_owned();
        Client { id, secret: None, key: None, redirects, method: None, grants: None }
    }

    #[test]
    fn allows_only_the_redirect_uris_of_the_client() {
        let known =
            client(&["http://127.0.0.1/back?x=1", "https://app.example.com/back", "app:/x"]);
        for good in [
            "http://127.0.0.1/back?x=1",
            "http://127.0.0.1:49152/back?x=1",
            "https://app.example.com/back",
            "app:/x",
        ] {
            assert!(known.allows_redirect(good), "{good}");
        }
        for bad in [
            "http://127.0.0.1/back",
            "http://127.0.0.1/back?x=1#y",
            "http://localhost/back?x=1",
            "http://127.0.0.1:1@evil.com/back?x=1",
            "http://me@127.0.0.1/back?x=1",
            "https://app.example.com:444/back",
            "https://app.example.com/back/",
            "https://app.example.com.evil.com/back",
            "https://127.0.0.1/back?x=1",
            "",
        ] {
            assert!(!known.allows_redirect(bad), "{bad}");
        }
        let open = client(&[]);
        for good in ["http://localhost:1/", "http://[::1]:9/back", "http://127.0.0.1:3/a?b"] {
            assert!(open.allows_redirect(good), "{good}");
        }
        for bad in ["http://evil.com/", "https://localhost/", "http://127.0.0.1.evil.com/", "app:/"]
        {
            assert!(!open.allows_redirect(bad), "{bad}");
        }
    }

    #[test]
    fn rejects_unusable_redirect_uris() {
        for good in ["http://localhost:1/a", "https://a.b/c", "com.example.app:/back"] {
            assert_eq!(redirect_problem(good), None, "{good}");
        }
        for bad in
            ["", "/back", "http://a.b/", "https://a.b/#c", "javascript:alert(1)", "http://a b/"]
        {
            assert!(redirect_problem(bad).is_some(), "{bad}");
        }
    }
}
