//! Requests to an HTTP mock, and its replies.

use std::time::Duration;

use serde_json::{Map, Value, json};
use sparring_wire::Headers;
use sparring_wire::json::parse_value;
use sparring_wire::secret_names::is_secret_header;

/// Replaces a secret value.
const HIDDEN_VALUE: &str = "(hidden)";

/// A received request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpRequest {
    /// The method, such as `GET`.
    pub method: String,
    /// The path, without the query.
    pub path: String,
    /// The text after the `?`.
    pub query: Option<String>,
    /// The headers.
    pub headers: Headers,
    /// The body.
    pub body: Vec<u8>,
}

/// A reply of an HTTP mock.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "a reply does nothing until it is given to a mock"]
pub struct HttpReply {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    pub(super) delay: Duration,
    pub(super) fault: Option<HttpFault>,
    /// The pause between the events of a streamed body.
    pub(super) pace: Option<Duration>,
}

/// A scripted fault of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpFault {
    /// Closes the connection without a reply.
    Disconnect,
    /// Closes the connection after half of the body.
    Truncate,
    /// Never replies.
    Silent,
    /// Sends the body at this many bytes per second.
    Slow(u64),
}

impl HttpRequest {
    /// Returns the body as text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Returns the request as JSON: `method`, `path`, `query` and `headers` by name (a list if a
    /// name is repeated), `body` (parsed if it is JSON, else text) and `text` (always the body
    /// as text).
    pub fn to_json(&self) -> Value {
        self.json_value(false)
    }

    /// Returns the request as JSON without secrets, for output.
    pub fn to_redacted_json(&self) -> Value {
        self.json_value(true)
    }

    /// Removes the secrets from the headers.
    #[cfg(feature = "llm")]
    pub(crate) fn without_secrets(mut self) -> Self {
        let hide =
            |(name, value)| (name, if is_secret_header(name) { HIDDEN_VALUE } else { value });
        self.headers = self.headers.iter().map(hide).collect();
        self
    }

    fn json_value(&self, hide_secrets: bool) -> Value {
        let mut headers = Map::new();
        for (name, value) in self.headers.iter() {
            let value = if hide_secrets && is_secret_header(name) { HIDDEN_VALUE } else { value };
            add_value(&mut headers, name.to_ascii_lowercase(), value.to_owned());
        }
        let mut query = Map::new();
        let text = self.query.as_deref().unwrap_or_default();
        for (name, value) in form_urlencoded::parse(text.as_bytes()) {
            add_value(&mut query, name.into_owned(), value.into_owned());
        }
        let text = self.text();
        let body = parse_value(&self.body).unwrap_or_else(|_| Value::from(&*text));
        json!({
            "method": self.method, "path": self.path, "query": query, "headers": headers,
            "body": body, "text": text,
        })
    }
}

/// Adds a value; a repeated name makes a list.
fn add_value(map: &mut Map<String, Value>, name: String, value: String) {
    match map.get_mut(&name) {
        None => drop(map.insert(name, value.into())),
        Some(Value::Array(values)) => values.push(value.into()),
        Some(first) => *first = json!([first.take(), value]),
    }
}

impl HttpReply {
    /// Creates an empty reply with this status.
    pub fn new(status: u16) -> Self {
        let (headers, body) = (Vec::new(), Vec::new());
        HttpReply { status, headers, body, delay: Duration::ZERO, fault: None, pace: None }
    }

    /// Creates a reply with status 200 and a JSON body.
    pub fn json(value: &Value) -> Self {
        HttpReply::new(200).body(value.to_string()).header("content-type", "application/json")
    }

    /// Closes the connection instead of replying.
    pub fn disconnect() -> Self {
        HttpReply::new(200).fault(HttpFault::Disconnect)
    }

    /// Sets the status.
    pub fn status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    /// Sets the body.
    pub fn body(mut self, body: impl Into<Vec<u8>>) -> Self {
        self.body = body.into();
        self
    }

    /// Adds a header.
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sets the delay before the reply.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.delay = delay;
        self
    }

    /// Streams the body event by event, with this pause between events.
    #[cfg(feature = "llm")]
    pub(crate) fn with_pace(mut self, pace: Duration) -> Self {
        self.pace = Some(pace);
        self
    }

    /// Returns the status.
    #[cfg(feature = "llm")]
    pub(crate) fn status_code(&self) -> u16 {
        self.status
    }

    /// Checks that the reply can be sent.
    ///
    /// # Errors
    /// If the status or a header is not valid.
    pub fn check(&self) -> Result<(), String> {
        http::StatusCode::from_u16(self.status)
            .map_err(|_| format!("{} is not an HTTP status", self.status))?;
        for (name, value) in &self.headers {
            http::HeaderName::try_from(name)
                .map_err(|_| format!("{name:?} is not a header name"))?;
            http::HeaderValue::try_from(value)
                .map_err(|_| format!("invalid value for the header {name}"))?;
        }
        Ok(())
    }

    /// Sets a fault.
    pub fn fault(mut self, fault: HttpFault) -> Self {
        self.fault = Some(fault);
        self
    }
}
