//! The client's half: a link to a server over HTTP.
//!
//! Requests are driven in place, on the task that owns the link: there is no
//! task for a connection or a request, so nothing can be left behind.

mod answer;
mod call;
mod connect;
mod effort;
mod endpoint;
mod eras;
mod events;
mod given;
mod heard;
mod json;
mod link;
mod note;
#[cfg(feature = "oauth")]
mod oauth;
mod old;
mod once;
mod opened;
mod post;
mod proxy;
mod standing;
mod tcp;
mod tls;
mod wire;

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

pub use endpoint::BadUrl;
pub use json::{JsonAnswer, JsonClient, JsonError};
pub use link::HttpLink;
#[cfg(feature = "oauth")]
pub use oauth::{Grant, OAuth, Proof, Visitor};
pub use once::ask_once;
pub use tls::{TlsClient, TlsError};

/// A server over HTTP, as plain data.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpTarget {
    /// Where it is. `http+unix://%2Fpath%2Fof%2Fsocket/mcp` is a Unix socket.
    pub url: String,
    /// Which of the two ways over HTTP to take.
    pub transport: HttpTransport,
    /// Headers that every request has; their values are shown nowhere.
    pub headers: Vec<(String, String)>,
    /// Who to say that we are.
    pub credentials: Option<Credentials>,
    /// Whom to trust.
    pub tls: Tls,
    /// Which proxies to go through.
    pub proxies: Proxies,
    /// How long making a connection may take.
    pub connect_timeout: Duration,
    /// How long an answer that has begun may be silent, if that is to be told
    /// before the request's own time is over.
    pub idle_timeout: Option<Duration>,
    /// The longest answer or event that is read.
    pub max_message: usize,
}

/// Why a target cannot even be tried.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HttpError {
    /// Its URL is none.
    #[error(transparent)]
    Url(#[from] BadUrl),
    /// TLS cannot be set up as it says.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Its proxy cannot be used.
    #[error("the proxy {0:?} cannot be used: it must be http://HOST:PORT")]
    Proxy(String),
    /// One of its headers is none; the value is not shown, it may be a secret.
    #[error("the header {0:?} has a name or a value that no header can have")]
    Header(String),
    /// What it says of OAuth cannot be used.
    #[cfg(feature = "oauth")]
    #[error("{0}")]
    OAuth(String),
}

/// The two ways over HTTP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HttpTransport {
    /// Streamable HTTP, and HTTP+SSE where that is not there.
    #[default]
    Auto,
    /// Streamable HTTP; since 2025-03-26.
    Streamable,
    /// HTTP+SSE; of 2024-11-05.
    Sse,
}

/// Who to say that we are.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    /// A bearer token.
    Bearer(String),
    /// User and password, joined by a colon.
    Basic(String),
    /// What an authorization server says of us.
    #[cfg(feature = "oauth")]
    OAuth(Box<OAuth>),
}

/// Whom to trust over TLS.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tls {
    /// A file of certificates to trust besides the system's.
    pub ca: Option<PathBuf>,
    /// Trust anybody.
    pub insecure: bool,
}

/// Proxies, in the form of the usual environment variables; empty is none.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Proxies {
    /// For `http`, as `HTTP_PROXY` says.
    pub http: String,
    /// For `https`, as `HTTPS_PROXY` says.
    pub https: String,
    /// The hosts to reach without, as `NO_PROXY` says.
    pub except: String,
}

impl HttpTarget {
    /// A server at this URL, with everything as it is by default.
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
            max_message: sparring_peer::link::LinesOptions::default().max_line,
        }
    }

    /// Says who we are by a bearer token.
    #[must_use]
    pub fn bearer(mut self, token: impl Into<String>) -> Self {
        self.credentials = Some(Credentials::Bearer(token.into()));
        self
    }

    /// Says who we are by a user and a password.
    #[must_use]
    pub fn basic(mut self, user: &str, password: &str) -> Self {
        self.credentials = Some(Credentials::Basic(format!("{user}:{password}")));
        self
    }

    /// Adds a header that every request has.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Whether its URL is one of a server at all.
    ///
    /// # Errors
    /// When it is none; the error says why.
    pub fn check_url(&self) -> Result<(), BadUrl> {
        endpoint::Endpoint::parse(&self.url).map(drop)
    }

    /// Whether nobody on the way can read what goes there: it is this machine,
    /// or TLS is between.
    pub fn is_private(&self) -> bool {
        match endpoint::Endpoint::parse(&self.url) {
            Ok((endpoint, _)) => match &endpoint.origin {
                endpoint::Origin::Tcp { tls, host, .. } => *tls || endpoint::is_loopback(host),
                endpoint::Origin::Unix(_) => true,
            },
            Err(_) => false,
        }
    }

    /// Its URL without what may be secret in it.
    pub fn shown_url(&self) -> String {
        endpoint::shown(&self.url)
    }
}

impl Credentials {
    /// What the header `Authorization` says, if that is known from the start.
    fn header(&self) -> Option<String> {
        match self {
            Credentials::Bearer(token) => Some(format!("Bearer {token}")),
            Credentials::Basic(pair) => Some(endpoint::basic(pair)),
            #[cfg(feature = "oauth")]
            Credentials::OAuth(_) => None,
        }
    }
}

impl fmt::Debug for HttpTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("HttpTarget")
            .field("url", &endpoint::shown(&self.url))
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

/// A proxy's URL may have credentials in it.
impl fmt::Debug for Proxies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxies").field("except", &self.except).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_never_shown() {
        let mut target = HttpTarget::new("http://me:hunter1@localhost/mcp");
        target.headers.push(("X-Key".to_owned(), "hunter2".to_owned()));
        target.credentials = Some(Credentials::Bearer("hunter3".to_owned()));
        target.proxies.http = "http://me:hunter4@proxy".to_owned();
        let shown = format!("{target:?} {:?}", target.proxies);
        assert!(shown.contains("X-Key") && !shown.contains("hunter"), "{shown}");
    }
}
