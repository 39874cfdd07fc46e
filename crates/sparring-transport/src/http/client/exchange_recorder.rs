//! Records an exchange for the transcript and tracks its progress for error messages. Secrets
//! are masked here, before anything is stored.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderName, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use sparring_peer::link::Recorder;
use sparring_wire::{Exchange, Headers};
use tokio::time::Instant;

use super::endpoint;
use super::http_client::SESSION_HEADER;
use super::response::media_type;
use crate::secrets::Secrets;

/// The progress of an exchange. All clones share it.
#[derive(Debug, Clone, Default)]
pub(super) struct ExchangeProgress(Arc<Mutex<Stage>>);

#[derive(Debug, Clone, Default)]
enum Stage {
    /// Waiting for earlier messages.
    #[default]
    Queued,
    Connecting(Instant),
    Sent(Instant),
    Answering {
        status: StatusCode,
        kind: Option<HeaderValue>,
        bytes: u64,
        last: Instant,
    },
    /// The connection ended; the stream will be resumed.
    Resuming(String),
}

impl ExchangeProgress {
    pub(super) fn connecting(&self) {
        *self.stage() = Stage::Connecting(Instant::now());
    }

    pub(super) fn record_sent(&self) {
        *self.stage() = Stage::Sent(Instant::now());
    }

    fn answering(&self, status: StatusCode, headers: &HeaderMap, last: Instant) {
        let kind = headers.get(CONTENT_TYPE).cloned();
        *self.stage() = Stage::Answering { status, kind, bytes: 0, last };
    }

    pub(super) fn read(&self, more: usize) {
        if let Stage::Answering { bytes, last, .. } = &mut *self.stage() {
            *bytes += more as u64;
            *last = Instant::now();
        }
    }

    pub(super) fn resuming(&self, why: &str) {
        *self.stage() = Stage::Resuming(why.to_owned());
    }

