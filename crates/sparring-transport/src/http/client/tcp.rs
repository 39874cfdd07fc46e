//! TCP connections: to the first address that answers, through a proxy if needed, and with TLS.

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use http::{HeaderValue, Uri};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpStream, lookup_host};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::locality::Locality;

/// The head start of one address family before the other is tried (RFC 8305, 5).
const FALLBACK_DELAY: Duration = Duration::from_millis(300);

/// The longest head of a proxy's response.
const MAX_PROXY_HEAD: usize = 8192;

/// The step of connecting that failed.
#[derive(Debug)]
pub(super) enum ConnectFailure {
    /// The name could not be resolved.
    Resolve(io::Error),
    /// No address answers.
    Tcp(io::Error),
    /// The proxy refuses the tunnel.
    Tunnel(String),
    /// TLS failed.
    Tls(io::Error),
    /// All addresses are nearer than allowed.
    TooNear(Locality),
}

/// Connects to the host and the port of a URL, if its addresses are not nearer than `nearest`.
pub(super) async fn connect(
    uri: &Uri,
    nearest: Option<Locality>,
) -> Result<TcpStream, ConnectFailure> {
    let port = if uri.scheme_str() == Some("https") { 443 } else { 80 };
    let (host, port) =
        (strip_brackets(uri.host().unwrap_or_default()), uri.port_u16().unwrap_or(port));
    let found = lookup_host((host, port)).await.map_err(ConnectFailure::Resolve)?;
    let mut found: Vec<SocketAddr> = found.collect();
    if let Some(nearest) = nearest {
        let refused = found.iter().map(|address| Locality::of(address.ip())).max();
        found.retain(|address| Locality::of(address.ip()) <= nearest);
        if let Some(refused) = refused.filter(|_| found.is_empty()) {
            return Err(ConnectFailure::TooNear(refused));
        }
    }
    let family = found.first().is_some_and(SocketAddr::is_ipv6);
    let (preferred, others): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|address| address.is_ipv6() == family);
    let stream = match others.is_empty() {
        true => connect_any(&preferred).await,
        false => race_families(&preferred, &others).await,
    };
    let stream = stream.map_err(ConnectFailure::Tcp)?;
    // Fails if the other side has already gone, which a read or a write will show.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

