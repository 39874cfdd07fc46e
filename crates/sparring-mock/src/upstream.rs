//! Requests to HTTP servers behind a mock, and their tool results. A failure becomes a result
//! with `isError`.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http::header::{self, CONTENT_TYPE, HeaderName};
use http::response::Parts;
use http::{Method, Request, Uri};
use serde_json::{Value, json};
use sparring_script::{Template, TemplateTree};
use sparring_transport::http::{Tls, TlsClient, send_once};
use sparring_wire::json::parse_value;
use sparring_wire::types::CallToolResult;

/// The largest response body, in bytes.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

/// An HTTP request of a reply, with templates.
#[derive(Debug)]
pub(crate) struct HttpCall {
    pub(crate) method: Method,
    pub(crate) url: Template,
    pub(crate) query: Vec<(String, TemplateTree)>,
    pub(crate) headers: Vec<(HeaderName, TemplateTree)>,
    pub(crate) body: HttpBody,
    pub(crate) timeout: Duration,
}

/// The body of a request.
#[derive(Debug)]
pub(crate) enum HttpBody {
    None,
    Text(TemplateTree),
    Json(TemplateTree),
}

/// A rendered HTTP request.
#[derive(Debug)]
pub(crate) struct UpstreamRequest {
    pub(crate) request: http::request::Builder,
    pub(crate) url: String,
    pub(crate) body: Vec<u8>,
}

/// Sends a request on its own connection, and returns its result or failure.
pub(crate) async fn send(upstream: UpstreamRequest, tls: &LazyTls) -> UpstreamResult {
    let url = upstream.url.clone();
    match try_send(upstream, tls).await {
        Ok(outcome) => outcome,
        Err(why) => UpstreamResult::from_failure(&url, &why),
    }
}

async fn try_send(upstream: UpstreamRequest, tls: &LazyTls) -> Result<UpstreamResult, String> {
    let uri: Uri = upstream.url.parse().map_err(|error| format!("not a URL ({error})"))?;
    let authority = uri.authority().ok_or("the URL has no host")?;
    let tls_client = match uri.scheme_str() {
        Some("http") => None,
        Some("https") => Some(tls.client()?),
        _ => return Err("the URL must begin with http:// or https://".to_owned()),
    };
    let target = uri.path_and_query().map_or("/", |target| target.as_str());
    let request: Request<Bytes> = upstream
        .request
        .uri(target)
        .header(header::HOST, authority.as_str())
        .body(upstream.body.into())
        .map_err(|error| format!("invalid request ({error})"))?;
    let (parts, body) = send_once(&uri, tls_client, request, MAX_BODY_BYTES).await?.into_parts();
    Ok(UpstreamResult::from_response(&upstream.url, &parts, &body))
}

/// The tool result of a request.
#[derive(Debug, PartialEq)]
pub(crate) struct UpstreamResult(CallToolResult);

impl UpstreamResult {
    /// Converts a response: a successful one to its body, any other with its status.
    pub(crate) fn from_response(url: &str, parts: &Parts, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let status = parts.status;
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let is_json = content_type.is_some_and(|it| it.contains("json"));
        let parsed = is_json.then(|| parse_value(body).ok()).flatten();
        if status.is_success() && !body.is_empty() {
            let structured_content = parsed.filter(Value::is_object);
            return UpstreamResult(CallToolResult {
                structured_content,
                ..CallToolResult::text(text)
            });
        }
        let body_json = parsed.unwrap_or_else(|| text.clone().into_owned().into());
        let structured = json!({"status": status.as_u16(), "url": url, "body": body_json});
        let mut summary = format!("HTTP {status}: {url}");
        if !text.trim().is_empty() {
            summary += &format!("\n{text}");
        }
        let result = match status.is_success() {
            true => CallToolResult::text(summary),
            false => CallToolResult::failure(summary),
        };
        UpstreamResult(CallToolResult { structured_content: Some(structured), ..result })
    }

    /// Reports the reason why there was no response.
    pub(crate) fn from_failure(url: &str, why: &str) -> Self {
        let structured = json!({"error": why, "url": url});
        let result = CallToolResult::failure(format!("{why}: {url}"));
        UpstreamResult(CallToolResult { structured_content: Some(structured), ..result })
    }

    /// Reports a timeout.
    pub(crate) fn from_timeout(url: &str, after: Duration) -> Self {
        UpstreamResult::from_failure(url, &format!("timed out after {after:?}"))
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        self.0
    }
}

/// A TLS client that is made on first use, since reading the certificates of the system takes
/// time.
#[derive(Debug)]
pub(crate) struct LazyTls {
    tls: Tls,
    client: OnceLock<Result<TlsClient, String>>,
}

impl LazyTls {
    pub(crate) fn new(tls: Tls) -> Self {
        LazyTls { tls, client: OnceLock::new() }
    }

    /// Returns the TLS client, or the error of making it.
    fn client(&self) -> Result<&TlsClient, String> {
        let client = self
            .client
            .get_or_init(|| TlsClient::new(&self.tls).map_err(|error| error.to_string()));
        client.as_ref().map_err(Clone::clone)
    }
}
