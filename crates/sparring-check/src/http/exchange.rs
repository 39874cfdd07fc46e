//! One HTTP request with its response, as a finding shows it.

use std::fmt::Write as _;

use serde_json::Value;
use sparring_transport::http::RawRequest;
use sparring_transport::http::sse::Event;
use sparring_wire::Side;
use sparring_wire::json::parse_value;

use crate::verdict::{Finding, ShownFrame};

/// The headers of a request that are not shown, since every request has them.
const USUAL_HEADERS: [&str; 2] = ["accept", "content-type"];
/// The headers of a response that are shown.
const SHOWN_HEADERS: [&str; 6] = [
    "content-type",
    "mcp-session-id",
    "www-authenticate",
    "allow",
    "x-accel-buffering",
    "location",
];

/// The body of a response.
#[derive(Debug, Clone)]
pub(crate) enum Body {
    Whole(Vec<u8>),
    /// An event stream, as far as it was read.
    Stream {
        events: Vec<Event>,
        /// True if the server has ended the stream.
        ended: bool,
    },
}

/// One request with its response.
#[derive(Debug, Clone)]
pub(crate) struct Exchange {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Body,
    /// The request as text, with secrets masked.
    pub(crate) sent: String,
    /// A failure while the body was read.
    pub(crate) broken: Option<String>,
}

impl Exchange {
    /// Returns a header of the response.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(it, _)| it.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the media type of the body, without parameters.
    pub(crate) fn content_type(&self) -> &str {
        let value = self.header("content-type").unwrap_or_default();
        value.split(';').next().unwrap_or_default().trim()
    }

    /// Returns true if the server has accepted the request.
    pub(crate) fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// Returns true for refusals that say nothing about the request itself: the credentials,
    /// or the load of the server.
    pub(crate) fn is_unrelated_refusal(&self) -> bool {
        is_unrelated_status(self.status)
    }

    /// Returns the events, if the response is an event stream.
    pub(crate) fn events(&self) -> &[Event] {
        match &self.body {
            Body::Stream { events, .. } => events,
            Body::Whole(_) => &[],
        }
    }

    /// Returns true if the response is an event stream.
    pub(crate) fn is_stream(&self) -> bool {
        matches!(self.body, Body::Stream { .. })
    }

    /// Returns the messages in the body, those of batches one by one.
    pub(crate) fn messages(&self) -> Vec<Value> {
        let parse = |bytes: &[u8]| match parse_value(bytes) {
            Ok(Value::Array(items)) => items,
            Ok(value @ Value::Object(_)) => vec![value],
            _ => Vec::new(),
        };
        match &self.body {
            Body::Whole(bytes) => parse(bytes),
            Body::Stream { events, .. } => {
                events.iter().filter_map(|it| it.data.as_deref()).flat_map(parse).collect()
            }
        }
    }

    /// Returns the response to the request with this id.
    pub(crate) fn response_to(&self, id: &Value) -> Option<Value> {
        let answers = |it: &Value| it["id"] == *id && it.get("method").is_none();
        self.messages().into_iter().find(answers)
    }

    /// Returns true if the body has a result.
    pub(crate) fn has_result(&self) -> bool {
        self.messages().iter().any(|it| it.get("result").is_some())
    }

    /// Returns the code of the JSON-RPC error in the body.
    pub(crate) fn error_code(&self) -> Option<i64> {
        self.messages().iter().find_map(|it| it["error"]["code"].as_i64())
    }

    /// Returns true if the body is empty.
    pub(crate) fn is_empty(&self) -> bool {
        match &self.body {
            Body::Whole(bytes) => bytes.is_empty(),
            Body::Stream { events, .. } => events.is_empty(),
        }
    }

    /// Describes the response in a few words.
    pub(crate) fn describe(&self) -> String {
        let status = self.status;
        match self.error_code() {
            Some(code) => format!("the server answered with status {status} and the error {code}"),
            None if self.has_result() => {
                format!("the server answered with status {status} and a result")
            }
            None => format!("the server answered with status {status}"),
        }
    }

    /// Creates a finding that shows this exchange, with a message that ends with the response
    /// in short.
    pub(crate) fn finding(&self, expected: impl std::fmt::Display) -> Finding {
        Finding::new(format!("{expected}; {}", self.describe())).with_frames(self.shown())
    }

    /// Returns the request and the response for a finding.
    pub(crate) fn shown(&self) -> [ShownFrame; 2] {
        let mut text = format!("HTTP {}\n", self.status);
        for (name, value) in &self.headers {
            if SHOWN_HEADERS.contains(&name.as_str()) {
                let _ = writeln!(text, "{name}: {}", shown_value(name, value));
            }
        }
        text.push('\n');
        match &self.body {
            Body::Whole(bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
            Body::Stream { events, .. } => {
                let mut bytes = Vec::new();
                events.iter().for_each(|event| event.write(&mut bytes));
                text.push_str(&String::from_utf8_lossy(&bytes));
            }
        }
        if let Some(broken) = &self.broken {
            let _ = write!(text, "({broken})");
        }
        [
            ShownFrame::new(Side::Client, self.sent.as_bytes()),
            ShownFrame::new(Side::Server, text.as_bytes()),
        ]
    }
}

/// Returns true for the statuses of refusals that say nothing about the request itself.
pub(crate) fn is_unrelated_status(status: u16) -> bool {
    matches!(status, 401 | 407 | 408 | 429 | 502..=504)
}

/// Writes a request as text.
pub(crate) fn show_request(request: &RawRequest, url: &str) -> String {
    let mut text = format!("{} {}\n", request.method, request.reference.as_deref().unwrap_or(url));
    for (name, value) in &request.headers {
        let value = String::from_utf8_lossy(value);
        let is_usual = USUAL_HEADERS.contains(&name.as_str())
            && (value.contains("application/json") || value == "text/event-stream");
        if !is_usual && !value.is_empty() {
            let _ = writeln!(text, "{name}: {}", shown_value(name, &value));
        }
    }
    text.push('\n');
    text.push_str(&String::from_utf8_lossy(&request.body));
    text
}

/// Hides credentials and the id of a session, with which anyone could take it over.
fn shown_value<'a>(name: &str, value: &'a str) -> &'a str {
    match name.to_ascii_lowercase().as_str() {
        "authorization" => "(hidden)",
        "mcp-session-id" if value.len() > 8 && value.is_ascii() => "(hidden)",
        _ => value,
    }
}