/// Tries the addresses one after the other.
async fn connect_any(addresses: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotConnected, "the name has no address");
    for address in addresses {
        match TcpStream::connect(address).await {
            Ok(stream) => return Ok(stream),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Tries both families; the preferred one has a head start.
async fn race_families(preferred: &[SocketAddr], others: &[SocketAddr]) -> io::Result<TcpStream> {
    let mut first = pin!(connect_any(preferred));
    let mut second = pin!(connect_any(others));
    tokio::select! {
        biased;
        stream = &mut first => match stream {
            Ok(stream) => return Ok(stream),
            Err(_) => return second.await,
        },
        () = tokio::time::sleep(FALLBACK_DELAY) => {}
    }
    tokio::select! {
        biased;
        stream = &mut first => match stream {
            Ok(stream) => Ok(stream),
            Err(_) => second.await,
        },
        stream = &mut second => match stream {
            Ok(stream) => Ok(stream),
            Err(_) => first.await,
        },
    }
}

/// Asks a connected proxy for a tunnel to a URL's host (RFC 9110, 9.3.6). No bytes follow a
/// successful response, since the server waits for us.
pub(super) async fn tunnel(
    proxy: &mut TcpStream,
    to: &Uri,
    auth: Option<&HeaderValue>,
) -> Result<(), ConnectFailure> {
    let failed = |what: &str| ConnectFailure::Tunnel(format!("tunnel error: {what}"));
    let broken = |error| failed(&format!("io error establishing tunnel: {error}"));
    let host = to.host().ok_or_else(|| failed("missing destination host"))?;
    let port = to.port_u16().unwrap_or(443);
    let head = format!("CONNECT {host}:{port} HTTP/1.1\r\nHost: {host}:{port}\r\n");
    let mut request = head.into_bytes();
    if let Some(auth) = auth {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(auth.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    proxy.write_all(&request).await.map_err(broken)?;
    let mut answer = Vec::new();
    while !answer.windows(4).any(|four| four == b"\r\n\r\n") {
        if answer.len() >= MAX_PROXY_HEAD {
            return Err(failed("proxy response headers too long"));
        }
        if proxy.read_buf(&mut answer).await.map_err(broken)? == 0 {
            return Err(failed("unexpected end of file"));
        }
        let begins = b"HTTP/1.";
        let length = answer.len().min(begins.len());
        if answer[..length] != begins[..length] {
            return Err(failed("unsuccessful"));
        }
    }
    match answer.get(b"HTTP/1.1 ".len()..).and_then(|rest| rest.get(..3)) {
        Some([b'2', ..]) => Ok(()),
        Some(b"407") => Err(failed("proxy authorization required")),
        _ => Err(failed("unsuccessful")),
    }
}

/// Starts TLS on a connection.
pub(super) async fn start_tls(
    stream: TcpStream,
    host: &str,
    tls: &Arc<ClientConfig>,
) -> Result<TlsStream<TcpStream>, ConnectFailure> {
    let name = ServerName::try_from(strip_brackets(host).to_owned());
    let name = name.map_err(|error| ConnectFailure::Tls(io::Error::other(error)))?;
    TlsConnector::from(Arc::clone(tls)).connect(name, stream).await.map_err(ConnectFailure::Tls)
}

/// Removes the brackets around an IPv6 address.
fn strip_brackets(host: &str) -> &str {
    host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host)
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn tries_the_other_family_when_no_address_answers() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let there = listener.local_addr().unwrap();
        let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        let stream = race_families(&[gone], &[there]).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), there);
        let stream = race_families(&[gone, there], &[gone]).await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), there);
        let error = race_families(&[gone], &[gone]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionRefused);
    }

    #[tokio::test]
    async fn connects_only_to_addresses_that_are_far_enough() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let uri: Uri = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
        for nearest in [Locality::Public, Locality::Private, Locality::LinkLocal] {
            let refused = connect(&uri, Some(nearest)).await;
            assert!(matches!(refused, Err(ConnectFailure::TooNear(Locality::Loopback))));
        }
        assert!(connect(&uri, Some(Locality::Loopback)).await.is_ok());
        let accepted = listener.accept().await.unwrap().1;
        let more = tokio::time::timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(more.is_err(), "only {accepted} connected");
    }

    #[tokio::test]
    async fn opens_a_tunnel_or_reports_the_refusal_of_the_proxy() {
        async fn check(answer: &'static [u8], expected: Result<(), &str>) {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let uri: Uri = format!("http://{}", listener.local_addr().unwrap()).parse().unwrap();
            let proxy = async {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut asked = Vec::new();
                while !asked.ends_with(b"\r\n\r\n") {
                    stream.read_buf(&mut asked).await.unwrap();
                }
                stream.write_all(answer).await.unwrap();
                String::from_utf8(asked).unwrap()
            };
            let client = async {
                let mut stream = connect(&uri, None).await.unwrap();
                let auth = HeaderValue::from_static("Basic me");
                tunnel(&mut stream, &"https://there".parse().unwrap(), Some(&auth)).await
            };
            let (asked, result) = tokio::join!(proxy, client);
            let head = "CONNECT there:443 HTTP/1.1\r\nHost: there:443\r\n";
            assert_eq!(asked, format!("{head}Proxy-Authorization: Basic me\r\n\r\n"));
            match (result, expected) {
                (Ok(()), Ok(())) => {}
                (Err(ConnectFailure::Tunnel(result)), Err(expected)) => {
                    assert_eq!(result, expected)
                }
                (result, expected) => panic!("{result:?} instead of {expected:?}"),
            }
        }
        check(b"HTTP/1.1 200 Connection established\r\nvia: x\r\n\r\n", Ok(())).await;
        check(b"HTTP/1.0 200 OK\r\n\r\n", Ok(())).await;
        let refused = "tunnel error: proxy authorization required";
        check(b"HTTP/1.1 407 Who?\r\n\r\n", Err(refused)).await;
        check(b"HTTP/1.1 403 No\r\ncontent-length: 2\r\n\r\nNo", Err("tunnel error: unsuccessful"))
            .await;
        check(b"SSH-2.0", Err("tunnel error: unsuccessful")).await;
        check(b"HTTP/1.1 200", Err("tunnel error: unexpected end of file")).await;
    }
}
