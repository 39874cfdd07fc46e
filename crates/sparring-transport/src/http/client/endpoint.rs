//! Where a server is: a URL taken apart as far as HTTP needs it.

use std::fmt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use http::uri::PathAndQuery;

/// Why a text is no address of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url:?} is not a URL of a server: {reason}")]
pub struct BadUrl {
    /// The text, without credentials.
    pub url: String,
    /// What is wrong with it.
    pub reason: String,
}

/// A URL, taken apart.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) origin: Origin,
    pub(super) path: PathAndQuery,
}

/// Scheme, host and port; or a socket.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    Tcp { tls: bool, host: String, port: u16 },
    Unix(PathBuf),
}

impl Endpoint {
    /// Takes a URL apart, and gives the credentials that stood in it, as
    /// basic authentication writes them.
    ///
    /// `http+unix://` has the percent-encoded path of a socket in the place of
    /// the host, as other programs write it.
    pub(super) fn parse(url: &str) -> Result<(Endpoint, Option<String>), BadUrl> {
        let bad = |reason: &str| BadUrl { url: shown(url), reason: reason.to_owned() };
        if let Some(rest) = url.strip_prefix("http+unix://") {
            let (socket, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let socket = percent_decoded(socket).filter(|path| !path.is_empty());
            let socket =
                socket.ok_or_else(|| bad("expected http+unix://%2Fpath%2Fof%2Fsocket/"))?;
            let path = if path.is_empty() { "/" } else { path };
            let path = path.parse().map_err(|_| bad("the path is not one"))?;
            return Ok((Endpoint { origin: Origin::Unix(socket.into()), path }, None));
        }
        if !url.contains("://") {
            return Err(bad("it must begin with http:// or https://"));
        }
        let uri: Uri =
            url.parse().map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(other) => return Err(bad(&format!("the scheme {other} is not known"))),
            None => return Err(bad("it has no scheme")),
        };
        let host =
            uri.host().filter(|host| !host.is_empty()).ok_or_else(|| bad("it has no host"))?;
        let authority = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
        let port = match uri.port() {
            Some(port) => port.as_u16(),
            // One that is too large is not given at all.
            None if authority.ends_with(|c: char| c.is_ascii_digit())
                && !authority.ends_with(host) =>
            {
                return Err(bad("the port is not one"));
            }
            None if tls => 443,
            None => 80,
        };
        let credentials = match authority.rsplit_once('@') {
            Some((before, _)) => {
                let text = percent_decoded(before).ok_or_else(|| bad("the credentials"))?;
                Some(basic(&text))
            }
            None => None,
        };
        let path = uri.path_and_query().cloned();
        let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
        let origin = Origin::Tcp { tls, host: host.to_ascii_lowercase(), port };
        Ok((Endpoint { origin, path }, credentials))
    }

    /// What a reference in an answer of this endpoint leads to.
    pub(super) fn join(&self, reference: &str) -> Result<Endpoint, BadUrl> {
        let absolute = reference.split_once("://").is_some_and(|(scheme, _)| {
            scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c))
        });
        if absolute {
            return Ok(Endpoint::parse(reference)?.0);
        }
        if let Some(rest) = reference.strip_prefix("//") {
            let scheme = match self.origin {
                Origin::Tcp { tls: true, .. } => "https",
                _ => "http",
            };
            return Ok(Endpoint::parse(&format!("{scheme}://{rest}"))?.0);
        }
        let path = match reference.as_bytes().first() {
            Some(b'/') => reference.to_owned(),
            Some(b'?') => format!("{}{reference}", self.path.path()),
            _ => {
                let own = self.path.path();
                format!("{}{reference}", &own[..own.rfind('/').map_or(0, |end| end + 1)])
            }
        };
        let path = without_dots(&path).parse().map_err(|_| BadUrl {
            url: shown(reference),
            reason: "the path is not one".to_owned(),
        })?;
        Ok(Endpoint { origin: self.origin.clone(), path })
    }

    /// What the header `Host` says.
    pub(super) fn host(&self) -> String {
        match &self.origin {
            Origin::Tcp { tls: false, host, port: 80 }
            | Origin::Tcp { tls: true, host, port: 443 } => host.clone(),
            Origin::Tcp { host, port, .. } => format!("{host}:{port}"),
            Origin::Unix(_) => "localhost".to_owned(),
        }
    }
}

