//! Makes connections to one origin: over TCP or a Unix socket, through a proxy if one is
//! configured, with TLS for https. Errors name the failed step.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;

use super::endpoint::Origin;
use super::ignore_write_errors::IgnoreWriteErrors;
use super::locality::{Locality, PeerLocality};
use super::proxy::Proxy;
use super::response::root_cause;
use super::tcp::{self, ConnectFailure};
use super::{HttpError, HttpTarget, tls};

/// A connection that can be read and written.
pub(super) trait ByteStream: Read + Write + Send + Unpin {}

impl<T: Read + Write + Send + Unpin> ByteStream for T {}

/// Makes connections to one origin.
pub(super) struct Connector {
    origin: Origin,
    timeout: Duration,
    /// Only set if needed: reading the system's certificates takes time.
    tls: Option<Arc<rustls::ClientConfig>>,
    proxy: Option<Proxy>,
    /// The nearest class of addresses to connect to, if limited.
    nearest: Option<Locality>,
    /// The class of addresses that it connected to.
    reached: PeerLocality,
}

/// The reason why a connection could not be made.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct ConnectError(pub(super) String);

impl Connector {
    pub(super) fn new(origin: &Origin, target: &HttpTarget) -> Result<Self, HttpError> {
        let tls = match origin {
            Origin::Tcp { tls: true, .. } => Some(tls::client_config(&target.tls)?),
            _ => None,
        };
        let proxy = match origin {
            Origin::Tcp { .. } => match origin.uri() {
                Ok(uri) => Proxy::for_uri(&uri, &target.proxies)?,
                Err(_) => None,
            },
            Origin::Unix(_) => None,
        };
        Ok(Connector {
            origin: origin.clone(),
            timeout: target.connect_timeout,
            tls,
            proxy,
            nearest: None,
            reached: PeerLocality::default(),
        })
    }

    /// Connects only to addresses of this class and those that are farther. A proxy resolves
    /// names itself, so then only an address or a local name in the URL is checked.
    #[cfg(feature = "oauth")]
    pub(super) fn with_nearest(self, nearest: Locality) -> Self {
        Connector { nearest: Some(nearest), ..self }
    }

    /// Records the class of addresses that it connects to.
    pub(super) fn recording(self, reached: PeerLocality) -> Self {
        Connector { reached, ..self }
    }

    /// Returns `Some` if requests go to a plain HTTP proxy, which needs the whole URL, with the
    /// value of `Proxy-Authorization`, if any.
    pub(super) fn plain_proxy(&self) -> Option<Option<HeaderValue>> {
        let plain = matches!(self.origin, Origin::Tcp { tls: false, .. });
        let proxy = self.proxy.as_ref().filter(|_| plain)?;
        Some(proxy.auth.clone())
    }

    pub(super) async fn connect(&self) -> Result<Box<dyn ByteStream>, ConnectError> {
        match tokio::time::timeout(self.timeout, self.open()).await {
            Ok(connected) => connected,
            Err(_) => Err(ConnectError(format!(
                "connecting to {} timed out after {:?}",
                self.destination(),
                self.timeout
            ))),
        }
    }

    async fn open(&self) -> Result<Box<dyn ByteStream>, ConnectError> {
        let (host, uri) = match &self.origin {
            #[cfg(unix)]
            Origin::Unix(path) => {
                let stream = tokio::net::UnixStream::connect(path).await;
                let stream =
                    stream.map_err(|error| self.connect_error(ConnectFailure::Tcp(error)))?;
                self.reached.add(Locality::Loopback);
                return Ok(Box::new(IgnoreWriteErrors::new(TokioIo::new(stream))));
            }
            #[cfg(not(unix))]
            Origin::Unix(_) => {
                return Err(ConnectError(
                    "unix sockets are not supported on this system".to_owned(),
                ));
            }
            origin @ Origin::Tcp { host, .. } => {
                (host, origin.uri().map_err(|error| self.short_error(&error))?)
            }
        };
        let connected = async {
            let first = self.proxy.as_ref().map_or(&uri, |proxy| &proxy.uri);
            let named = Locality::of_origin(&self.origin)
                .filter(|it| self.nearest.is_some_and(|nearest| *it > nearest));
            if let Some(named) = named {
                return Err(ConnectFailure::TooNear(named));
            }
            let nearest = self.nearest.filter(|_| self.proxy.is_none());
            let mut stream = tcp::connect(first, nearest).await?;
            let reached = match (&self.proxy, stream.peer_addr()) {
                (None, Ok(address)) => Locality::of(address.ip()),
                // The address behind a proxy is not known.
                _ => Locality::of_origin(&self.origin).unwrap_or(Locality::Public),
            };
            self.reached.add(reached);
            let Some(tls) = &self.tls else {
                return Ok(
                    Box::new(IgnoreWriteErrors::new(TokioIo::new(stream))) as Box<dyn ByteStream>
                );
            };
            if let Some(proxy) = &self.proxy {
                tcp::tunnel(&mut stream, &uri, proxy.auth.as_ref()).await?;
            }
            let stream = tcp::start_tls(stream, host, tls).await?;
            Ok(Box::new(IgnoreWriteErrors::new(TokioIo::new(stream))) as Box<dyn ByteStream>)
        };
        connected.await.map_err(|failure| self.connect_error(failure))
    }

    fn destination(&self) -> String {
        match &self.proxy {
            Some(proxy) => format!("{} through the proxy {}", self.origin, proxy.uri),
            None => self.origin.to_string(),
        }
    }

    fn connect_error(&self, failure: ConnectFailure) -> ConnectError {
        let destination = self.destination();
        ConnectError(match failure {
            ConnectFailure::Resolve(error) => match &self.origin {
                Origin::Tcp { host, .. } if self.proxy.is_none() => {
                    format!("cannot resolve the name {host}: {}", root_cause(&error))
                }
                _ => format!("cannot resolve a name for {destination}: {}", root_cause(&error)),
            },
            ConnectFailure::Tunnel(why) => {
                format!("the proxy refused the connection to {destination}: {why}")
            }
            ConnectFailure::Tls(error) if is_tls_error(&error) => {
                let reason = root_cause(&error);
                let plain = reason.contains("InvalidContentType");
                let hint = if plain { " (the server does not use TLS)" } else { "" };
                format!("TLS with {destination} failed: {reason}{hint}")
            }
            ConnectFailure::TooNear(locality) => format!(
                "{destination} has a {} address, which is nearer than that of the server; \
                 --oauth-local, or `local: true` below `oauth` in a config file, allows it",
                locality.name()
            ),
            ConnectFailure::Tcp(error) | ConnectFailure::Tls(error) => {
                return self.short_error(&error);
            }
        })
    }

    fn short_error(&self, error: &(dyn StdError + 'static)) -> ConnectError {
        ConnectError(format!("cannot connect to {}: {}", self.destination(), root_cause(error)))
    }
}

/// Returns true if an error comes from TLS, even if other errors wrap it.
fn is_tls_error(error: &(dyn StdError + 'static)) -> bool {
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error.is::<rustls::Error>() || wrapped.is_some_and(|inner| is_tls_error(inner))
}
