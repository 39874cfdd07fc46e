//! Options of an HTTP server, as plain data, and the trait for additional routes on the same
//! listener.

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
    /// The maximum number of bytes of all requests that are received or answered. A larger request
    /// is refused while others take them. The first 16 KiB of each do not count.
    pub request_bytes_limit: usize,
    /// The timeout of receiving a request's body.
    pub body_timeout: Duration,
    /// The maximum time without a read before a client is disconnected; a write timeout of the
    /// server takes precedence.
    pub write_timeout: Duration,
    /// The maximum number of connections; others wait in the system's queue.
    pub max_connections: usize,
    /// The maximum silence of a stream before a comment keeps it alive; an answer that takes
    /// longer becomes a stream.
    pub keep_alive: Duration,
    /// The wait before a client should resume a broken stream.
    pub retry: Duration,
    /// The maximum idle time of a session before it ends.
    pub session_idle: Duration,
    /// The maximum number of sessions.
    pub max_sessions: usize,
    /// The number of bytes that each stream of a session keeps for resumption.
    pub replay_bytes: usize,
    /// The accepted credentials.
    pub auth: Auth,
    /// The server's metadata as a protected resource.
    pub metadata: Option<ProtectedResource>,
    /// The transcript for all frames and exchanges. Each session is checked as its own
    /// connection, and so is each request since 2026-07-28, which has no session.
    pub transcript: Option<Transcript>,
    /// Answers requests on other paths.
    pub extra_routes: Option<Arc<dyn ExtraRoutes>>,
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
            request_bytes_limit: 256 * 1024 * 1024,
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
            extra_routes: None,
        }
    }
}

/// Answers requests on other paths of the same listener, after the same checks of host and
/// origin.
pub trait ExtraRoutes: fmt::Debug + Send + Sync + 'static {
    /// Returns true if it serves a path; the protocol's paths take precedence.
    fn matches(&self, path: &str) -> bool;

    /// Returns true if a request on a path needs the credentials of the MCP endpoint. The
    /// server refuses it as it does there.
    fn needs_authorization(&self, _path: &str) -> bool {
        false
    }

    /// Answers a request at once.
    fn answer(&self, visit: ExtraRequest<'_>) -> Response<Bytes>;
}

/// A request on a path outside of the protocol.
#[derive(Debug)]
pub struct ExtraRequest<'a> {
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
    /// True if only this machine can reach the server.
    pub is_local: bool,
}
