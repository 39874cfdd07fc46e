//! What a server answers on other paths than the protocol's. Strangers are kept
//! out of it by the same checks of host and origin.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};

/// Something else on the same listener.
pub trait Beside: fmt::Debug + Send + Sync + 'static {
    /// Whether a path is its business; the protocol's own come first.
    fn serves(&self, path: &str) -> bool;

    /// Answers a request, at once.
    fn answer(&self, visit: Visit<'_>) -> Response<Bytes>;
}

/// A request on a path that is not the protocol's.
#[derive(Debug)]
pub struct Visit<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Its path.
    pub path: &'a str,
    /// What follows the path.
    pub query: Option<&'a str>,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its body.
    pub body: Vec<u8>,
    /// Whether only this machine can reach the server.
    pub is_local: bool,
}
