//! What an HTTP mock is asked, and what it answers.

use std::time::Duration;

use serde_json::Value;
use sparring_wire::Headers;

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
    pub(super) disconnect: bool,
}

impl HttpRequest {
    /// The body as a text.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl HttpReply {
    /// An empty reply of this status.
    pub fn new(status: u16) -> Self {
        let (headers, body) = (Vec::new(), Vec::new());
        HttpReply { status, headers, body, delay: Duration::ZERO, disconnect: false }
    }

    /// 200 with a JSON body.
    pub fn json(value: &Value) -> Self {
        HttpReply::new(200).body(value.to_string()).header("content-type", "application/json")
    }

    /// No reply at all: the connection ends.
    pub fn disconnect() -> Self {
        HttpReply { disconnect: true, ..HttpReply::new(200) }
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
}
