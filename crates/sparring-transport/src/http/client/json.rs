//! Posts JSON to one address, by the means of a link but without its protocol:
//! for what is no MCP server and has to be asked all the same.

use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_TYPE, HOST};
use http::{HeaderMap, HeaderValue, Method};
use sparring_peer::Cause;

use super::call::{Caller, Head};
use super::connect::Connector;
use super::events::Events;
use super::given::Given;
use super::note::{Note, Progress, shown};
use super::{HttpError, HttpTarget};
use crate::http::sse::Event;
use crate::secrets::Secrets;

/// Posts JSON to one address.
pub struct JsonClient {
    caller: Caller,
    head: Head,
    secrets: Secrets,
    limit: usize,
}

/// An answer whose head is there. Dropped, its connection is closed.
pub struct JsonAnswer {
    status: u16,
    headers: HeaderMap,
    events: Events,
    note: Note,
    limit: usize,
}

/// Why there is no answer, or no more of it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// There is no connection.
    #[error("{0}")]
    Unreachable(String),
    /// What came is no answer, or it broke off.
    #[error("{0}")]
    Broken(String),
    /// The answer is longer than may be.
    #[error("the answer is longer than {limit} bytes")]
    TooLong {
        /// What was allowed.
        limit: usize,
    },
}

impl JsonClient {
    /// A client for the address of a target, with its headers, trust and
    /// proxies. Authorization by OAuth is not for this one.
    ///
    /// # Errors
    /// When the target cannot even be tried; the error says why.
    pub fn new(target: &HttpTarget) -> Result<JsonClient, HttpError> {
        let Given { endpoint, mut headers, secrets } = Given::of(target)?;
        let json = HeaderValue::from_static("application/json");
        let either = HeaderValue::from_static("application/json, text/event-stream");
        headers.entry(CONTENT_TYPE).or_insert(json);
        headers.entry(ACCEPT).or_insert(either);
        if let Ok(host) = HeaderValue::try_from(endpoint.host()) {
            headers.insert(HOST, host);
        }
        let head = Head { shown: shown(&headers, &secrets), headers };
        let connector = Connector::new(&endpoint.origin, target)?;
        let caller = Caller::new(connector, endpoint, target.idle_timeout, secrets.clone());
        Ok(JsonClient { caller, head, secrets, limit: target.max_message })
    }

    /// The address, as it may be shown.
    pub fn url(&self) -> String {
        self.caller.place().endpoint.to_string()
    }

    /// A text of others without what must not be shown: they may repeat it.
    pub fn masked(&self, text: &str) -> String {
        self.secrets.mask(text).into_owned()
    }

    /// Posts a body, and waits for the head of the answer. How long that may
    /// take is the caller's to say: dropped, nothing is left of it.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn post(&self, body: impl Into<Bytes>) -> Result<JsonAnswer, JsonError> {
        let body = body.into();
        let mut note = Note::begin(None, Progress::default());
        let content = || (self.head.clone(), body.clone());
        let opened = self.caller.call(&Method::POST, &content, &mut note).await?;
        let (status, headers) = (opened.status.as_u16(), opened.headers.clone());
        let limit = self.limit;
        Ok(JsonAnswer { status, headers, events: Events::of(opened, limit), note, limit })
    }
}

impl JsonAnswer {
    /// Its status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// A header of it, if it has that one and it is a text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Whether it comes event by event.
    pub fn is_stream(&self) -> bool {
        let kind = self.header("content-type").and_then(|kind| kind.split(';').next());
        kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
    }

    /// The next event; none at the end of the stream.
    ///
    /// # Errors
    /// When it breaks off, or an event is too long.
    pub async fn event(&mut self) -> Result<Option<Event>, JsonError> {
        Ok(self.events.next(&self.note).await?)
    }

    /// All of it.
    ///
    /// # Errors
    /// When it breaks off, or is too long.
    pub async fn body(self) -> Result<Vec<u8>, JsonError> {
        let limit = self.limit;
        let (body, whole) = self.events.into_opened().body(limit, &self.note).await?;
        if whole { Ok(body) } else { Err(JsonError::TooLong { limit }) }
    }
}

impl From<Cause> for JsonError {
    fn from(cause: Cause) -> Self {
        match cause {
            Cause::Unreachable(why) => JsonError::Unreachable(why),
            Cause::Broken(why) => JsonError::Broken(why),
            Cause::Http { what, .. } => JsonError::Broken(what),
            cause => JsonError::Broken(cause.to_string()),
        }
    }
}

impl std::fmt::Debug for JsonClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("JsonClient").field(&self.caller.place().endpoint).finish()
    }
}

impl std::fmt::Debug for JsonAnswer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("JsonAnswer").field("status", &self.status).finish_non_exhaustive()
    }
}
