//! The HTTP requests of a link and their headers.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, Entry, HOST, HeaderName};
use http::{HeaderValue, Method};
use sparring_peer::Cause;
use sparring_wire::{FrameKind, mirrored_headers};

use super::super::exchange_recorder::{ExchangeProgress, ExchangeRecorder, redact_headers};
use super::super::http_client::{RequestHead, SESSION_HEADER};
use super::super::response::HttpResponse;
use super::{AuthPolicy, ClientSession, Message};
use crate::secrets::Secrets;

const ACCEPT_ANY: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The kind of a request.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Post,
    Listen,
    End,
}

impl ClientSession {
    /// Sends a message.
    pub(in super::super) async fn post(
        &self,
        message: &Message,
        exchange: &mut ExchangeRecorder,
    ) -> Result<Box<HttpResponse>, Cause> {
        let content = || {
            let (mut head, body) = (self.head_for(message), message.frame.bytes());
            if !self.default_headers.contains_key(CONTENT_LENGTH) {
                head.headers.insert(CONTENT_LENGTH, body.len().into());
            }
            (head, Bytes::copy_from_slice(body))
        };
        // A notification is repeated later, or does not justify a login.
        let policy = match message.frame.kind() {
            FrameKind::Notification => AuthPolicy::NonInteractive,
            _ => AuthPolicy::Interactive,
        };
        self.send_http(&Method::POST, policy, &content, exchange).await
    }

    /// Returns the head for a message, reusing the last one if the headers are equal.
    fn head_for(&self, message: &Message) -> RequestHead {
        if let Some((headers, head)) = &self.state().last
            && *headers == message.headers
        {
            return head.clone();
        }
        let head = self.build_head_for(message);
        self.state().last = Some((message.headers.clone(), head.clone()));
        head
    }

    fn build_head_for(&self, message: &Message) -> RequestHead {
        let mut head = self.base_head(Purpose::Post);
        for (name, value) in message.headers.iter() {
            let name = HeaderName::from_bytes(name.as_bytes());
            let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) else { continue };
            if name == mirrored_headers::PROTOCOL_VERSION_HEADER {
                self.set_version(&value);
            }
            // The user's headers replace ours.
            if let Entry::Vacant(vacant) = head.headers.entry(&name) {
                head.redacted.push(name.as_str(), value.to_str().unwrap_or_default());
                vacant.insert(value);
            }
        }
        // Reserves the place, so that no copy has to grow for it.
        head.headers.entry(CONTENT_LENGTH).or_insert(HeaderValue::from(0));
        head
    }

    /// Requests the event stream of 2024-11-05, which defines no headers.
    pub(in super::super) async fn listen_http_sse(
        &self,
        exchange: &mut ExchangeRecorder,
    ) -> Result<Box<HttpResponse>, Cause> {
        let content = || (self.base_head(Purpose::Listen), Bytes::new());
        self.send_http(&Method::GET, AuthPolicy::Interactive, &content, exchange).await
    }

    /// Requests events after the last one that was received.
    pub(in super::super) async fn listen(
        &self,
        after: Option<&HeaderValue>,
        policy: AuthPolicy,
        exchange: &mut ExchangeRecorder,
    ) -> Result<Box<HttpResponse>, Cause> {
        let head = || {
            let mut head = self.base_head(Purpose::Listen);
            self.add_version(&mut head);
            if let Some(after) = after {
                let text = String::from_utf8_lossy(after.as_bytes());
                head.redacted.push("last-event-id", &text);
                let after = after.clone();
                head.headers.insert(HeaderName::from_static("last-event-id"), after);
            }
            (head, Bytes::new())
        };
        self.send_http(&Method::GET, policy, &head, exchange).await
    }

    /// Ends the session, if there is one.
    pub(in super::super) async fn end_session(self: Arc<Self>) {
        let head = || {
            let mut head = self.base_head(Purpose::End);
            self.add_version(&mut head);
            (head, Bytes::new())
        };
        let mut exchange = ExchangeRecorder::new(self.recorder(), ExchangeProgress::default());
        let ended = self.send_http(&Method::DELETE, AuthPolicy::Never, &head, &mut exchange).await;
        // A server may refuse to end a session.
        if let Ok(mut response) = ended
            && response.body(self.limit, &exchange).await.is_ok()
        {
            exchange.complete();
        }
    }

    /// Returns the head for a kind of request, built once for each session.
    fn base_head(&self, purpose: Purpose) -> RequestHead {
        let mut state = self.state();
        let session = state.session_id.clone();
        let made = &mut state.heads[purpose as usize];
        made.get_or_insert_with(|| {
            let mut headers = self.default_headers.clone();
            let (accept, content) = match purpose {
                Purpose::Post => (ACCEPT_ANY, Some(JSON)),
                Purpose::Listen => (EVENTS, None),
                Purpose::End => (ACCEPT_ANY, None),
            };
            if let Some(host) = &self.client.address().host {
                headers.entry(HOST).or_insert_with(|| host.clone());
            }
            headers.entry(ACCEPT).or_insert(accept);
            if let Some(content) = content {
                headers.entry(CONTENT_TYPE).or_insert(content);
            }
            if let Some(session) = session {
                headers.entry(HeaderName::from_static(SESSION_HEADER)).or_insert(session);
            }
            RequestHead { redacted: redact_headers(&headers, &Secrets::default()), headers }
        })
        .clone()
    }

    fn set_version(&self, value: &HeaderValue) {
        let mut state = self.state();
        if state.version.as_ref() != Some(value) {
            state.version = Some(value.clone());
        }
    }

    fn add_version(&self, head: &mut RequestHead) {
        if let (Some(version), Ok(name)) =
            (&self.state().version, HeaderName::try_from(mirrored_headers::PROTOCOL_VERSION_HEADER))
        {
            head.redacted.push(name.as_str(), version.to_str().unwrap_or_default());
            head.headers.entry(name).or_insert_with(|| version.clone());
        }
    }
}
