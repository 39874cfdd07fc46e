//! Sends any HTTP request to an MCP server, with the connections, TLS settings, proxies and
//! credentials of a link. For checks of the server's HTTP side; interprets nothing.

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_LENGTH, HOST, HeaderName};
use http::{HeaderMap, HeaderValue, Method};

use super::connector::Connector;
use super::endpoint::Endpoint;
use super::exchange_recorder::{ExchangeProgress, ExchangeRecorder, redact_headers};
use super::http_client::{HttpClient, RequestDefaults, RequestHead};
use super::json_client::{JsonError, JsonResponse};
use super::session::{AuthPolicy, ClientSession};
use super::{HttpError, HttpTarget};

/// Sends any HTTP request to one server.
pub struct RawClient {
    session: ClientSession,
    target: HttpTarget,
    endpoint: Endpoint,
    headers: HeaderMap,
}

/// A request for a [`RawClient`].
#[derive(Debug, Clone)]
pub struct RawRequest {
    /// The method, such as `POST`.
    pub method: String,
    /// A path or URL instead of the target's own.
    pub reference: Option<String>,
    /// Headers that replace those of the target. An empty value removes a header.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: Bytes,
    /// The credentials.
    pub credentials: RawCredentials,
    /// True to write the names of headers in title case instead of lower case.
    pub title_case: bool,
}

/// The credentials of a [`RawRequest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RawCredentials {
    /// Those of the target, at its own origin.
    #[default]
    Target,
    /// None, besides those among the request's own headers.
    Nothing,
}

impl RawRequest {
    /// Creates a request with a method and a body.
    pub fn new(method: &str, body: impl Into<Bytes>) -> Self {
        RawRequest {
            method: method.to_owned(),
            reference: None,
            headers: Vec::new(),
            body: body.into(),
            credentials: RawCredentials::default(),
            title_case: false,
        }
    }
}

impl RawClient {
    /// Creates a client for the URL of a target.
    ///
    /// # Errors
    /// When the target is invalid; the error gives the reason.
    pub fn new(target: &HttpTarget) -> Result<RawClient, HttpError> {
        let RequestDefaults { endpoint, headers, .. } = RequestDefaults::from_target(target)?;
        let session = ClientSession::new(target)?;
        Ok(RawClient { session, target: target.clone(), endpoint, headers })
    }

    /// Returns the URL without its query, with secrets masked.
    pub fn url(&self) -> String {
        self.session.client.address().endpoint.to_string()
    }

    /// Masks secrets in a text, for example one that repeats them.
    pub fn mask(&self, text: &str) -> String {
        self.target.secrets.mask(text).into_owned()
    }

    /// Sends a request and waits for the head of the response. Follows redirects within the
    /// origin. The caller sets the timeout: dropping the future cancels the request.
    ///
    /// # Errors
    /// When there is no response.
    pub async fn send(&self, request: &RawRequest) -> Result<JsonResponse, JsonError> {
        let broken = |why: String| JsonError::Broken(why);
        let method = Method::from_bytes(request.method.as_bytes());
        let method = method.map_err(|error| broken(error.to_string()))?;
        let endpoint = match &request.reference {
            Some(to) => self.endpoint.join(to).map_err(|error| broken(error.to_string()))?,
            None => self.endpoint.clone(),
        };
        let with_own = request.credentials == RawCredentials::Target
            && endpoint.origin == self.endpoint.origin;
        let head = self.head(request, &endpoint, with_own);
        let content = || (head.clone(), request.body.clone());
        let mut exchange = ExchangeRecorder::new(None, ExchangeProgress::default());
        let own_client = request.reference.is_none() && !request.title_case;
        let response = match (own_client, with_own) {
            (true, true) => {
                let policy = AuthPolicy::NonInteractive;
                self.session.send_http(&method, policy, &content, &mut exchange).await?
            }
            (true, false) => self.session.client.send(&method, &content, &mut exchange).await?,
            (false, _) => {
                let client = self.client_for(endpoint, request.title_case);
                let client = client.map_err(|error| broken(error.to_string()))?;
                client.send(&method, &content, &mut exchange).await?
            }
        };
        Ok(JsonResponse::new(response, exchange, self.target.max_message))
    }

    fn client_for(&self, endpoint: Endpoint, title_case: bool) -> Result<HttpClient, HttpError> {
        let connector = Connector::new(&endpoint.origin, &self.target)?;
        let (idle, secrets) = (self.target.idle_timeout, self.target.secrets.clone());
        let client = HttpClient::new(connector, endpoint, idle, secrets);
        Ok(if title_case { client.with_title_case_headers() } else { client })
    }

    fn head(&self, request: &RawRequest, endpoint: &Endpoint, with_own: bool) -> RequestHead {
        let mut headers = self.headers.clone();
        if !with_own {
            headers.remove(AUTHORIZATION);
        }
        if let Ok(host) = HeaderValue::try_from(endpoint.host_header()) {
            headers.insert(HOST, host);
        }
        if !request.body.is_empty() {
            headers.insert(CONTENT_LENGTH, request.body.len().into());
        }
        let given = request.headers.iter().filter_map(|(name, value)| {
            let name = HeaderName::from_bytes(name.as_bytes()).ok()?;
            Some((name, HeaderValue::from_bytes(value).ok()?))
        });
        for (name, value) in given {
            match value.is_empty() {
                true => drop(headers.remove(name)),
                false => drop(headers.insert(name, value)),
            }
        }
        RequestHead { redacted: redact_headers(&headers, &self.target.secrets), headers }
    }
}

impl std::fmt::Debug for RawClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("RawClient").field(&self.endpoint).finish()
    }
}
