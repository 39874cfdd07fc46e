//! What an HTTP server can be told, as plain data.

use std::sync::Arc;
use std::time::Duration;

use sparring_wire::Transcript;

use super::auth::Auth;
use super::beside::Beside;
use super::metadata::ProtectedResource;

/// How a server is reached over HTTP, and how much it bears.
#[derive(Debug, Clone)]
pub struct HttpOptions {
    /// Where Streamable HTTP is, both eras.
    pub path: String,
    /// Where the stream of HTTP+SSE (2024-11-05) begins; none leaves it out.
    pub sse_path: Option<String>,
    /// Where the messages of HTTP+SSE are posted to.
    pub message_path: String,
    /// The names that a `Host` may have, with or without a port; `*` is any.
    /// Where none are given: those of this machine if it listens only there,
    /// else any.
    pub allowed_hosts: Option<Vec<String>>,
    /// The `Origin`s that may ask, as `https://example.com`; `*` is any. Where
    /// none are given: those of this machine and of the allowed hosts.
    pub allowed_origins: Option<Vec<String>>,
    /// The most bytes that a request's body may have.
    pub body_limit: usize,
    /// How long a request's body may take to arrive.
    pub body_timeout: Duration,
    /// How long a client may read nothing of what is written to it, before it
    /// is taken for gone.
    pub write_timeout: Duration,
    /// How many connections there may be at once; others wait in the system's
    /// queue until one ends.
    pub max_connections: usize,
    /// How long a stream may be silent before a comment keeps it alive; an
    /// answer that takes longer becomes a stream for that reason.
    pub keep_alive: Duration,
    /// After how long a client is to come back for a stream that broke off.
    pub retry: Duration,
    /// How long a session may be unused before it ends.
    pub session_idle: Duration,
    /// How many sessions there may be at once.
    pub max_sessions: usize,
    /// How many bytes each stream of a session keeps for a client that comes
    /// back.
    pub replay_bytes: usize,
    /// Who may come in.
    pub auth: Auth,
    /// What the server says of itself as a protected resource.
    pub metadata: Option<ProtectedResource>,
    /// Where to record all frames, both ways, and every exchange that carried
    /// them. Each session is judged as a conversation of its own, and so is each
    /// request since 2026-07-28, which has none.
    pub transcript: Option<Transcript>,
    /// What is answered on other paths.
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
