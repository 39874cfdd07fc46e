//! HTTP servers behind a mock: asked for a tool's answer, whatever they say.

mod call;
mod outcome;
mod trust;

use std::time::Duration;

use http::Method;
use http::header::HeaderName;
use sparring_script::{Template, Tree};

pub(crate) use call::{Asked, ask};
pub(crate) use outcome::Outcome;
pub(crate) use trust::Trust;

/// A request that a reply makes.
#[derive(Debug)]
pub(crate) struct HttpCall {
    pub(crate) method: Method,
    pub(crate) url: Template,
    pub(crate) query: Vec<(String, Tree)>,
    pub(crate) headers: Vec<(HeaderName, Tree)>,
    pub(crate) body: HttpBody,
    pub(crate) timeout: Duration,
}

/// What it brings.
#[derive(Debug)]
pub(crate) enum HttpBody {
    None,
    Text(Tree),
    Json(Tree),
}
