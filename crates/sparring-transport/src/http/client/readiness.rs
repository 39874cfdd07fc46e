//! Checks whether a server of this machine accepts connections, and whether its health check
//! succeeds.

use bytes::Bytes;
use http::header::{HOST, LOCATION};
use http::{HeaderMap, Request, StatusCode};
use http_body_util::Full;

use super::connector::Connector;
use super::endpoint::{Endpoint, Origin};
use super::{HttpError, HttpTarget, Proxies, one_shot, tcp};

/// The longest response of a health check.
const MAX_BODY: usize = 1024 * 1024;

/// Checks whether a server is ready.
pub(crate) struct Readiness {
    connector: Connector,
    origin: Origin,
    /// The URL of the health check, if the server has one.
    health: Option<Endpoint>,
}

impl Readiness {
    /// Creates the check for the server of a target, without its proxies. `path` is the path of
    /// its health check; without one, a server is ready when it accepts connections.
    ///
    /// # Errors
    /// When the URL or the path is invalid.
    pub(crate) fn new(target: &HttpTarget, path: Option<&str>) -> Result<Self, HttpError> {
        let (endpoint, _) = Endpoint::parse(&target.url)?;
        let health = path.map(|path| endpoint.join(path)).transpose()?;
        let direct = HttpTarget { proxies: Proxies::default(), ..target.clone() };
        let connector = Connector::new(&endpoint.origin, &direct)?;
        Ok(Readiness { connector, origin: endpoint.origin, health })
    }

    /// Returns the address that the server listens on, for a message.
    pub(crate) fn address(&self) -> String {
        match &self.origin {
            Origin::Tcp { host, port, .. } => format!("{host}:{port}"),
            Origin::Unix(path) => path.display().to_string(),
        }
    }

    /// Returns true if a program accepts connections at the address.
    pub(crate) async fn is_listening(&self) -> bool {
        match &self.origin {
            #[cfg(unix)]
            Origin::Unix(path) => tokio::net::UnixStream::connect(path).await.is_ok(),
            #[cfg(not(unix))]
            Origin::Unix(_) => false,
            origin @ Origin::Tcp { .. } => match origin.uri() {
                Ok(uri) => tcp::connect(&uri, None).await.is_ok(),
                Err(_) => false,
            },
        }
    }

    /// Describes a check without an answer.
    pub(crate) fn no_answer(&self) -> String {
        match &self.health {
            Some(health) => format!("no answer to GET {health}"),
            None => format!("no connection to {}", self.address()),
        }
    }

    /// Checks once.
    ///
    /// # Errors
    /// When the server is not ready; the error gives the reason.
    pub(crate) async fn check(&self) -> Result<(), String> {
        let Some(health) = &self.health else {
            let listens = self.is_listening().await;
            return listens.then_some(()).ok_or_else(|| self.no_answer());
        };
        let failed = |why: String| format!("GET {health}: {why}");
        let io = self.connector.connect().await.map_err(|error| failed(error.to_string()))?;
        let request = Request::get(health.path.as_str()).header(HOST, health.host_header());
        let request =
            request.body(Full::new(Bytes::new())).map_err(|error| failed(error.to_string()))?;
        let response = one_shot::send(io, request, MAX_BODY).await.map_err(failed)?;
        match response.status() {
            status if status.is_success() => Ok(()),
            status => Err(failed(describe_refusal(status, response.headers()))),
        }
    }
}

fn describe_refusal(status: StatusCode, headers: &HeaderMap) -> String {
    let location = headers.get(LOCATION).and_then(|location| location.to_str().ok());
    match location.filter(|_| status.is_redirection()) {
        Some(location) => {
            format!("{status}, a redirect to {location}, which is not followed")
        }
        None => status.to_string(),
    }
}
