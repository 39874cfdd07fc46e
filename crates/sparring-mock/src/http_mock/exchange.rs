//! What an HTTP mock is asked, and what it answers.

use std::time::Duration;

use serde_json::{Map, Value, json};
use sparring_wire::Headers;
use sparring_wire::json::tree;

use crate::journal::is_secret;

/// What is shown of a secret.
const HIDDEN: &str = "(hidden)";

/// A request that came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// Its method, as `GET`.
    pub method: String,
    /// Its path, without the query.
    pub path: String,
    /// What followed the `?`.
    pub query: Option<String>,
    /// Its headers.
    pub headers: Headers,
    /// Its body.
    pub body: Vec<u8>,
}

/// What is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a reply does nothing until it is given to a mock"]
pub struct HttpReply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) delay: Duration,
    pub(super) fault: Option<HttpFault>,
    /// Whether its body is events, and how long each waits for the next.
    pub(super) pace: Option<Duration>,
}

/// What goes wrong with a reply, on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpFault {
    /// The connection ends instead of it.
    Disconnect,
    /// The connection ends after half of its body.
    Truncate,
    /// It never comes.
    Silent,
    /// Its body comes by so many bytes a second.
    Slow(u64),
}

impl HttpRequest {
    /// The body as a text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// All of it as a value: `method`, `path`, `query` and `headers` by their
    /// names (a list where one comes several times), `body` (read as JSON where
    /// it is, else a text) and `text` (the body in any case).
    pub fn to_json(&self) -> Value {
        self.value(false)
    }

    /// The same with secrets hidden, to be shown.
    pub fn to_shown(&self) -> Value {
        self.value(true)
    }

    /// The same request with secrets hidden, to be kept.
    #[cfg(feature = "llm")]
    pub(crate) fn without_secrets(mut self) -> Self {
        let shown = |(name, value)| (name, if is_secret(name) { HIDDEN } else { value });
        self.headers = self.headers.iter().map(shown).collect();
        self
    }

    fn value(&self, hides: bool) -> Value {
        let mut headers = Map::new();
        for (name, value) in self.headers.iter() {
            let value = if hides && is_secret(name) { HIDDEN } else { value };
            add(&mut headers, name.to_ascii_lowercase(), value.to_owned());
        }
        let mut query = Map::new();
        let text = self.query.as_deref().unwrap_or_default();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            add(&mut query, name.into_owned(), value.into_owned());
        }
        let text = self.text();
        let body = tree(&self.body).unwrap_or_else(|_| Value::from(&*text));
        json!({
            "method": self.method, "path": self.path, "query": query, "headers": headers,
            "body": body, "text": text,
        })
    }
}

/// Adds a value; a second one of a name makes a list.
fn add(map: &mut Map<String, Value>, name: String, value: String) {
    match map.get_mut(&name) {
        None => drop(map.insert(name, value.into())),
        Some(Value::Array(values)) => values.push(value.into()),
        Some(first) => *first = json!([first.take(), value]),
    }
}

impl HttpReply {
    /// An empty reply of this status.
    pub fn new(status: u16) -> Self {
        let (headers, body) = (Vec::new(), Vec::new());
        HttpReply { status, headers, body, delay: Duration::ZERO, fault: None, pace: None }
    }

    /// 200 with a JSON body.
    pub fn json(value: &Value) -> Self {
        HttpReply::new(200).body(value.to_string()).header("content-type", "application/json")
    }

    /// No reply at all: the connection ends.
    pub fn disconnect() -> Self {
        HttpReply::new(200).fault(HttpFault::Disconnect)
    }

    /// With this status.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// With this body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// With this header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// After this time.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Its body comes event by event, at this pace.
    #[cfg(feature = "llm")]
    pub(crate) fn streamed(mut self, pace: Duration) -> Self {
        self.pace = Some(pace);
        self
    }

    /// Its status.
    #[cfg(feature = "llm")]
    pub(crate) fn status_code(&self) -> u16 {
        self.status
    }

    /// Whether it can be sent at all.
    ///
    /// # Errors
    /// When its status or one of its headers is none.
    pub fn check(&self) -> Result<(), String> {
        http::StatusCode::from_u16(self.status)
            .map_err(|_| format!("{} is no status", self.status))?;
        for (name, value) in &self.headers {
            http::HeaderName::try_from(name)
                .map_err(|_| format!("{name:?} is no name of a header"))?;
            http::HeaderValue::try_from(value)
                .map_err(|_| format!("the header {name} cannot have this value"))?;
        }
        Ok(())
    }

    /// With this going wrong.
    pub fn fault(mut self, fault: HttpFault) -> Self {
        self.fault = Some(fault);
        self
    }
}
