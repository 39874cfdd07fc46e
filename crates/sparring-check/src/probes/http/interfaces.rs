//! The addresses of this machine at which a local server answers.

use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::time::Duration;

use serde_json::json;
use sparring_wire::Rule;

use super::{harmless_method, leave_out};
use crate::context::{Context, ProbeResult};
use crate::http::{Exchange, HttpServer, RequestExt, initialize, modern};
use crate::verdict::Finding;

/// The longest wait for a server that does not listen.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Addresses that no packet is sent to, to find out which address this machine would send from.
const ROUTES: [(&str, &str); 2] = [("0.0.0.0:0", "192.0.2.1:9"), ("[::]:0", "[2001:db8::1]:9")];

/// The parts of an HTTP URL.
pub(super) struct Address<'a> {
    pub(super) scheme: &'a str,
    /// The host, with the brackets of an IPv6 address.
    host: &'a str,
    port: Option<&'a str>,
    /// The path and the query.
    path: &'a str,
}

impl<'a> Address<'a> {
    /// Reads a URL. Returns `None` for a Unix socket.
    pub(super) fn of(url: &'a str) -> Option<Address<'a>> {
        let (scheme, rest) = url.split_once("://")?;
        if !["http", "https"].contains(&scheme) {
            return None;
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let authority = authority.rsplit_once('@').map_or(authority, |(_, it)| it);
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (authority, None),
        };
        Some(Address { scheme, host, port, path })
    }

    /// Returns the host without brackets.
    pub(super) fn bare_host(&self) -> &'a str {
        self.host.trim_start_matches('[').trim_end_matches(']')
    }

    /// Returns the port after a colon, if the URL has one.
    pub(super) fn port_suffix(&self) -> String {
        self.port.map(|port| format!(":{port}")).unwrap_or_default()
    }

    /// Returns true if the host is this machine.
    pub(super) fn is_local(&self) -> bool {
        let host = self.bare_host();
        host.eq_ignore_ascii_case("localhost")
            || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
    }

    fn at(&self, ip: IpAddr) -> String {
        let host = match ip {
            IpAddr::V4(ip) => ip.to_string(),
            IpAddr::V6(ip) => format!("[{ip}]"),
        };
        format!("{}://{host}{}{}", self.scheme, self.port_suffix(), self.path)
    }
}

pub(super) async fn all_interfaces(context: &Context) -> ProbeResult {
    let rule = Rule::AllInterfaces;
    let Some(server) = context.http() else {
        leave_out(context, &[rule], "the server is not reached over HTTP");
        return Ok(());
    };
    let Some(address) = Address::of(&server.target().url).filter(Address::is_local) else {
        leave_out(context, &[rule], "the server is not reached at a loopback address");
        return Ok(());
    };
    let others = other_addresses(&address);
    if others.is_empty() {
        leave_out(context, &[rule], "this machine has no other address");
        return Ok(());
    }
    for ip in others {
        let Some(exchange) = ask_at(context, server, &address, ip).await else { continue };
        if is_the_server(server, &exchange) {
            let message = "expected a server that listens only on the loopback interface; \
                           it also answers at another address of this machine";
            context.fail(rule, Finding::new(message).with_frames(exchange.shown()));
            return Ok(());
        }
    }
    context.pass(rule);
    Ok(())
}

/// Sends a harmless request to another address, under the name that the server knows.
async fn ask_at(
    context: &Context,
    server: &HttpServer,
    address: &Address<'_>,
    ip: IpAddr,
) -> Option<Exchange> {
    let request = match server.speaks_streamable_http().await {
        false => {
            sparring_transport::http::RawRequest::new("GET", "").with("accept", "text/event-stream")
        }
        true if context.revision.is_modern() => {
            let method = harmless_method(context.revision);
            modern(context.revision, server.next_id(), method, json!({}))
        }
        true => initialize(context.revision),
    };
    let host = format!("{}{}", address.host, address.port_suffix());
    let request = request.to(&address.at(ip)).with("host", host);
    tokio::time::timeout(TIMEOUT, server.send(&request)).await.ok()?.ok()
}

/// Returns true if a response comes from the server, and not from another one at the port.
fn is_the_server(server: &HttpServer, exchange: &Exchange) -> bool {
    // Credentials are not sent to another address.
    let lacks_credentials = server.target().credentials.is_some() && exchange.status == 401;
    let speaks = exchange.has_result() || exchange.is_stream();
    lacks_credentials || exchange.is_success() && speaks
}

/// Returns addresses of this machine at which a server on all interfaces answers, and one on the
/// loopback interface does not.
fn other_addresses(own: &Address<'_>) -> Vec<IpAddr> {
    let found = ROUTES.iter().filter_map(|(from, to)| {
        let socket = UdpSocket::bind(from).ok()?;
        socket.connect(to).ok()?;
        socket.local_addr().ok().map(|it: SocketAddr| it.ip())
    });
    let is_usable = |ip: &IpAddr| !ip.is_loopback() && !ip.is_unspecified();
    let mut found: Vec<IpAddr> = found.filter(is_usable).collect();
    // Without a network, another loopback address shows the same. macOS has only one.
    let spare = IpAddr::from([127, 0, 0, 2]);
    if found.is_empty() && !cfg!(target_os = "macos") && own.bare_host() != "127.0.0.2" {
        found.push(spare);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_parts_of_a_url() {
        for (url, host, port, is_local) in [
            ("http://127.0.0.1:8080/mcp", "127.0.0.1", ":8080", true),
            ("http://localhost/mcp", "localhost", "", true),
            ("https://user:word@[::1]:443", "::1", ":443", true),
            ("http://[::1]/mcp", "::1", "", true),
            ("https://example.com/a:b@c", "example.com", "", false),
            ("http://localhost.example.com?x", "localhost.example.com", "", false),
        ] {
            let address = Address::of(url).unwrap();
            let found = (address.bare_host(), &*address.port_suffix(), address.is_local());
            assert_eq!(found, (host, port, is_local), "{url}");
        }
        assert!(Address::of("http+unix://%2Ftmp%2Fa/mcp").is_none());
        let address = Address::of("http://127.0.0.1:80/mcp?a").unwrap();
        assert_eq!(address.at([10, 0, 0, 1].into()), "http://10.0.0.1:80/mcp?a");
        assert_eq!(address.at("::1".parse().unwrap()), "http://[::1]:80/mcp?a");
    }
}
