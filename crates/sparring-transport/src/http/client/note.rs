//! What is kept of an exchange: for the transcript, and for whoever asks how
//! far it has come. Secrets are hidden here, before anything is kept.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use http::header::{CONTENT_TYPE, HeaderName, LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use sparring_peer::link::Recorder;
use sparring_wire::{Exchange, Headers};
use tokio::time::Instant;

use super::call::SESSION;
use super::endpoint;
use super::opened::kind_of;
use crate::secrets::Secrets;

/// How far an exchange has come. All clones are one.
#[derive(Debug, Clone, Default)]
pub(super) struct Progress(Arc<Mutex<Stage>>);

#[derive(Debug, Clone, Default)]
enum Stage {
    /// It has to wait for its turn.
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
    /// The connection ended; it will be taken up again.
    Resuming(String),
}

impl Progress {
    pub(super) fn connecting(&self) {
        *self.stage() = Stage::Connecting(Instant::now());
    }

    pub(super) fn sent(&self) {
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

    /// The same in words.
    pub(super) fn describe(&self) -> String {
        match &*self.stage() {
            Stage::Queued => "it was waiting for an earlier message to be taken".to_owned(),
            Stage::Connecting(since) => format!("connecting since {}", ago(*since)),
            Stage::Sent(since) => {
                format!("the request was sent {} ago, and there was no response", ago(*since))
            }
            Stage::Answering { status, kind, bytes, last } => {
                let head = format!(
                    "the server answered {} with {}",
                    status.as_u16(),
                    kind_of(kind.as_ref())
                );
                match bytes {
                    0 => format!("{head} {} ago, and then nothing came", ago(*last)),
                    _ => {
                        format!("{head}, of which {bytes} bytes came, the last {} ago", ago(*last))
                    }
                }
            }
            Stage::Resuming(why) => format!("{why}, and it has not been resumed"),
        }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn ago(since: Instant) -> String {
    match since.elapsed().as_millis() {
        short @ ..1_000 => format!("{short}ms"),
        long => format!("{:.1}s", long as f64 / 1e3),
    }
}

/// One exchange as it goes on. Dropped, it is written into the transcript, so
/// that one that is given up is there as well.
pub(super) struct Note {
    recorder: Option<Recorder>,
    begun: Instant,
    exchange: Option<Exchange>,
    pub(super) progress: Progress,
}

impl Note {
    pub(super) fn begin(recorder: Option<Recorder>, progress: Progress) -> Self {
        Note { recorder, begun: Instant::now(), exchange: None, progress }
    }

    /// A request is about to be made; one before it, as before a redirect, is
    /// at its end.
    pub(super) fn begin_exchange(&mut self, method: &'static str, url: Arc<str>) {
        self.write();
        self.begun = Instant::now();
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
            done: Duration::ZERO,
            error: Some("ended by this side".into()),
        });
    }

    pub(super) fn sending(&mut self, headers: Headers) {
        self.with(|exchange| exchange.request_headers = headers);
    }

    /// What was to be sent never left; it is as if it had not been begun.
    pub(super) fn unsent(&mut self) {
        self.exchange = None;
    }

    pub(super) fn connected(&mut self) {
        let took = self.begun.elapsed();
        self.with(|exchange| exchange.connect = Some(took));
    }

    pub(super) fn head(&mut self, status: StatusCode, headers: &HeaderMap, shown: &Headers) {
        let now = Instant::now();
        self.progress.answering(status, headers, now);
        let took = now - self.begun;
        self.with(|exchange| {
            exchange.status = Some(status.as_u16());
            exchange.response_headers = shown.clone();
            exchange.first_byte = Some(took);
        });
    }

    /// The response is there as a whole.
    pub(super) fn complete(&mut self) {
        self.with(|exchange| exchange.error = None);
        self.write();
    }

    pub(super) fn failed(&mut self, why: &str) {
        self.with(|exchange| exchange.error = Some(why.to_owned().into()));
        self.write();
    }

    fn with(&mut self, change: impl FnOnce(&mut Exchange)) {
        if let Some(exchange) = &mut self.exchange {
            change(exchange);
        }
    }

    fn write(&mut self) {
        if let (Some(recorder), Some(mut exchange)) = (&self.recorder, self.exchange.take()) {
            exchange.done = self.begun.elapsed();
            recorder.exchanged(exchange);
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        self.write();
    }
}

/// Whether some of the headers of a response may not be shown.
pub(super) fn has_secrets(headers: &HeaderMap) -> bool {
    [SET_COOKIE, LOCATION].iter().any(|name| headers.contains_key(name))
        || headers.contains_key(SESSION)
}

/// Headers as they may be shown.
pub(super) fn shown(headers: &HeaderMap, secrets: &Secrets) -> Headers {
    let mut shown = Headers::new();
    for (name, value) in headers {
        match value.to_str() {
            _ if value.is_sensitive() || *name == SET_COOKIE => {
                shown.push(name.as_str(), "(hidden)");
            }
            // Whoever knows a session's id can take it over.
            id if *name == HeaderName::from_static(SESSION) => {
                let begin = id.ok().filter(|id| id.len() >= 16).and_then(|id| id.get(..8));
                shown.push(name.as_str(), &format!("{}…", begin.unwrap_or_default()));
            }
            Ok(url) if *name == LOCATION => {
                shown.push(name.as_str(), &secrets.mask(&endpoint::shown(url)));
            }
            Ok(text) => shown.push(name.as_str(), &secrets.mask(text)),
            Err(_) => {
                let text = String::from_utf8_lossy(value.as_bytes());
                shown.push(name.as_str(), &secrets.mask(&text));
            }
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_location_says_behind_its_path_is_not_shown() {
        let mut headers = HeaderMap::new();
        headers.insert(LOCATION, HeaderValue::from_static("/there?token=hunter2"));
        assert_eq!(shown(&headers, &Secrets::default()).get("location"), Some("/there?…"));
    }

    #[test]
    fn of_a_sessions_id_only_the_beginning_of_a_long_one_is_shown() {
        for (id, expected) in [
            (&b"0123456789abcdef"[..], "01234567…"),
            (b"01234567", "…"),
            (b"0123456789abcd\xfc\xfc", "…"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(SESSION, HeaderValue::from_bytes(id).expect("a value"));
            assert_eq!(shown(&headers, &Secrets::default()).get(SESSION), Some(expected));
        }
    }
}