    /// Describes the progress in words.
    pub(super) fn describe(&self) -> String {
        match &*self.stage() {
            Stage::Queued => {
                "it was waiting for the server to accept an earlier message".to_owned()
            }
            Stage::Connecting(since) => format!("connecting for {}", format_elapsed(*since)),
            Stage::Sent(since) => {
                format!("the request was sent {} ago without a response", format_elapsed(*since))
            }
            Stage::Answering { status, kind, bytes, last } => {
                let head = format!(
                    "the server answered {} with {}",
                    status.as_u16(),
                    media_type(kind.as_ref())
                );
                match bytes {
                    0 => format!("{head} {} ago and sent nothing more", format_elapsed(*last)),
                    _ => {
                        format!(
                            "{head} and sent {bytes} bytes, the last {} ago",
                            format_elapsed(*last)
                        )
                    }
                }
            }
            Stage::Resuming(why) => format!("{why}; the stream has not been resumed"),
        }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn format_elapsed(since: Instant) -> String {
    match since.elapsed().as_millis() {
        short @ ..1_000 => format!("{short}ms"),
        long => format!("{:.1}s", long as f64 / 1e3),
    }
}

/// One exchange in progress. Dropping it writes the exchange to the transcript, so that an
/// abandoned exchange is recorded too.
pub(super) struct ExchangeRecorder {
    recorder: Option<Recorder>,
    started: Instant,
    exchange: Option<Exchange>,
    pub(super) progress: ExchangeProgress,
}

impl ExchangeRecorder {
    pub(super) fn new(recorder: Option<Recorder>, progress: ExchangeProgress) -> Self {
        ExchangeRecorder { recorder, started: Instant::now(), exchange: None, progress }
    }

    /// Starts a new exchange and writes the previous one, for example the one before a
    /// redirect.
    pub(super) fn begin_exchange(&mut self, method: &'static str, url: Arc<str>) {
        self.write();
        self.started = Instant::now();
        let Some(recorder) = &self.recorder else { return };
        self.exchange = Some(Exchange {
            at: recorder.elapsed(),
            method,
            url,
            request_headers: Headers::new(),
            status: None,
            response_headers: Headers::new(),
            connect: None,
            first_byte: None,
            total: Duration::ZERO,
            error: Some("ended by this side".into()),
        });
    }

    pub(super) fn set_request_headers(&mut self, headers: Headers) {
        self.update(|exchange| exchange.request_headers = headers);
    }

    /// Discards the exchange: its request was never sent.
    pub(super) fn discard(&mut self) {
        self.exchange = None;
    }

    pub(super) fn record_connected(&mut self) {
        let took = self.started.elapsed();
        self.update(|exchange| exchange.connect = Some(took));
    }

    pub(super) fn record_head(
        &mut self,
        status: StatusCode,
        headers: &HeaderMap,
        redacted: &Headers,
    ) {
        let now = Instant::now();
        self.progress.answering(status, headers, now);
        let took = now - self.started;
        self.update(|exchange| {
            exchange.status = Some(status.as_u16());
            exchange.response_headers = redacted.clone();
            exchange.first_byte = Some(took);
        });
    }

    /// The response was received completely.
    pub(super) fn complete(&mut self) {
        self.update(|exchange| exchange.error = None);
        self.write();
    }

    pub(super) fn fail(&mut self, why: &str) {
        self.update(|exchange| exchange.error = Some(why.to_owned().into()));
        self.write();
    }

    fn update(&mut self, change: impl FnOnce(&mut Exchange)) {
        if let Some(exchange) = &mut self.exchange {
            change(exchange);
        }
    }

    fn write(&mut self) {
        if let (Some(recorder), Some(mut exchange)) = (&self.recorder, self.exchange.take()) {
            exchange.total = self.started.elapsed();
            recorder.record_exchange(exchange);
        }
    }
}

impl Drop for ExchangeRecorder {
    fn drop(&mut self) {
        self.write();
    }
}

/// Returns true if a response has headers that must not be shown.
pub(super) fn has_secrets(headers: &HeaderMap) -> bool {
    [SET_COOKIE, LOCATION].iter().any(|name| headers.contains_key(name))
        || headers.contains_key(SESSION_HEADER)
}

/// Returns the headers with secrets masked.
pub(super) fn redact_headers(headers: &HeaderMap, secrets: &Secrets) -> Headers {
    let mut redacted = Headers::new();
    for (name, value) in headers {
        match value.to_str() {
            _ if value.is_sensitive() || *name == SET_COOKIE => {
                redacted.push(name.as_str(), "(hidden)");
            }
            // A session can be taken over by anyone who knows its id.
            id if *name == HeaderName::from_static(SESSION_HEADER) => {
                let begin = id.ok().filter(|id| id.len() >= 16).and_then(|id| id.get(..8));
                redacted.push(name.as_str(), &format!("{}…", begin.unwrap_or_default()));
            }
            Ok(url) if *name == LOCATION => {
                redacted.push(name.as_str(), &secrets.mask(&endpoint::redact_url(url)));
            }
            Ok(text) => redacted.push(name.as_str(), &secrets.mask(text)),
            Err(_) => {
                let text = String::from_utf8_lossy(value.as_bytes());
                redacted.push(name.as_str(), &secrets.mask(&text));
            }
        }
    }
    redacted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hides_the_query_of_a_location() {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_static("/there?token=hunter2"));
        assert_eq!(redact_headers(&headers, &Secrets::default()).get("location"), Some("/there?…"));
    }

    #[test]
    fn shows_only_the_beginning_of_a_long_session_id() {
        for (id, expected) in [
            (&b"0123456789abcdef"[..], "01234567…"),
            (b"01234567", "…"),
            (b"0123456789abcd\xfc\xfc", "…"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(SESSION_HEADER, HeaderValue::from_bytes(id).expect("a value"));
            assert_eq!(
                redact_headers(&headers, &Secrets::default()).get(SESSION_HEADER),
                Some(expected)
            );
        }
    }
}
