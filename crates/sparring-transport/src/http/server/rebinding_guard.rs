//! Protects against DNS rebinding: checks that a request names this server as its host and
//! comes from an allowed page (2025-11-25, basic/transports#security-warning).

use std::net::{IpAddr, SocketAddr};

use http::request::Parts;
use http::{HeaderMap, Version, header};

use super::options::HttpOptions;
use super::reply::Refusal;

/// The machines that can reach a server, which determine the default rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reachability {
    /// Only from this machine over TCP, or unknown.
    Loopback,
    /// From other machines, or over a socket that no browser can open.
    Remote,
}

impl Reachability {
    pub(super) fn from_address(address: SocketAddr) -> Self {
        if address.ip().is_loopback() { Reachability::Loopback } else { Reachability::Remote }
    }
}

/// Checks that no web page of another site sends a request to a server at this address, as an
/// [`HttpServer`](super::HttpServer) with default options does.
///
/// # Errors
/// The reason why the request is refused, for status 403.
pub fn check_host_and_origin(parts: &Parts, server: SocketAddr) -> Result<(), &'static str> {
    let reach = Reachability::from_address(server);
    let refused = "the Host or the Origin of the request is not allowed";
    check(parts, &HttpOptions::default(), reach).map_err(|_| refused)
}

/// Refuses requests that a page could send with DNS rebinding.
pub(super) fn check(
    parts: &Parts,
    options: &HttpOptions,
    reach: Reachability,
) -> Result<(), Refusal> {
    if options.allowed_hosts.is_some() || reach == Reachability::Loopback {
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
    // A request may also name its host in its target (RFC 9112, 3.2.2). Both must be allowed,
    // since other software may use either.
    let named = parts.uri.authority().map(|authority| authority.as_str());
    let mut given = host_headers(&parts.headers);
    let host = given.next();
    if given.next().is_some() {
        return Err(Refusal::bad_request("more than one Host header"));
    }
    if host.is_none() && (named.is_none() || parts.version >= Version::HTTP_11) {
        return Err(Refusal::bad_request("missing header Host"));
    }
    let allowed = |host: &str| match &options.allowed_hosts {
        Some(allowed) => allowed.iter().any(|pattern| matches_pattern(host, pattern)),
        None => is_loopback(without_port(host)),
    };
    match named.into_iter().chain(host).all(allowed) {
        true => Ok(()),
        false => Err(Refusal::forbidden("the Host is not allowed")),
    }
}

fn host_headers(headers: &HeaderMap) -> impl Iterator<Item = &str> {
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
    web && (is_loopback(without_port(host))
        || hosts.into_iter().any(|pattern| matches_pattern(host, pattern)))
}

/// Returns true if a host matches a pattern; a pattern without a port matches any port.
fn matches_pattern(host: &str, pattern: &str) -> bool {
    pattern == "*"
        || host.eq_ignore_ascii_case(pattern)
        || without_port(pattern) == pattern && without_port(host).eq_ignore_ascii_case(pattern)
}

/// Removes the port from a host.
fn without_port(host: &str) -> &str {
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
    fn distinguishes_loopback_names_from_similar_names() {
        for host in ["localhost", "LOCALHOST:80", "127.0.0.1:8080", "[::1]", "[::1]:9", "127.9.9.9"]
        {
            assert!(is_loopback(without_port(host)), "{host}");
        }
        for host in
            ["localhost.evil.com", "evil.com:80", "127.0.0.1.evil.com", "", "[::2]", "a@localhost"]
        {
            assert!(!is_loopback(without_port(host)), "{host}");
        }
    }

    #[test]
    fn a_pattern_without_a_port_matches_any_port() {
        assert!(matches_pattern("mcp.example.com:8080", "mcp.example.com"));
        assert!(matches_pattern("MCP.example.com", "mcp.example.com"));
        assert!(!matches_pattern("mcp.example.com:8080", "mcp.example.com:80"));
        assert!(!matches_pattern("mcp.example.com.evil.com", "mcp.example.com"));
        assert!(matches_pattern("[::1]:3", "[::1]"));
    }

    #[test]
    fn allows_origins_of_this_machine_or_of_the_list() {
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
