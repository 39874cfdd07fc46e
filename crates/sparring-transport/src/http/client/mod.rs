//! The HTTP client: a link to a server.
//!
//! Requests are polled on the task that owns the link. Connections and requests have no
//! separate tasks, so none can be left behind.

mod connector;
mod endpoint;
mod exchange;
mod exchange_recorder;
mod http_client;
mod http_sse;
mod ignore_write_errors;
mod json_client;
mod link;
mod locality;
#[cfg(feature = "oauth")]
mod oauth;
mod one_shot;
mod post;
mod proxy;
mod raw_client;
mod readiness;
mod response;
mod session;
mod standing_stream;
mod tcp;
mod tls;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub use endpoint::InvalidUrl;
pub use json_client::{JsonClient, JsonError, JsonResponse};
pub use link::HttpLink;
#[cfg(feature = "oauth")]
pub use oauth::{BrowserOpener, ClientAuth, Grant, OAuth};
pub use one_shot::send_once;
pub use raw_client::{RawClient, RawCredentials, RawRequest};
pub(crate) use readiness::Readiness;
pub use tls::{TlsClient, TlsError};

use crate::secrets::{Secret, Secrets};

/// A server over HTTP, as plain data.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpTarget {
    /// Its URL. `http+unix://%2Fpath%2Fof%2Fsocket/mcp` is a Unix socket.
    pub url: String,
    /// The transport to use.
    pub transport: HttpTransport,
    /// Headers of every request; their values are never shown.
    pub headers: Vec<(String, String)>,
    /// The credentials to send, if any.
    pub credentials: Option<Credentials>,
    /// The certificates to trust.
    pub tls: Tls,
    /// The proxies to use.
    pub proxies: Proxies,
    /// The timeout of connecting.
    pub connect_timeout: Duration,
    /// The maximum silence of a response that has begun, to fail before the request's own
    /// timeout (default: no limit).
    pub idle_timeout: Option<Duration>,
    /// The longest response or event that is read, in bytes.
    pub max_message: usize,
    /// Receives the secrets of this target: headers, credentials and tokens. Share it to mask
    /// them in other output too.
    pub secrets: Secrets,
}

/// The reason why a target is invalid.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Its URL is invalid.
    #[error(transparent)]
    Url(#[from] InvalidUrl),
    /// TLS cannot be set up.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Its proxy cannot be used.
    #[error("invalid proxy {0:?} (expected http://HOST:PORT)")]
    Proxy(String),
    /// A header is invalid; its value is not shown, since it may be a secret.
    #[error("invalid name or value of header {0:?}")]
    Header(String),
    /// Its OAuth settings are invalid.
    #[cfg(feature = "oauth")]
    #[error("{0}")]
    OAuth(String),
}

/// The HTTP transports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Streamable HTTP, or HTTP+SSE if it is not supported.
    #[default]
    Auto,
    /// Streamable HTTP (since 2025-03-26).
    Streamable,
    /// HTTP+SSE (2024-11-05).
    Sse,
}

/// Credentials of a client.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A bearer token.
    Bearer(Secret),
    /// User and password, joined by a colon.
    Basic(Secret),
    /// Tokens of an authorization server.
    #[cfg(feature = "oauth")]
    OAuth(Box<OAuth>),
}

/// The certificates to trust.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// A file of certificates to trust in addition to the system's.
    pub ca: Option<PathBuf>,
    /// Trust every certificate.
    pub insecure: bool,
}

/// Proxies, in the form of the usual environment variables; empty means none.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Proxies {
    /// The proxy for `http`, as in `HTTP_PROXY`.
    pub http: String,
    /// The proxy for `https`, as in `HTTPS_PROXY`.
    pub https: String,
    /// The hosts to reach without a proxy, as in `NO_PROXY`.
    pub no_proxy: String,
}

impl HttpTarget {
    /// Creates a target for this URL with default settings.
    pub fn new(url: impl Into<String>) -> Self {
        HttpTarget {
            url: url.into(),
            transport: HttpTransport::default(),
            headers: Vec::new(),
            credentials: None,
            tls: Tls::default(),
            proxies: Proxies::default(),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: None,
            max_message: sparring_peer::link::LineLinkOptions::default().max_line_bytes,
            secrets: Secrets::default(),
        }
    }

