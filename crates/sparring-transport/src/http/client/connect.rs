//! Makes connections to one origin: by TCP or a Unix socket, through a proxy where
//! one is wanted, with TLS where the URL says so; and says by name what kept it
//! from doing so.

use std::error::Error as StdError;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderValue;
use hyper::rt::{Read, Write};
use hyper_util::rt::TokioIo;

use super::endpoint::Origin;
use super::heard::Heard;
use super::opened::innermost;
use super::proxy::Proxy;
use super::tcp::{self, Failed};
use super::{HttpError, HttpTarget, tls};

/// Both directions of a connection.
pub(super) trait Io: Read + Write + Send + Unpin {}

impl<T: Read + Write + Send + Unpin> Io for T {}

/// Makes connections to one origin.
pub(super) struct Connector {
    origin: Origin,
    within: Duration,
    /// Only there if it is needed: reading the system's certificates takes time.
    tls: Option<Arc<rustls::ClientConfig>>,
    proxy: Option<Proxy>,
}

/// Why there is no connection.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub(super) struct NotConnected(pub(super) String);

impl Connector {
    pub(super) fn new(origin: &Origin, target: &HttpTarget) -> Result<Self, HttpError> {
        let tls = match origin {
            Origin::Tcp { tls: true, .. } => Some(tls::config(&target.tls)?),
            _ => None,
        };
        let proxy = match origin {
            Origin::Tcp { .. } => match origin.uri() {
                Ok(uri) => Proxy::for_uri(&uri, &target.proxies)?,
                Err(_) => None,
            },
            Origin::Unix(_) => None,
        };
        Ok(Connector { origin: origin.clone(), within: target.connect_timeout, tls, proxy })
    }

    /// Whether requests go to a proxy that must be told the whole URL, and how
    /// to get past it.
    pub(super) fn by_proxy(&self) -> Option<Option<HeaderValue>> {
        let plain = matches!(self.origin, Origin::Tcp { tls: false, .. });
        let proxy = self.proxy.as_ref().filter(|_| plain)?;
        Some(proxy.auth.clone())
    }

    pub(super) async fn connect(&self) -> Result<Box<dyn Io>, NotConnected> {
        match tokio::time::timeout(self.within, self.open()).await {
            Ok(connected) => connected,
            Err(_) => Err(NotConnected(format!(
                "connecting to {} took more than {:?}",
                self.whereto(),
                self.within
            ))),
        }
    }

    async fn open(&self) -> Result<Box<dyn Io>, NotConnected> {
        let (host, uri) = match &self.origin {
            #[cfg(unix)]
            Origin::Unix(path) => {
                let stream = tokio::net::UnixStream::connect(path).await;
                let stream = stream.map_err(|error| self.failed(Failed::Tcp(error)))?;
                return Ok(Box::new(Heard::new(TokioIo::new(stream))));
            }
            #[cfg(not(unix))]
            Origin::Unix(_) => {
                return Err(NotConnected("there are no unix sockets here".to_owned()));
            }
            origin @ Origin::Tcp { host, .. } => {
                (host, origin.uri().map_err(|error| self.in_short(&error))?)
            }
        };
        let connected = async {
            let first = self.proxy.as_ref().map_or(&uri, |proxy| &proxy.uri);
            let mut stream = tcp::connect(first).await?;
            let Some(tls) = &self.tls else {
                return Ok(Box::new(Heard::new(TokioIo::new(stream))) as Box<dyn Io>);
            };
            if let Some(proxy) = &self.proxy {
                tcp::tunnel(&mut stream, &uri, proxy.auth.as_ref()).await?;
            }
            let stream = tcp::secure(stream, host, tls).await?;
            Ok(Box::new(Heard::new(TokioIo::new(stream))) as Box<dyn Io>)
        };
        connected.await.map_err(|failed| self.failed(failed))
    }

    fn whereto(&self) -> String {
        match &self.proxy {
            Some(proxy) => format!("{} through the proxy {}", self.origin, proxy.uri),
            None => self.origin.to_string(),
        }
    }

    fn failed(&self, failed: Failed) -> NotConnected {
        let whereto = self.whereto();
        NotConnected(match failed {
            Failed::Name(error) => match &self.origin {
                Origin::Tcp { host, .. } if self.proxy.is_none() => {
                    format!("cannot resolve the name {host}: {}", innermost(&error))
                }
                _ => format!("cannot resolve a name for {whereto}: {}", innermost(&error)),
            },
            Failed::Tunnel(why) => format!("the proxy lets nobody through to {whereto}: {why}"),
            Failed::Tls(error) if is_of_tls(&error) => {
                let innermost = innermost(&error);
                let plain = innermost.contains("InvalidContentType");
                let hint = if plain { " (what answers there speaks no TLS)" } else { "" };
                format!("TLS with {whereto} failed: {innermost}{hint}")
            }
            Failed::Tcp(error) | Failed::Tls(error) => return self.in_short(&error),
        })
    }

    fn in_short(&self, error: &(dyn StdError + 'static)) -> NotConnected {
        NotConnected(format!("cannot connect to {}: {}", self.whereto(), innermost(error)))
    }
}

/// Whether an error is one of TLS, however often it was wrapped.
fn is_of_tls(error: &(dyn StdError + 'static)) -> bool {
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    error.is::<rustls::Error>() || wrapped.is_some_and(|inner| is_of_tls(inner))
}
