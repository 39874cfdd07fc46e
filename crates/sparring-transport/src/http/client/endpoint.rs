//! URLs of servers, parsed as far as HTTP needs it.

use std::fmt;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::Uri;
use http::uri::PathAndQuery;

/// A text that is not the URL of a server.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{url:?} is not a server URL: {reason}")]
pub struct InvalidUrl {
    /// The text, without credentials.
    pub url: String,
    /// The problem with it.
    pub reason: String,
}

/// A parsed URL.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Endpoint {
    pub(super) origin: Origin,
    pub(super) path: PathAndQuery,
}

/// Scheme, host and port, or a socket.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Origin {
    Tcp { tls: bool, host: String, port: u16 },
    Unix(PathBuf),
}

impl Endpoint {
    /// Parses a URL. Also returns the credentials in it, in the form of basic authentication.
    ///
    /// `http+unix://` has the percent-encoded path of a socket instead of the host, as in other
    /// programs.
    pub(super) fn parse(url: &str) -> Result<(Endpoint, Option<String>), InvalidUrl> {
        let bad = |reason: &str| InvalidUrl { url: redact_url(url), reason: reason.to_owned() };
        if let Some(rest) = url.strip_prefix("http+unix://") {
            let (socket, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let socket = percent_decode(socket).filter(|path| !path.is_empty());
            let socket =
                socket.ok_or_else(|| bad("expected http+unix://%2Fpath%2Fof%2Fsocket/"))?;
            let path = if path.is_empty() { "/" } else { path };
            let path = path.parse().map_err(|_| bad("invalid path"))?;
            return Ok((Endpoint { origin: Origin::Unix(socket.into()), path }, None));
        }
        if !url.contains("://") {
            return Err(bad("it must start with http:// or https://"));
        }
        let uri: Uri =
            url.parse().map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(other) => return Err(bad(&format!("unknown scheme {other}"))),
            None => return Err(bad("no scheme")),
        };
        let host = uri.host().filter(|host| !host.is_empty()).ok_or_else(|| bad("no host"))?;
        let authority = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
        let port = match uri.port() {
            Some(port) => port.as_u16(),
            // `Uri` reports no port if the number is too large.
            None if authority.ends_with(|c: char| c.is_ascii_digit())
                && !authority.ends_with(host) =>
            {
                return Err(bad("invalid port"));
            }
            None if tls => 443,
            None => 80,
        };
        let credentials = match authority.rsplit_once('@') {
            Some((before, _)) => {
                let text = percent_decode(before).ok_or_else(|| bad("invalid credentials"))?;
                Some(basic_credentials(&text))
            }
            None => None,
        };
        let path = uri.path_and_query().cloned();
        let path = path.unwrap_or_else(|| PathAndQuery::from_static("/"));
        let origin = Origin::Tcp { tls, host: host.to_ascii_lowercase(), port };
        Ok((Endpoint { origin, path }, credentials))
    }

    /// Resolves a reference in a response of this endpoint.
    pub(super) fn join(&self, reference: &str) -> Result<Endpoint, InvalidUrl> {
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
        let path = remove_dot_segments(&path).parse().map_err(|_| InvalidUrl {
            url: redact_url(reference),
            reason: "invalid path".to_owned(),
        })?;
        Ok(Endpoint { origin: self.origin.clone(), path })
    }

    /// Returns the value of the `Host` header.
    pub(super) fn host_header(&self) -> String {
        match &self.origin {
            Origin::Tcp { tls: false, host, port: 80 }
            | Origin::Tcp { tls: true, host, port: 443 } => host.clone(),
            Origin::Tcp { host, port, .. } => format!("{host}:{port}"),
            Origin::Unix(_) => "localhost".to_owned(),
        }
    }
}

impl Origin {
    /// Returns the origin as a URI.
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

/// Safe to show: values in the query may be secrets, so only the names are shown.
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

/// Formats credentials for basic authentication.
pub(super) fn basic_credentials(user_and_password: &str) -> String {
    format!("Basic {}", STANDARD.encode(user_and_password))
}

/// Returns true if a host is this machine.
pub(super) fn is_loopback(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}

/// Removes the parts of a URL that may be secret.
pub(super) fn redact_url(url: &str) -> String {
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

/// Removes the segments `.` and `..` from a path (RFC 3986, 5.2.4).
fn remove_dot_segments(path: &str) -> String {
    let (path, query) = path.split_at(path.find(['?', '#']).unwrap_or(path.len()));
    let mut segments: Vec<&str> = Vec::new();
    for segment in path.split('/').skip(1) {
        match segment {
            "." => {}
            ".." => drop(segments.pop()),
            segment => segments.push(segment),
        }
    }
    if path.ends_with("/.") || path.ends_with("/..") {
        segments.push("");
    }
    format!("/{}{query}", segments.join("/"))
}

fn percent_decode(text: &str) -> Option<String> {
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
        assert_eq!((endpoint.to_string().as_str(), endpoint.host_header().as_str()), (shown, host));
    }

    #[test]
    fn parses_urls() {
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
        assert_eq!(credentials, Some(basic_credentials("me:p@ss")));
        assert!(!format!("{endpoint:?} {endpoint}").contains("ss@"));
        let bad = Endpoint::parse("ftp://me:secret@a/mcp").expect_err("not over ftp");
        assert!(!bad.to_string().contains("secret"), "{bad}");
        let (base, _) = Endpoint::parse("http://a/mcp").expect("a URL");
        for reference in ["/a b?token=secret", "/a b#secret"] {
            let bad = base.join(reference).expect_err("no path");
            assert!(!bad.to_string().contains("secret"), "{bad}");
        }
        let shown = ["me:secret@a/mcp", "http://me:secret@a", "a?secret", "http://a/#secret"]
            .map(redact_url);
        assert_eq!(shown, ["a/mcp", "http://a", "a?…", "http://a/#…"]);
    }

    #[test]
    fn reports_the_problem_with_an_invalid_url() {
        for (url, why) in [
            ("localhost:3000/mcp", "must start with"),
            ("/mcp", "must start with"),
            ("http://", "empty"),
            ("ws://a", "scheme ws"),
            ("http://127.0.0.1:99999/mcp", "invalid port"),
            ("http://[::1]:99999/mcp", "invalid port"),
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