    /// Sets a bearer token.
    #[must_use]
    pub fn bearer(mut self, token: impl Into<Secret>) -> Self {
        self.credentials = Some(Credentials::Bearer(token.into()));
        self
    }

    /// Sets a user and a password.
    #[must_use]
    pub fn basic(mut self, user: &str, password: &str) -> Self {
        self.credentials = Some(Credentials::Basic(format!("{user}:{password}").into()));
        self
    }

    /// Adds a header to every request.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Checks the URL.
    ///
    /// # Errors
    /// When the URL is invalid; the error gives the reason.
    pub fn check_url(&self) -> Result<(), InvalidUrl> {
        endpoint::Endpoint::parse(&self.url).map(drop)
    }

    /// Returns true if the traffic is private: the server is on this machine, or TLS is used.
    pub fn is_private(&self) -> bool {
        match endpoint::Endpoint::parse(&self.url) {
            Ok((endpoint, _)) => match &endpoint.origin {
                endpoint::Origin::Tcp { tls, host, .. } => *tls || endpoint::is_loopback(host),
                endpoint::Origin::Unix(_) => true,
            },
            Err(_) => false,
        }
    }

    /// Adds the known secrets of this target to its set.
    pub(crate) fn add_secrets(&self) {
        let secrets = &self.secrets;
        let proxies = [&self.proxies.http, &self.proxies.https];
        [&self.url].into_iter().chain(proxies).for_each(|url| secrets.add_url(url));
        self.headers.iter().for_each(|(name, value)| secrets.add_header(name, value));
        match &self.credentials {
            Some(Credentials::Bearer(token)) => secrets.add(token.reveal()),
            Some(Credentials::Basic(pair)) => secrets.add_user_and_password(pair.reveal()),
            #[cfg(feature = "oauth")]
            Some(Credentials::OAuth(oauth)) => {
                if let ClientAuth::Secret(secret) = &oauth.client_auth {
                    secrets.add(secret.reveal());
                }
            }
            None => {}
        }
    }

    /// Returns the URL without the parts that may be secret.
    pub fn redacted_url(&self) -> String {
        endpoint::redact_url(&self.url)
    }
}

impl From<&str> for HttpTarget {
    fn from(url: &str) -> Self {
        HttpTarget::new(url)
    }
}

impl From<String> for HttpTarget {
    fn from(url: String) -> Self {
        HttpTarget::new(url)
    }
}

impl Credentials {
    /// Returns the value of `Authorization`, if it is fixed.
    fn header(&self) -> Option<String> {
        match self {
            Credentials::Bearer(token) => Some(format!("Bearer {}", token.reveal())),
            Credentials::Basic(pair) => Some(endpoint::basic_credentials(pair.reveal())),
            #[cfg(feature = "oauth")]
            Credentials::OAuth(_) => None,
        }
    }
}

impl fmt::Debug for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpTarget")
            .field("url", &endpoint::redact_url(&self.url))
            .field("transport", &self.transport)
            .field("headers", &names)
            .field("credentials", &self.credentials)
            .field("tls", &self.tls)
            .field("connect_timeout", &self.connect_timeout)
            .field("idle_timeout", &self.idle_timeout)
            .field("max_message", &self.max_message)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Credentials::Bearer(_) => f.write_str("Bearer(hidden)"),
            Credentials::Basic(_) => f.write_str("Basic(hidden)"),
            #[cfg(feature = "oauth")]
            Credentials::OAuth(oauth) => f.debug_tuple("OAuth").field(oauth).finish(),
        }
    }
}

/// A proxy's URL may contain credentials.
impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxies").field("no_proxy", &self.no_proxy).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_shown() {
        let mut target = HttpTarget::new("http://me:hunter1@localhost/mcp");
        target.headers.push(("X-Key".to_owned(), "hunter2".to_owned()));
        target.credentials = Some(Credentials::Bearer("hunter3".into()));
        target.proxies.http = "http://me:hunter4@proxy".to_owned();
        let shown = format!("{target:?} {:?}", target.proxies);
        assert!(shown.contains("X-Key") && !shown.contains("hunter"), "{shown}");
    }
}
