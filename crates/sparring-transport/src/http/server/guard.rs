//! Against DNS rebinding: whether a request names this server as its host, and
//! comes from a page that may ask (2025-11-25, basic/transports#security-warning).

use std::net::{IpAddr, SocketAddr};

use http::request::Parts;
use http::{HeaderMap, Version, header};

use super::options::HttpOptions;
use super::reply::Refusal;

/// From where a server can be reached, which says what is allowed when nothing
/// else is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Only from this machine, by TCP; or it is not known.
    Loopback,
    /// From elsewhere, or by a socket that no browser can open.
    Elsewhere,
}

impl Reach {
    pub(super) fn of(address: SocketAddr) -> Self {
        if address.ip().is_loopback() { Reach::Loopback } else { Reach::Elsewhere }
    }
}

/// Refuses what a page made to rebind names could have sent.
pub(super) fn check(parts: &Parts, options: &HttpOptions, reach: Reach) -> Result<(), Refusal> {
    if options.allowed_hosts.is_some() || reach == Reach::Loopback {
        check_host(parts, options)?;
    }
    if let Some(origin) = parts.headers.get(header::ORIGIN) {
        let allowed = origin.to_str().is_ok_and(|origin| is_allowed_origin(origin, options));
        if !allowed || parts.headers.get_all(header::ORIGIN).iter().count() > 1 {
            return Err(Refusal::forbidden("the Origin is not allowed"));
        }
    }
    Ok(())
}

fn check_host(parts: &Parts, options: &HttpOptions) -> Result<(), Refusal> {
    // A request may name its host in its target instead (RFC 9112, 3.2.2); both
    // must be right, since others may look at either.
    let named = parts.uri.authority().map(|authority| authority.as_str());
    let mut given = hosts(&parts.headers);
    let host = given.next();
    if given.next().is_some() {
        return Err(Refusal::bad_request("more than one Host"));
    }
    if host.is_none() && (named.is_none() || parts.version >= Version::HTTP_11) {
        return Err(Refusal::bad_request("the header Host is missing"));
    }
    let allowed = |host: &str| match &options.allowed_hosts {
        Some(allowed) => allowed.iter().any(|pattern| fits(host, pattern)),
        None => is_loopback(name_of(host)),
    };
    match named.into_iter().chain(host).all(allowed) {
        true => Ok(()),
        false => Err(Refusal::forbidden("the Host is not allowed")),
    }
}

fn hosts(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    headers.get_all(header::HOST).iter().map(|host| host.to_str().unwrap_or_default())
}

fn is_allowed_origin(origin: &str, options: &HttpOptions) -> bool {
    if let Some(allowed) = &options.allowed_origins {
        let same = |allowed: &String| {
            allowed == "*" || allowed.trim_end_matches('/').eq_ignore_ascii_case(origin)
        };
        return allowed.iter().any(same);
    }
    let Some((scheme, host)) = origin.split_once("://") else { return false };
    let web = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    let hosts = options.allowed_hosts.iter().flatten().filter(|pattern| *pattern != "*");
    web && (is_loopback(name_of(host)) || hosts.into_iter().any(|pattern| fits(host, pattern)))
}

/// Whether a host is the one of the pattern: any port where that has none.
fn fits(host: &str, pattern: &str) -> bool {
    pattern == "*"
        || host.eq_ignore_ascii_case(pattern)
        || name_of(pattern) == pattern && name_of(host).eq_ignore_ascii_case(pattern)
}

/// A host without its port.
fn name_of(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
            let bare_v6 = name.contains(':') && !name.ends_with(']');
            if bare_v6 { host } else { name }
        }
        _ => host,
    }
}

fn is_loopback(name: &str) -> bool {
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_names_are_told_from_names_that_look_like_them() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]", "[::1]:9", "127.9.9.9"]
        {
            assert!(is_loopback(name_of(host)), "{host}");
        }
        for host in
            ["localhost.evil.com", "evil.com:80", "127.0.0.1.evil.com", "", "[::2]", "a@localhost"]
        {
            assert!(!is_loopback(name_of(host)), "{host}");
        }
    }

    #[test]
    fn a_pattern_without_a_port_fits_any() {
        assert!(fits("mcp.example.com:8080", "mcp.example.com"));
        assert!(fits("MCP.example.com", "mcp.example.com"));
        assert!(!fits("mcp.example.com:8080", "mcp.example.com:80"));
        assert!(!fits("mcp.example.com.evil.com", "mcp.example.com"));
        assert!(fits("[::1]:3", "[::1]"));
    }

    #[test]
    fn origins_are_those_of_this_machine_or_of_the_list() {
        let options = HttpOptions::default();
        for origin in ["http://localhost:6274", "https://127.0.0.1", "http://[::1]:3"] {
            assert!(is_allowed_origin(origin, &options), "{origin}");
        }
        for origin in
            ["null", "", "http://evil.com", "file://localhost", "http://localhost.evil.com"]
        {
            assert!(!is_allowed_origin(origin, &options), "{origin}");
        }
        let listed = HttpOptions {
            allowed_origins: Some(vec!["https://app.example.com".to_owned()]),
            ..HttpOptions::default()
        };
        assert!(is_allowed_origin("https://app.example.com", &listed));
        assert!(!is_allowed_origin("http://localhost", &listed));
        let hosted = HttpOptions {
            allowed_hosts: Some(vec!["mcp.example.com".to_owned()]),
            ..HttpOptions::default()
        };
        assert!(is_allowed_origin("https://mcp.example.com", &hosted));
    }
}
