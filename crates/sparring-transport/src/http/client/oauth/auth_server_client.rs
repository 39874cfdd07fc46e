//! Sends requests to authorization servers: with the TLS settings and proxies of the target,
//! but without its headers. Each exchange is recorded in the transcript, and no body is ever
//! shown.

use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, DATE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use serde::de::DeserializeOwned;
use sparring_peer::Cause;
use sparring_peer::link::Recorder;
use tokio::net::lookup_host;
use tokio::time::timeout;

use super::super::HttpTarget;
use super::super::connector::Connector;
use super::super::endpoint::{Endpoint, Origin, is_loopback, redact_url};
use super::super::exchange_recorder::{ExchangeProgress, ExchangeRecorder, redact_headers};
use super::super::http_client::{HttpClient, RequestHead, mark_sensitive};
use super::super::locality::{Locality, PeerLocality};
use super::error::AuthError;
use crate::secrets::Secrets;

/// The timeout of a request.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

/// The largest document that is read.
const MAX_DOCUMENT_SIZE: usize = 1024 * 1024;

/// The minimum clock difference that is reported.
const MAX_CLOCK_SKEW_SECS: u64 = 60;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Sends requests to authorization servers.
pub(super) struct AuthServerClient<'a> {
    /// The server that the tokens are for; its TLS settings and proxies are used.
    pub(super) target: &'a HttpTarget,
    pub(super) recorder: Option<Recorder>,
    pub(super) secrets: Secrets,
    /// The class of addresses that the server was reached at; connections go to none that are
    /// nearer. None for no limit.
    pub(super) nearest: Option<PeerLocality>,
}

/// The response of an authorization server.
pub(super) struct AuthServerResponse {
    /// Its URL, with secrets masked.
    pub(super) url: String,
    pub(super) status: StatusCode,
    pub(super) body: Vec<u8>,
    headers: HeaderMap,
}

/// The body of a request and its headers.
pub(super) struct RequestContent {
    pub(super) kind: &'static str,
    pub(super) body: String,
    pub(super) authorization: Option<String>,
}

impl AuthServerClient<'_> {
    pub(super) async fn get(&self, url: &str) -> Result<AuthServerResponse, AuthError> {
        self.send(&Method::GET, url, None).await
    }

    pub(super) async fn post(
        &self,
        url: &str,
        content: RequestContent,
    ) -> Result<AuthServerResponse, AuthError> {
        self.send(&Method::POST, url, Some(content)).await
    }

    async fn send(
        &self,
        method: &Method,
        url: &str,
        content: Option<RequestContent>,
    ) -> Result<AuthServerResponse, AuthError> {
        let endpoint = self.endpoint(url)?;
        let bad = |why: String| AuthError::InvalidResponse { url: redact_url(url), why };
        let connector = Connector::new(&endpoint.origin, self.target);
        let connector = connector.map_err(|error| bad(error.to_string()))?;
        let connector = match self.nearest_class().await {
            Some(nearest) => connector.with_nearest(nearest),
            None => connector,
        };
        let url = endpoint.to_string();
        let head = request_head(&endpoint, content.as_ref()).map_err(|why| bad(why.to_owned()))?;
        let body = content.map(|content| Bytes::from(content.body)).unwrap_or_default();
        let client = HttpClient::new(connector, endpoint, None, self.secrets.clone());
        let mut exchange =
            ExchangeRecorder::new(self.recorder.clone(), ExchangeProgress::default());
        let asked = async {
            let content = || (head.clone(), body.clone());
            let mut response = client.send(method, &content, &mut exchange).await?;
            let (body, whole) = response.body(MAX_DOCUMENT_SIZE, &exchange).await?;
            exchange.complete();
            Ok((response, body, whole))
        };
        match timeout(REQUEST_TIMEOUT, asked).await {
            Err(_) => Err(AuthError::Unavailable(format!(
                "{url} did not answer within {REQUEST_TIMEOUT:?}"
            ))),
            Ok(Err(Cause::Unreachable(why))) => Err(AuthError::Unavailable(why)),
            Ok(Err(cause)) => Err(bad(cause.to_string())),
            Ok(Ok((_, _, false))) => Err(bad(format!("longer than {MAX_DOCUMENT_SIZE} bytes"))),
            Ok(Ok((response, body, true))) => {
                let (status, headers) = (response.status, response.headers);
                Ok(AuthServerResponse { url, status, body, headers })
            }
        }
    }

    /// Returns the nearest class of addresses to connect to. If the server was not reached yet,
    /// its name is resolved.
    async fn nearest_class(&self) -> Option<Locality> {
        let reached = self.nearest.as_ref()?;
        if let Some(known) = reached.get() {
            return Some(known);
        }
        let Ok((server, _)) = Endpoint::parse(&self.target.url) else {
            return Some(Locality::Public);
        };
        let found = match (Locality::of_origin(&server.origin), &server.origin) {
            (Some(named), _) => Some(named),
            (None, Origin::Tcp { host, .. }) => match lookup_host((&**host, 0)).await {
                Ok(all) => all.map(|address| Locality::of(address.ip())).min(),
                // A proxy may resolve it.
                Err(_) => None,
            },
            (None, Origin::Unix(_)) => None,
        };
        let found = found.unwrap_or(Locality::Public);
        reached.add(found);
        Some(found)
    }

    /// Parses a URL that a server names. A server with TLS must not name one without.
    pub(super) fn endpoint(&self, url: &str) -> Result<Endpoint, AuthError> {
        let bad = |error: super::super::InvalidUrl| AuthError::InvalidResponse {
            url: redact_url(url),
            why: error.reason,
        };
        let (endpoint, _) = Endpoint::parse(url).map_err(bad)?;
        let secured =
            self.target.url.get(..6).is_some_and(|begin| begin.eq_ignore_ascii_case("https:"));
        match &endpoint.origin {
            Origin::Tcp { tls: false, host, .. } if secured && !is_loopback(host) => {
                Err(AuthError::Downgrade(endpoint.to_string()))
            }
            Origin::Unix(_) => Err(AuthError::Downgrade(endpoint.to_string())),
            _ => Ok(endpoint),
        }
    }
}

