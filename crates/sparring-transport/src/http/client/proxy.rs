//! Selects the proxy for a URL, from settings in the form of the usual environment variables.
//!
//! The creator of a target reads the variables.

use std::net::IpAddr;

use http::{HeaderValue, Uri};
use percent_encoding::percent_decode_str;

use super::endpoint::{basic_credentials, redact_url};
use super::{HttpError, Proxies};

/// A proxy to use.
pub(super) struct Proxy {
    /// Its URL.
    pub(super) uri: Uri,
    /// The value of `Proxy-Authorization`, if any.
    pub(super) auth: Option<HeaderValue>,
}

impl Proxy {
    /// Returns the proxy for a URL, if there is one.
    ///
    /// Only plain HTTP proxies are supported; another kind would receive our secrets in an
    /// unexpected way.
    ///
    /// # Errors
    /// When the proxy cannot be used.
    pub(super) fn for_uri(uri: &Uri, proxies: &Proxies) -> Result<Option<Proxy>, HttpError> {
        let given = match uri.scheme_str() {
            Some("https") => &proxies.https,
            _ => &proxies.http,
        };
        let (scheme, rest) = given.split_once("://").unwrap_or(("http", given));
        let host = uri.host().unwrap_or_default();
        if rest.is_empty() && scheme.eq_ignore_ascii_case("http")
            || is_excluded(host, &proxies.no_proxy)
        {
            return Ok(None);
        }
        match parse_proxy(scheme, rest) {
            Some(proxy) => Ok(Some(proxy)),
            None => {
                // A password may contain a `/`, so the last `@` separates it.
                let host_and_port =
                    rest.rsplit_once('@').map_or(rest, |(_, host_and_port)| host_and_port);
                Err(HttpError::Proxy(redact_url(&format!("{scheme}://{host_and_port}"))))
            }
        }
    }
}

/// Parses the parts of a proxy's URL before and after `://`; ignores the path.
fn parse_proxy(scheme: &str, rest: &str) -> Option<Proxy> {
    let uri: Uri = format!("http://{rest}").parse().ok()?;
    let authority = uri.authority().filter(|_| scheme.eq_ignore_ascii_case("http"))?.as_str();
    if rest[authority.len()..].contains('@') {
        return None;
    }
    let (user, host_and_port) = match authority.rsplit_once('@') {
        Some((user, host_and_port)) => (Some(user), host_and_port),
        None => (None, authority),
    };
    let auth = user.map(|user| {
        let (name, password) = user.split_once(':').unwrap_or((user, ""));
        let plain = |text| percent_decode_str(text).decode_utf8_lossy();
        let header = basic_credentials(&format!("{}:{}", plain(name), plain(password)));
        let mut header = HeaderValue::try_from(header).expect("Base64 can stand in a header");
        header.set_sensitive(true);
        header
    });
    Some(Proxy { uri: format!("http://{host_and_port}/").parse().ok()?, auth })
}

/// Returns true if a host is reached without a proxy, as in `NO_PROXY`: domains with their
/// subdomains, addresses, networks such as `10.0.0.0/8`, and `*` for everything.
fn is_excluded(host: &str, except: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let address: Option<IpAddr> = host.parse().ok();
    except.split(',').map(str::trim).any(|entry| match address {
        _ if entry == "*" => true,
        Some(address) => is_address(address, entry),
        None => is_domain(host, entry.strip_prefix('.').unwrap_or(entry)),
    })
}

fn is_address(address: IpAddr, entry: &str) -> bool {
    let Some((network, length)) = entry.split_once('/') else {
        return entry.parse() == Ok(address);
    };
    let length: u32 = length.parse().unwrap_or(u32::MAX);
    match (address, network.parse()) {
        (IpAddr::V4(address), Ok(IpAddr::V4(network))) if length <= u32::BITS => {
            let differs = address.to_bits() ^ network.to_bits();
            differs.leading_zeros() >= length
        }
        (IpAddr::V6(address), Ok(IpAddr::V6(network))) if length <= u128::BITS => {
            let differs = address.to_bits() ^ network.to_bits();
            differs.leading_zeros() >= length
        }
        _ => false,
    }
}

