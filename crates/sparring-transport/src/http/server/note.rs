//! What a transcript keeps of an exchange: what was asked for, what came of it,
//! and when. Secrets are hidden here, before anything is kept.

use std::sync::Arc;
use std::time::Duration;

use http::header::{self, HeaderName};
use http::request::Parts;
use http::{HeaderMap, Method, Response};
use sparring_peer::link::Recorder;
use sparring_wire::{Exchange, Headers};
use tokio::time::Instant;

use super::legacy::SESSION;

/// One exchange as it goes on. Dropped, it is written into the transcript, so
/// that one whose client has gone is there as well.
#[derive(Debug)]
pub(super) struct Note {
    recorder: Recorder,
    begun: Instant,
    exchange: Option<Exchange>,
}

impl Note {
    pub(super) fn begin(recorder: Recorder, parts: &Parts) -> Self {
        let exchange = Exchange {
            at: recorder.elapsed(),
            method: method_name(&parts.method),
            url: url(parts),
            request_headers: shown(&parts.headers),
            status: None,
            response_headers: Headers::new(),
            connect: None,
            first_byte: None,
            done: Duration::ZERO,
            error: Some("the client left before the answer".into()),
        };
        Note { recorder, begun: Instant::now(), exchange: Some(exchange) }
    }

    /// The head of the response is about to be sent.
    pub(super) fn head<B>(&mut self, response: &Response<B>) {
        if let Some(exchange) = &mut self.exchange {
            exchange.status = Some(response.status().as_u16());
            exchange.response_headers = shown(response.headers());
            exchange.first_byte = Some(self.begun.elapsed());
            exchange.error = Some("ended in the middle of the stream".into());
        }
    }

    /// All of the response was given out.
    pub(super) fn complete(&mut self) {
        if let Some(exchange) = &mut self.exchange {
            exchange.error = None;
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        if let Some(mut exchange) = self.exchange.take() {
            exchange.done = self.begun.elapsed();
            self.recorder.exchanged(exchange);
        }
    }
}

fn method_name(method: &Method) -> &'static str {
    let known = ["GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT", "PATCH", "CONNECT", "TRACE"];
    known.into_iter().find(|known| *known == method.as_str()).unwrap_or("another method")
}

/// What was asked for. Behind the `?` stands who may use a session of HTTP+SSE,
/// so that is not shown.
fn url(parts: &Parts) -> Arc<str> {
    let named = parts.uri.authority().map(|authority| authority.as_str());
    let host = || parts.headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let host = named.or_else(host).map_or("", |host| host.rsplit('@').next().unwrap_or(host));
    let query = if parts.uri.query().is_some() { "?…" } else { "" };
    format!("http://{host}{}{query}", parts.uri.path()).into()
}

/// Headers as they may be shown.
fn shown(headers: &HeaderMap) -> Headers {
    let mut shown = Headers::new();
    for (name, value) in headers {
        let value = String::from_utf8_lossy(value.as_bytes());
        if is_secret(name) {
            shown.push(name.as_str(), "(hidden)");
        } else if name == SESSION {
            // Whoever knows all of it can take the session over.
            shown.push(name.as_str(), &format!("{}…", value.get(..8).unwrap_or_default()));
        } else if name == header::LOCATION && value.contains(['?', '#']) {
            // A browser that is sent there brings what only it may have.
            let end = value.find(['?', '#']).unwrap_or_default();
            shown.push(name.as_str(), &format!("{}?…", &value[..end]));
        } else {
            shown.push(name.as_str(), &value);
        }
    }
    shown
}

/// Whether that is for the server's eyes only; by their names, since what else
/// clients send is not known.
fn is_secret(name: &HeaderName) -> bool {
    let secret =
        [header::AUTHORIZATION, header::PROXY_AUTHORIZATION, header::COOKIE, header::SET_COOKIE];
    let signs = ["key", "token", "secret", "password", "auth-"];
    secret.contains(name) || signs.iter().any(|sign| name.as_str().contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_secret_is_hidden() {
        let request = http::Request::get("http://me:hunter2@localhost/messages?sessionId=hunter2")
            .header("authorization", "Bearer hunter2")
            .header("x-api-key", "hunter2")
            .header("cookie", "hunter2")
            .header("mcp-session-id", "0123456789hunter2")
            .header("location", "http://a/back?code=hunter2")
            .header("accept", "*/*");
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        assert_eq!(&*url(&parts), "http://localhost/messages?…");
        let headers = shown(&parts.headers);
        assert!(headers.iter().all(|(_, value)| !value.contains("hunter2")));
        assert_eq!(headers.get("accept"), Some("*/*"));
        assert_eq!(headers.get("authorization"), Some("(hidden)"));
        assert_eq!(headers.get("location"), Some("http://a/back?…"));
        assert_eq!(headers.get("mcp-session-id"), Some("01234567…"));
    }
}
