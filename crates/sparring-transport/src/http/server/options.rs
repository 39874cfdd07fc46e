//! Options of an HTTP server, as plain data, and the routes of others on the same listener.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method, Response};
use sparring_wire::Transcript;

use super::auth::Auth;
use super::metadata::ProtectedResource;

/// The paths and limits of an HTTP server.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// The path of Streamable HTTP, for both eras.
    pub path: String,
    /// The path of the HTTP+SSE stream (2024-11-05); `None` disables it.
    pub sse_path: Option<String>,
    /// The path that HTTP+SSE messages are posted to.
    pub message_path: String,
    /// The allowed values of `Host`, with or without a port; `*` allows any (default: the names
    /// of this machine if the server listens only there, else any).
    pub allowed_hosts: Option<Vec<String>>,
    /// The allowed values of `Origin`, such as `https://example.com`; `*` allows any (default:
    /// this machine and the allowed hosts).
    pub allowed_origins: Option<Vec<String>>,
    /// The largest request body, in bytes.
    pub body_limit: usize,
    /// How long a request's body may take to arrive.
    pub body_timeout: Duration,
    /// How long a client may read nothing before it is disconnected.
    pub write_timeout: Duration,
    /// How many connections are accepted at once; others wait in the system's queue.
    pub max_connections: usize,
    /// How long a stream may be silent before a comment keeps it alive; an answer that takes
    /// longer becomes a stream.
    pub keep_alive: Duration,
    /// After which time a client should resume a broken stream.
    pub retry: Duration,
    /// How long a session may be unused before it ends.
    pub session_idle: Duration,
    /// How many sessions may exist at once.
    pub max_sessions: usize,
    /// How many bytes each stream of a session keeps for resumption.
    pub replay_bytes: usize,
    /// The accepted credentials.
    pub auth: Auth,
    /// The server's metadata as a protected resource.
    pub metadata: Option<ProtectedResource>,
    /// Where to record all frames and exchanges. Each session is checked as its own
    /// conversation, and so is each request since 2026-07-28, which has no session.
    pub transcript: Option<Transcript>,
    /// Answers requests on other paths.
    pub beside: Option<Arc<dyn Beside>>,
}

impl Default for HttpOptions {
    fn default() -> Self {
        HttpOptions {
            path: "/mcp".to_owned(),
            sse_path: Some("/sse".to_owned()),
            message_path: "/messages".to_owned(),
            allowed_hosts: None,
            allowed_origins: None,
            body_limit: 8 * 1024 * 1024,
            body_timeout: Duration::from_secs(30),
            write_timeout: Duration::from_secs(30),
            max_connections: 10_000,
            keep_alive: Duration::from_secs(15),
            retry: Duration::from_secs(1),
            session_idle: Duration::from_secs(30 * 60),
            max_sessions: 10_000,
            replay_bytes: 1024 * 1024,
            auth: Auth::default(),
            metadata: None,
            transcript: None,
            beside: None,
        }
    }
}

/// Answers requests on other paths of the same listener, after the same checks of host and
/// origin.
pub trait Beside: fmt::Debug + Send + Sync + 'static {
    /// Returns whether it serves a path; the protocol's paths take precedence.
    fn serves(&self, path: &str) -> bool;

    /// Answers a request at once.
    fn answer(&self, visit: Visit<'_>) -> Response<Bytes>;
}

/// A request on a path outside of the protocol.
#[derive(Debug)]
pub struct Visit<'a> {
    /// Its method.
    pub method: &'a Method,
    /// Its path.
    pub path: &'a str,
    /// Its query, if any.
    pub query: Option<&'a str>,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// Its body.
    pub body: Vec<u8>,
    /// Whether only this machine can reach the server.
    pub is_local: bool,
}
