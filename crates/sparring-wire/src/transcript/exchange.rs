//! One HTTP exchange in a transcript: request, response and timing, without bodies.
//!
//! The frames in the bodies are separate entries. The code that records an exchange must
//! hide its secrets first.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::headers::Headers;

/// One HTTP request and its response, without their bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// The start, as time since the start of the connection.
    pub at: Duration,
    /// The HTTP method, such as `POST`.
    pub method: &'static str,
    /// The URL.
    pub url: Arc<str>,
    /// The headers of the request.
    pub request_headers: Headers,
    /// The status of the response; `None` without a response.
    pub status: Option<u16>,
    /// The headers of the response.
    pub response_headers: Headers,
    /// The time to connect; `None` if the connection was reused.
    pub connect: Option<Duration>,
    /// The time from the start to the head of the response.
    pub first_byte: Option<Duration>,
    /// The time from the start to the end.
    pub total: Duration,
    /// The error message of a failed exchange.
    pub error: Option<Cow<'static, str>>,
}

impl Exchange {
    /// Returns the approximate memory of the exchange in bytes.
    pub(crate) fn size(&self) -> usize {
        size_of::<Exchange>()
            + self.url.len()
            + self.request_headers.size()
            + self.response_headers.size()
            + self.error.as_ref().map_or(0, |error| error.len())
    }
}
