//! Records exchanges in the transcript: request, response and times. Secrets are masked here,
//! before anything is stored.

use std::sync::Arc;
use std::time::Duration;

use http::header;
use http::request::Parts;
use http::{HeaderMap, Method, Response};
use sparring_peer::link::Recorder;
use sparring_wire::secret_names::is_secret_header;
use sparring_wire::{Exchange, Headers};
use tokio::time::Instant;

use super::legacy::SESSION_HEADER;

/// One exchange in progress. Dropping it writes the exchange to the transcript, so that it is
/// recorded even if the client has gone.
#[derive(Debug)]
pub(super) struct ExchangeRecorder {
    recorder: Recorder,
    started: Instant,
    exchange: Option<Exchange>,
}

impl ExchangeRecorder {
    pub(super) fn new(recorder: Recorder, parts: &Parts) -> Self {
        let exchange = Exchange {
            at: recorder.elapsed(),
            method: method_name(&parts.method),
            url: redacted_url(parts),
            request_headers: redact_headers(&parts.headers),
            status: None,
            response_headers: Headers::new(),
            connect: None,
            first_byte: None,
            total: Duration::ZERO,
            error: Some("the client left before the answer".into()),
        };
        ExchangeRecorder { recorder, started: Instant::now(), exchange: Some(exchange) }
    }

    /// The head of the response is about to be sent.
    pub(super) fn record_head<B>(&mut self, response: &Response<B>) {
        if let Some(exchange) = &mut self.exchange {
            exchange.status = Some(response.status().as_u16());
            exchange.response_headers = redact_headers(response.headers());
            exchange.first_byte = Some(self.started.elapsed());
            exchange.error = Some("ended in the middle of the stream".into());
        }
    }

    /// The whole response was handed over.
    pub(super) fn complete(&mut self) {
        if let Some(exchange) = &mut self.exchange {
            exchange.error = None;
        }
    }
}

impl Drop for ExchangeRecorder {
    fn drop(&mut self) {
        if let Some(mut exchange) = self.exchange.take() {
            exchange.total = self.started.elapsed();
            self.recorder.record_exchange(exchange);
        }
    }
}

fn method_name(method: &Method) -> &'static str {
    let known = ["GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH", "CONNECT", "TRACE"];
    known.into_iter().find(|known| *known == method.as_str()).unwrap_or("another method")
}

/// Returns the URL without its query, which contains the session id of HTTP+SSE.
fn redacted_url(parts: &Parts) -> Arc<str> {
    let named = parts.uri.authority().map(|authority| authority.as_str());
    let host = || parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = named.or_else(host).map_or("", |host| host.rsplit('@').next().unwrap_or(host));
    let query = if parts.uri.query().is_some() { "?…" } else { "" };
    format!("http://{host}{}{query}", parts.uri.path()).into()
}

/// Returns the headers with secrets masked.
fn redact_headers(headers: &HeaderMap) -> Headers {
    let mut redacted = Headers::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        if name == SESSION_HEADER {
            // A session can be taken over by anyone who knows its id.
            redacted.push(name.as_str(), &format!("{}…", value.get(..8).unwrap_or_default()));
        } else if is_secret_header(name.as_str()) {
            redacted.push(name.as_str(), "(hidden)");
        } else if name == header::LOCATION && value.contains(['?', '#']) {
            // The query may contain a secret of the browser's user.
            let end = value.find(['?', '#']).unwrap_or_default();
            redacted.push(name.as_str(), &format!("{}?…", &value[..end]));
        } else {
            redacted.push(name.as_str(), &value);
        }
    }
    redacted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_possible_secrets() {
        let request = http::Request::get("http://me:hunter2@localhost/messages?sessionId=hunter2")
            .header("authorization", "Bearer hunter2")
            .header("x-api-key", "hunter2")
            .header("cookie", "hunter2")
            .header("mcp-session-id", "0123456789hunter2")
            .header("location", "http://a/back?code=hunter2")
            .header("accept", "*/*");
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        assert_eq!(&*redacted_url(&parts), "http://localhost/messages?…");
        let headers = redact_headers(&parts.headers);
        assert!(headers.iter().all(|(_, value)| !value.contains("hunter2")));
        assert_eq!(headers.get("accept"), Some("*/*"));
        assert_eq!(headers.get("authorization"), Some("(hidden)"));
        assert_eq!(headers.get("location"), Some("http://a/back?…"));
        assert_eq!(headers.get("mcp-session-id"), Some("01234567…"));
    }
}
