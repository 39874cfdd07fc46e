//! The HTTP server: Streamable HTTP of both eras on one path, and HTTP+SSE of 2024-11-05.
//!
//! [`HttpServer::handle`] turns a request into a response, so that it can be used behind other
//! routes. [`HttpServer::serve`] serves a listener. The peer interprets the frames.

mod accept_errors;
mod auth;
mod authorize;
mod body;
mod connection_stream;
mod exchange_recorder;
mod http_sse;
mod legacy;
mod listener;
mod metadata;
mod modern;
mod negotiation;
mod options;
mod read_body;
mod rebinding_guard;
mod reply;
mod routes;
mod serve;
mod session;
mod shutdown_signal;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, Response};
use sparring_peer::link::Recorder;
use sparring_peer::server::AnyServer;
use sparring_peer::{ByteBudget, Handler, Server};
use sparring_wire::{Side, mirrored_headers};

use self::rebinding_guard::Reachability;
use self::session::Registry;
use self::shutdown_signal::ShutdownSignal;

pub use self::accept_errors::AcceptErrors;
pub use self::auth::{Auth, TokenVerifier};
pub use self::body::Body;
pub use self::listener::{Listener, listen_tcp};
pub use self::metadata::ProtectedResource;
pub use self::options::{ExtraRequest, ExtraRoutes, HttpOptions};
pub use self::rebinding_guard::check_host_and_origin;
pub use self::serve::HttpServerHandle;

/// An HTTP server. Cheap to clone; all clones share one server, whose sessions end with the
/// last clone.
pub struct HttpServer<H> {
    server: Server<H>,
    shared: Arc<Shared>,
}

/// The state that all requests share. It does not depend on the handler's type, so that it is
/// compiled once and not in each crate with a server.
struct Shared {
    server: AnyServer,
    options: HttpOptions,
    registry: Arc<Registry>,
    shutdown: ShutdownSignal,
    /// The memory for the bodies of all requests.
    request_bytes: ByteBudget,
    /// Records exchanges. Frames are recorded by another recorder of the same transcript, which
    /// is checked separately and uses the same clock.
    recorder: Option<Recorder>,
    /// The supported eras.
    legacy: bool,
    modern: bool,
}

impl<H: Handler> HttpServer<H> {
    /// Creates a server, which starts with the first request.
    pub fn new(server: Server<H>, mut options: HttpOptions) -> Self {
        options.write_timeout = server.write_timeout().unwrap_or(options.write_timeout);
        let revisions = server.revisions();
        let transcript = options.transcript.as_ref();
        let shared = Shared {
            legacy: revisions.iter().any(|revision| !revision.is_modern()),
            modern: revisions.iter().any(|revision| revision.is_modern()),
            registry: Registry::new(options.max_sessions),
            shutdown: ShutdownSignal::default(),
            request_bytes: ByteBudget::new(options.request_bytes_limit),
            recorder: transcript.map(|transcript| Recorder::new(transcript, Side::Server)),
            server: AnyServer::from_server(&server),
            options,
        };
        HttpServer { server, shared: Arc::new(shared) }
    }

    /// Returns the MCP server.
    pub fn server(&self) -> &Server<H> {
        &self.server
    }

    /// Returns the number of sessions.
    pub fn session_count(&self) -> usize {
        self.shared.registry.len()
    }

    /// Answers one request. By default its host must be this machine.
    ///
    /// The future must be polled in a tokio runtime with a timer.
    pub fn handle<B>(
        &self,
        request: Request<B>,
    ) -> impl Future<Output = Response<Body>> + Send + use<H, B>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        routes::handle(Arc::clone(&self.shared), request, Reachability::Loopback)
    }

    /// Serves the connections of a listener, TCP or Unix socket, in the background.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn serve(&self, listener: impl Listener) -> HttpServerHandle {
        serve::spawn(Arc::clone(&self.shared), Box::new(listener))
    }

    /// Begins the shutdown, for callers that use [`HttpServer::handle`]: no new requests are
    /// accepted, subscriptions and standing streams end, and running requests continue.
    /// [`HttpServerHandle::stop`] does this and the rest.
    pub fn drain(&self) {
        self.shared.begin_shutdown();
    }

    /// Stops all sessions with their running requests; drops those that take longer than
    /// `within`.
    pub async fn stop_sessions(&self, within: Duration) {
        Arc::clone(&self.shared).stop_sessions(within).await;
    }
}

impl Shared {
    fn begin_shutdown(&self) {
        self.shutdown.start();
        self.registry.begin_shutdown();
    }

    /// Boxed, so that it is compiled here and not in the callers' crates.
    fn stop_sessions(self: Arc<Self>, within: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let sessions = self.registry.take_all();
            let stopped = sessions.into_iter().map(|entry| entry.running.stop());
            let all = futures_util::future::join_all(stopped);
            // Dropping a session stops it.
            let _ = tokio::time::timeout(within, all).await;
        })
    }
}

impl<H> Clone for HttpServer<H> {
    fn clone(&self) -> Self {
        HttpServer { server: self.server.clone(), shared: Arc::clone(&self.shared) }
    }
}

impl<H> fmt::Debug for HttpServer<H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpServer")
            .field("options", &self.shared.options)
            .field("sessions", &self.shared.registry.len())
            .finish_non_exhaustive()
    }
}

/// Returns the protocol version in the headers.
fn version_in(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(mirrored_headers::PROTOCOL_VERSION_HEADER)?;
    // An unreadable version is not supported.
    Some(value.to_str().unwrap_or_default())
}
