//! The clients of an issuer: how they show who they are, and where their
//! browsers may be sent.

use std::fmt;

use http::Uri;
use sparring_transport::http::jwt::PublicKey;
use subtle::ConstantTimeEq as _;

/// A client, as an issuer knows it.
#[derive(Clone)]
pub(crate) struct Client {
    pub(crate) id: String,
    pub(crate) secret: Option<String>,
    pub(crate) key: Option<PublicKey>,
    /// Where a browser may be sent; where none are named, anywhere on this
    /// machine.
    pub(crate) redirects: Vec<String>,
    /// How it said that it would show who it is, if it registered itself.
    pub(crate) method: Option<Method>,
    /// What it said that it would ask by, if it registered itself.
    pub(crate) grants: Option<Vec<String>>,
}

/// How a client shows who it is (RFC 7591, 2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    None,
    Basic,
    Post,
    Key,
}

impl Method {
    pub(super) const ALL: [Method; 4] = [Method::None, Method::Basic, Method::Post, Method::Key];

    pub(super) fn name(self) -> &'static str {
        match self {
            Method::None => "none",
            Method::Basic => "client_secret_basic",
            Method::Post => "client_secret_post",
            Method::Key => "private_key_jwt",
        }
    }
}

impl Client {
    /// Whether that is its secret.
    pub(super) fn has_secret(&self, given: &str) -> bool {
        let own = self.secret.as_deref();
        own.is_some_and(|own| own.as_bytes().ct_eq(given.as_bytes()).into())
    }

    /// Whether anybody may say to be this client.
    pub(super) fn is_public(&self) -> bool {
        self.secret.is_none() && self.key.is_none()
    }

    pub(super) fn may_ask_by(&self, grant: &str) -> bool {
        self.grants.as_ref().is_none_or(|grants| grants.iter().any(|own| own == grant))
    }

    /// Whether a browser may be sent there.
    pub(super) fn may_go_to(&self, address: &str) -> bool {
        match self.redirects.is_empty() {
            true => is_at_home(address),
            false => self.redirects.iter().any(|own| is_same(own, address)),
        }
    }
}

/// Says who it is, never its secret.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Why nobody may be sent there, if so (RFC 6749, 3.1.2).
pub(crate) fn unfit(address: &str) -> Option<&'static str> {
    if !address.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Some("it has characters that no URL has");
    }
    if address.contains('#') {
        return Some("it has a fragment");
    }
    let scheme = address.split_once(':').map(|(scheme, _)| scheme.to_ascii_lowercase());
    match scheme.as_deref() {
        None | Some("") => Some("it is not absolute"),
        Some("javascript" | "data" | "vbscript" | "file") => Some("nobody is sent there"),
        Some("http") if !is_at_home(address) => Some("http is only for this machine"),
        Some("https") if address.parse::<Uri>().is_err() => Some("it is no URL"),
        Some(_) => None,
    }
}

/// Whether an address is on this machine, by http.
fn is_at_home(address: &str) -> bool {
    parts(address).is_some()
}

/// Whether both are one, except for the port on this machine, which is chosen
/// late (RFC 8252, 7.3).
fn is_same(known: &str, given: &str) -> bool {
    known == given || parts(known).is_some_and(|known| Some(known) == parts(given))
}

/// Of an address on this machine the name of the machine and what follows.
fn parts(address: &str) -> Option<(String, String)> {
    if unfit_for_header(address) {
        return None;
    }
    let uri: Uri = address.parse().ok()?;
    let host = uri.host()?.to_ascii_lowercase();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let here = host == "localhost"
        || bare.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback());
    let plain = uri.scheme_str() == Some("http")
        && uri.authority().is_some_and(|authority| !authority.as_str().contains('@'));
    let rest = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    (here && plain).then_some((host, rest))
}

fn unfit_for_header(address: &str) -> bool {
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
    fn a_browser_is_sent_only_where_the_client_said() {
        let known =
            client(&["http://127.0.0.1/back?x=1", "https://app.example.com/back", "app:/x"]);
        for good in [
            "http://127.0.0.1/back?x=1",
            "http://127.0.0.1:49152/back?x=1",
            "https://app.example.com/back",
            "app:/x",
        ] {
            assert!(known.may_go_to(good), "{good}");
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
            assert!(!known.may_go_to(bad), "{bad}");
        }
        let open = client(&[]);
        for good in ["http://localhost:1/", "http://[::1]:9/back", "http://127.0.0.1:3/a?b"] {
            assert!(open.may_go_to(good), "{good}");
        }
        for bad in ["http://evil.com/", "https://localhost/", "http://127.0.0.1.evil.com/", "app:/"]
        {
            assert!(!open.may_go_to(bad), "{bad}");
        }
    }

    #[test]
    fn what_is_registered_must_be_somewhere_to_go() {
        for good in ["http://localhost:1/a", "https://a.b/c", "com.example.app:/back"] {
            assert_eq!(unfit(good), None, "{good}");
        }
        for bad in
            ["", "/back", "http://a.b/", "https://a.b/#c", "javascript:alert(1)", "http://a b/"]
        {
            assert!(unfit(bad).is_some(), "{bad}");
        }
    }
}