fn request_head(
    endpoint: &Endpoint,
    content: Option<&RequestContent>,
) -> Result<RequestHead, &'static str> {
    let mut headers = HeaderMap::new();
    let host = HeaderValue::try_from(endpoint.host_header()).map_err(|_| "invalid host")?;
    headers.insert(HOST, host);
    let agent = concat!("sparring/", env!("CARGO_PKG_VERSION"));
    headers.insert(USER_AGENT, HeaderValue::from_static(agent));
    headers.insert(ACCEPT, JSON);
    if let Some(content) = content {
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content.kind));
        if let Some(authorization) = &content.authorization {
            let value = HeaderValue::try_from(authorization);
            headers
                .insert(AUTHORIZATION, mark_sensitive(value.map_err(|_| "invalid credentials")?));
        }
    }
    Ok(RequestHead { redacted: redact_headers(&headers, &Secrets::default()), headers })
}

impl AuthServerResponse {
    /// Parses the body as JSON.
    pub(super) fn parse<T: DeserializeOwned>(&self) -> Result<T, AuthError> {
        serde_json::from_slice(&self.body).map_err(|error| AuthError::InvalidResponse {
            url: self.url.clone(),
            // The parser's message may repeat the content.
            why: match error.classify() {
                serde_json::error::Category::Data => describe_field_error(&error.to_string()),
                _ => "not JSON".to_owned(),
            },
        })
    }

    /// Describes the status without showing the body.
    pub(super) fn describe_status(&self) -> String {
        format!("{} answered {}", self.url, self.status)
    }

    /// Describes the clock difference, if it may be the problem.
    pub(super) fn clock_skew(&self) -> Option<String> {
        clock_skew(&self.headers)
    }
}

/// Names the field that is missing or wrong.
fn describe_field_error(error: &str) -> String {
    let missing = error.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    match missing {
        Some(field) => format!("missing field {field}"),
        None => "a field has a value of the wrong type".to_owned(),
    }
}

/// Describes the clock difference to the sender of these headers, if it may be the problem.
pub(super) fn clock_skew(headers: &HeaderMap) -> Option<String> {
    let theirs = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    let (apart, word) = match theirs.elapsed() {
        Ok(behind) => (behind, "behind"),
        Err(ahead) => (ahead.duration(), "ahead of"),
    };
    let seconds = apart.as_secs();
    (seconds > MAX_CLOCK_SKEW_SECS)
        .then(|| format!("clock skew: its clock is {seconds}s {word} ours"))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn reports_a_clock_that_is_far_off() {
        let skew_of = |apart: i64| {
            let apart_by = Duration::from_secs(apart.unsigned_abs());
            let now = SystemTime::now();
            let theirs = if apart < 0 { now - apart_by } else { now + apart_by };
            let mut headers = HeaderMap::new();
            let date = httpdate::fmt_http_date(theirs);
            headers.insert(DATE, date.parse().expect("a header"));
            clock_skew(&headers)
        };
        assert_eq!(skew_of(30), None);
        assert_eq!(skew_of(-30), None);
        let skew_text = |apart| skew_of(apart).unwrap_or_default();
        assert!(skew_text(-600).ends_with("s behind ours"), "{}", skew_text(-600));
        assert!(skew_text(600).ends_with("s ahead of ours"), "{}", skew_text(600));
    }

    #[tokio::test]
    async fn a_public_server_leads_to_no_local_address() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let target = HttpTarget::new("https://mcp.example.com/mcp".to_owned());
        let secrets = Secrets::default();
        let nearest = PeerLocality::default();
        nearest.add(Locality::Public);
        let nearest = Some(nearest);
        let web = AuthServerClient { target: &target, recorder: None, secrets, nearest };
        for url in [
            format!("http://{address}/x"),
            format!("http://localhost:{}/x", address.port()),
            "http://169.254.169.254/latest/meta-data".to_owned(),
        ] {
            let content = || RequestContent {
                kind: "application/x-www-form-urlencoded",
                body: String::new(),
                authorization: None,
            };
            for answer in [web.get(&url).await, web.post(&url, content()).await] {
                let error = answer.err().expect("it is refused").to_string();
                let expected = ["is nearer than that of the server", "is not https"];
                assert!(expected.iter().any(|it| error.contains(it)), "{url}: {error}");
            }
        }
        let visit = timeout(Duration::from_millis(50), listener.accept()).await;
        assert!(visit.is_err(), "it was contacted");
    }

    #[test]
    fn reports_an_invalid_document_without_showing_it() {
        #[derive(Debug, serde::Deserialize)]
        struct Wanted {
            #[expect(dead_code, reason = "only read")]
            issuer: String,
        }
        for (body, expected) in [
            ("{\"hunter2\": 1}", "missing field issuer"),
            ("{\"issuer\": [\"hunter2\"]}", "a field has a value of the wrong type"),
            ("hunter2", "not JSON"),
        ] {
            let answer = AuthServerResponse {
                url: "http://a/b".to_owned(),
                status: StatusCode::OK,
                body: body.into(),
                headers: HeaderMap::new(),
            };
            let error = answer.parse::<Wanted>().expect_err("it is none").to_string();
            assert_eq!(error, format!("invalid response of http://a/b: {expected}"));
        }
    }
}