fn is_domain(host: &str, domain: &str) -> bool {
    let Some(at) = host.len().checked_sub(domain.len()).filter(|_| !domain.is_empty()) else {
        return false;
    };
    let is_end = host.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(domain));
    is_end && (at == 0 || host[..at].ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(host: &str, except: &str, expected: bool) {
        assert_eq!(is_excluded(host, except), expected, "{host} by {except:?}");
    }

    #[test]
    fn excludes_hosts_by_domain() {
        check("example.com", "other.org, example.com", true);
        check("Example.com", ".example.COM", true);
        check("a.example.com", "example.com", true);
        check("a.example.com", ".example.com", true);
        check("notexample.com", "example.com", false);
        check("example.com", "a.example.com", false);
        check("example.com", "", false);
        check("example.com", ",.", false);
        check("ä.com", "x.com", false);
    }

    #[test]
    fn excludes_hosts_by_address_and_network() {
        check("127.0.0.1", "127.0.0.1", true);
        check("10.1.2.3", "10.0.0.0/8", true);
        check("11.1.2.3", "10.0.0.0/8", false);
        check("11.1.2.3", "0.0.0.0/0", true);
        check("10.0.0.1", "10.0.0.1/32", true);
        check("10.0.0.1", "10.0.0.0/33", false);
        check("10.0.0.1", "10.0.0.0/x", false);
        check("[::1]", "::1", true);
        check("[fd00::7]", "fd00::/8", true);
        check("[fe00::7]", "fd00::/8", false);
        check("[fd00::7]", "10.0.0.0/8", false);
        check("10.0.0.1", "0.0.1", false);
    }

    #[test]
    fn a_star_excludes_everything() {
        check("example.com", "*", true);
        check("10.0.0.1", "x, *", true);
    }

    #[test]
    fn parses_a_proxy_with_its_credentials() {
        let proxies = |http: &str| Proxies { http: http.to_owned(), ..Proxies::default() };
        let parse = |http: &str| {
            let uri = "http://server.example/mcp".parse().expect("a URL");
            let proxy = Proxy::for_uri(&uri, &proxies(http)).expect("a proxy or none");
            let auth = |it: &HeaderValue| it.to_str().expect("Base64").to_owned();
            proxy.map(|it| (it.uri.to_string(), it.auth.as_ref().map(auth)))
        };
        assert_eq!(parse(""), None);
        assert_eq!(parse("http://"), None);
        assert_eq!(parse("proxy:3128"), Some(("http://proxy:3128/".to_owned(), None)));
        assert_eq!(parse("HTTP://proxy/path"), Some(("http://proxy/".to_owned(), None)));
        let secret = Some(("http://proxy/".to_owned(), Some(basic_credentials("me:p@ss"))));
        assert_eq!(parse("http://me:p%40ss@proxy"), secret);
        assert_eq!(
            parse("me@proxy"),
            Some(("http://proxy/".to_owned(), Some(basic_credentials("me:"))))
        );
    }

    #[test]
    fn refuses_a_password_that_ends_the_authority_without_showing_it() {
        let uri = "http://server.example/mcp".parse().expect("a URL");
        for http in ["http://me:p/ss@proxy:1", "me:p?ss@proxy:1", "socks5://me:p#ss@proxy:1"] {
            let proxies = Proxies { http: http.to_owned(), ..Proxies::default() };
            let error = Proxy::for_uri(&uri, &proxies).err().expect("no proxy").to_string();
            assert!(error.contains("://proxy:1"), "{error}");
            assert!(!error.contains("me:") && !error.contains("ss@"), "{error}");
        }
    }
}
