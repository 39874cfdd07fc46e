//! One exchange over HTTP as a transcript keeps it: what was asked for, what
//! came back, and how long each part took.
//!
//! The frames that it carried are entries of their own. Whoever records an
//! exchange has hidden its secrets before.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use crate::headers::Headers;

/// One request and its response, without their bodies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// When it began, counted from the start of the conversation.
    pub at: Duration,
    /// The method, as `POST`.
    pub method: &'static str,
    /// Where it went to.
    pub url: Arc<str>,
    /// What was sent before the body.
    pub request_headers: Headers,
    /// The status of the response; none where there was no response.
    pub status: Option<u16>,
    /// What came before the body.
    pub response_headers: Headers,
    /// How long connecting took; none where a connection was there already.
    pub connect: Option<Duration>,
    /// From its beginning to the head of the response.
    pub first_byte: Option<Duration>,
    /// From its beginning to its end.
    pub done: Duration,
    /// What went wrong with it, in words.
    pub error: Option<Cow<'static, str>>,
}

impl Exchange {
    /// What it takes in memory, about.
    pub(crate) fn size(&self) -> usize {
        size_of::<Exchange>()
            + self.url.len()
            + self.request_headers.size()
            + self.response_headers.size()
            + self.error.as_ref().map_or(0, |error| error.len())
    }
}