impl Origin {
    /// The origin as the URI that a connector takes.
    pub(super) fn uri(&self) -> Result<Uri, http::uri::InvalidUri> {
        self.to_string().parse()
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Tcp { tls, host, port } => {
                let (scheme, usual) = if *tls { ("https", 443) } else { ("http", 80) };
                match *port == usual {
                    true => write!(f, "{scheme}://{host}"),
                    false => write!(f, "{scheme}://{host}:{port}"),
                }
            }
            Origin::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// As it may be shown: what stands behind the `?` may be a secret, so only its
/// names are.
impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.origin, self.path.path())?;
        for (index, pair) in
            self.path.query().into_iter().flat_map(|all| all.split('&')).enumerate()
        {
            let before = if index == 0 { '?' } else { '&' };
            match pair.split_once('=') {
                Some((name, _)) => write!(f, "{before}{name}=…")?,
                None => write!(f, "{before}…")?,
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Endpoint({self})")
    }
}

/// Credentials as basic authentication writes them.
pub(super) fn basic(user_and_password: &str) -> String {
    format!("Basic {}", STANDARD.encode(user_and_password))
}

/// Whether that is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// A URL without what may be secret in it.
pub(super) fn shown(url: &str) -> String {
    let url = match url.find(['?', '#']) {
        Some(end) => &format!("{}…", &url[..=end]),
        None => url,
    };
    let (scheme, rest) = url.split_at(url.find("://").map_or(0, |end| end + 3));
    let end = rest.find('/').unwrap_or(rest.len());
    match rest[..end].rfind('@') {
        Some(at) => format!("{scheme}{}", &rest[at + 1..]),
        None => url.to_owned(),
    }
}

/// A path without the segments that only lead about in it (RFC 3986, 5.2.4).
fn without_dots(path: &str) -> String {
    let (path, query) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
    let mut kept: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(kept.pop()),
            segment => kept.push(segment),
        }
    }
    if path.ends_with("/.") || path.ends_with("/..") {
        kept.push("");
    }
    format!("/{}{query}", kept.join("/"))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::new();
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => {
                let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
                let (high, low) = (digit(bytes.next())?, digit(bytes.next())?);
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, shown: &str, host: &str) {
        let (endpoint, _) = Endpoint::parse(url).expect("a URL");
        assert_eq!((endpoint.to_string().as_str(), endpoint.host().as_str()), (shown, host));
    }

    #[test]
    fn urls_are_taken_apart() {
        check("http://Example.org", "http://example.org/", "example.org");
        check("https://a:8443/mcp?x=1&y", "https://a:8443/mcp?x=…&…", "a:8443");
        check("http://[::1]:9/mcp", "http://[::1]:9/mcp", "[::1]:9");
        check("http://a#part", "http://a/", "a");
        check("http://a/%25%2F?#part", "http://a/%25%2F?…", "a");
        check("http://me:1@127.0.0.1/", "http://127.0.0.1/", "127.0.0.1");
        check("http+unix://%2Ftmp%2Fa.sock/mcp", "/tmp/a.sock/mcp", "localhost");
    }

    #[test]
    fn credentials_in_a_url_are_taken_out_of_it() {
        let (endpoint, credentials) = Endpoint::parse("http://me:p%40ss@a/mcp").expect("a URL");
        assert_eq!(credentials, Some(basic("me:p@ss")));
        assert!(!format!("{endpoint:?} {endpoint}").contains("ss@"));
        let bad = Endpoint::parse("ftp://me:secret@a/mcp").expect_err("not over ftp");
        assert!(!bad.to_string().contains("secret"), "{bad}");
        let (base, _) = Endpoint::parse("http://a/mcp").expect("a URL");
        for reference in ["/a b?token=secret", "/a b#secret"] {
            let bad = base.join(reference).expect_err("no path");
            assert!(!bad.to_string().contains("secret"), "{bad}");
        }
        let shown =
            ["me:secret@a/mcp", "http://me:secret@a", "a?secret", "http://a/#secret"].map(shown);
        assert_eq!(shown, ["a/mcp", "http://a", "a?…", "http://a/#…"]);
    }

    #[test]
    fn what_is_no_url_says_why() {
        for (url, why) in [
            ("localhost:3000/mcp", "must begin with"),
            ("/mcp", "must begin with"),
            ("http://", "empty"),
            ("ws://a", "scheme ws"),
            ("http://127.0.0.1:99999/mcp", "the port is not one"),
            ("http://[::1]:99999/mcp", "the port is not one"),
            ("http+unix:///mcp", "expected http+unix"),
        ] {
            let bad = Endpoint::parse(url).expect_err("no URL").to_string();
            assert!(bad.contains(why), "{url}: {bad}");
        }
    }

    #[test]
    fn references_are_joined() {
        let (base, _) = Endpoint::parse("http://a:1/x/sse?y").expect("a URL");
        for (reference, joined) in [
            ("/messages?id=1", "http://a:1/messages?id=…"),
            ("messages", "http://a:1/x/messages"),
            ("?id=1", "http://a:1/x/sse?id=…"),
            ("https://b/m", "https://b/m"),
            ("//b/m", "http://b/m"),
            ("../messages?id=../1", "http://a:1/messages?id=…"),
            ("./messages", "http://a:1/x/messages"),
            ("../../..", "http://a:1/"),
            ("/a/./b//c/", "http://a:1/a/b//c/"),
            ("m#part", "http://a:1/x/m"),
        ] {
            assert_eq!(base.join(reference).expect("a reference").to_string(), joined);
        }
    }
}
