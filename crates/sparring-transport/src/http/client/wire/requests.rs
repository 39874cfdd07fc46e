//! The requests that a link makes, and what stands before the body of each.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_LENGTH, CONTENT_TYPE, Entry, HOST, HeaderName};
use http::{HeaderValue, Method};
use sparring_peer::Cause;
use sparring_wire::{FrameKind, mirror};

use super::super::call::{Head, SESSION};
use super::super::effort::Effort;
use super::super::note::{Note, Progress, shown};
use super::super::opened::Opened;
use super::{Message, Wire};
use crate::secrets::Secrets;

const EITHER: HeaderValue = HeaderValue::from_static("application/json, text/event-stream");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// What a request is for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Post,
    Listen,
    End,
}

impl Wire {
    /// Sends a message.
    pub(in super::super) async fn post(
        &self,
        message: &Message,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        let content = || {
            let (mut head, body) = (self.head_of(message), message.frame.bytes());
            if !self.own.contains_key(CONTENT_LENGTH) {
                head.headers.insert(CONTENT_LENGTH, body.len().into());
            }
            (head, Bytes::copy_from_slice(body))
        };
        // What is only told is told again, or is not worth a login.
        let effort = match message.frame.kind() {
            FrameKind::Notification => Effort::Quiet,
            _ => Effort::Full,
        };
        self.call(&Method::POST, effort, &content, note).await
    }

    /// What a message has before it. One like the last has the same.
    fn head_of(&self, message: &Message) -> Head {
        if let Some((headers, head)) = &self.state().last
            && *headers == message.headers
        {
            return head.clone();
        }
        let head = self.new_head_of(message);
        self.state().last = Some((message.headers.clone(), head.clone()));
        head
    }

    fn new_head_of(&self, message: &Message) -> Head {
        let mut head = self.head(Purpose::Post);
        for (name, value) in message.headers.iter() {
            let name = HeaderName::from_bytes(name.as_bytes());
            let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) else { continue };
            if name == mirror::PROTOCOL_VERSION {
                self.set_version(&value);
            }
            // What the user says stands instead of what we would say.
            if let Entry::Vacant(vacant) = head.headers.entry(&name) {
                head.shown.push(name.as_str(), value.to_str().unwrap_or_default());
                vacant.insert(value);
            }
        }
        // Its place is taken here, so that no copy has to grow for it.
        head.headers.entry(CONTENT_LENGTH).or_insert(HeaderValue::from(0));
        head
    }

    /// Asks for events in the way of 2024-11-05, which has no headers of its own.
    pub(in super::super) async fn listen_in_the_old_way(
        &self,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        let content = || (self.head(Purpose::Listen), Bytes::new());
        self.call(&Method::GET, Effort::Full, &content, note).await
    }

    /// Asks for events, from after the last one that came.
    pub(in super::super) async fn listen(
        &self,
        after: Option<&HeaderValue>,
        effort: Effort,
        note: &mut Note,
    ) -> Result<Box<Opened>, Cause> {
        let head = || {
            let mut head = self.head(Purpose::Listen);
            self.add_version(&mut head);
            if let Some(after) = after {
                let text = String::from_utf8_lossy(after.as_bytes());
                head.shown.push("last-event-id", &text);
                let after = after.clone();
                head.headers.insert(HeaderName::from_static("last-event-id"), after);
            }
            (head, Bytes::new())
        };
        self.call(&Method::GET, effort, &head, note).await
    }

    /// Ends the session, if there is one.
    pub(in super::super) async fn end_session(self: Arc<Self>) {
        let head = || {
            let mut head = self.head(Purpose::End);
            self.add_version(&mut head);
            (head, Bytes::new())
        };
        let mut note = Note::begin(self.recorder(), Progress::default());
        let ended = self.call(&Method::DELETE, Effort::None, &head, &mut note).await;
        // A server need not let its sessions be ended.
        if let Ok(mut opened) = ended
            && opened.body(self.limit, &note).await.is_ok()
        {
            note.complete();
        }
    }

    /// What every request of that purpose has, written once for a session.
    fn head(&self, purpose: Purpose) -> Head {
        let mut state = self.state();
        let session = state.session.clone();
        let made = &mut state.heads[purpose as usize];
        made.get_or_insert_with(|| {
            let mut headers = self.own.clone();
            let (accept, content) = match purpose {
                Purpose::Post => (EITHER, Some(JSON)),
                Purpose::Listen => (EVENTS, None),
                Purpose::End => (EITHER, None),
            };
            if let Some(host) = &self.caller.place().host {
                headers.entry(HOST).or_insert_with(|| host.clone());
            }
            headers.entry(ACCEPT).or_insert(accept);
            if let Some(content) = content {
                headers.entry(CONTENT_TYPE).or_insert(content);
            }
            if let Some(session) = session {
                headers.entry(HeaderName::from_static(SESSION)).or_insert(session);
            }
            Head { shown: shown(&headers, &Secrets::default()), headers }
        })
        .clone()
    }

    fn set_version(&self, value: &HeaderValue) {
        let mut state = self.state();
        if state.version.as_ref() != Some(value) {
            state.version = Some(value.clone());
        }
    }

    fn add_version(&self, head: &mut Head) {
        if let (Some(version), Ok(name)) =
            (&self.state().version, HeaderName::try_from(mirror::PROTOCOL_VERSION))
        {
            head.shown.push(name.as_str(), version.to_str().unwrap_or_default());
            head.headers.entry(name).or_insert_with(|| version.clone());
        }
    }
}
