//! The server's half of HTTP: Streamable HTTP in both eras on one path, and the
//! HTTP+SSE of 2024-11-05 beside it.
//!
//! Everything is one function from a request to a response, [`HttpServer::handle`],
//! so that it can stand behind the routes of others; [`HttpServer::serve`] puts it
//! on a listener. What the frames mean is the peer's business.

mod auth;
mod beside;
mod body;
mod cors;
mod door;
mod drain;
mod event;
mod guard;
mod http_sse;
mod legacy;
mod listener;
mod metadata;
mod modern;
mod negotiation;
mod note;
mod options;
mod reading;
mod reply;
mod routes;
mod serve;
mod session;
mod wire;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, Response};
use sparring_peer::link::Recorder;
use sparring_peer::server::AnyServer;
use sparring_peer::{Handler, Server};
use sparring_wire::{Side, mirror};

use self::drain::Drain;
use self::guard::Reach;
use self::session::Registry;

pub use self::auth::{Auth, TokenCheck};
pub use self::beside::{Beside, Visit};
pub use self::body::Body;
pub use self::listener::Listener;
pub use self::metadata::ProtectedResource;
pub use self::options::HttpOptions;
pub use self::serve::Serving;

/// A server over HTTP. Cheap to clone; all clones are one server, and its
/// sessions end with the last of them.
pub struct HttpServer<H> {
    server: Server<H>,
    shared: Arc<Shared>,
}

/// What all requests share. The handler's type is not known here, so that all of
/// this is built once, and not in each crate that has a server.
struct Shared {
    server: AnyServer,
    options: HttpOptions,
    registry: Arc<Registry>,
    drain: Drain,
    /// Of exchanges. What has frames records them by another of it, which is
    /// judged apart and whose times have the same beginning.
    recorder: Option<Recorder>,
    /// Which eras are spoken.
    legacy: bool,
    modern: bool,
}

impl<H: Handler> HttpServer<H> {
    /// A server over HTTP, which begins to serve with the first request.
    pub fn new(server: Server<H>, options: HttpOptions) -> Self {
        let revisions = server.revisions();
        let transcript = options.transcript.as_ref();
        let shared = Shared {
            legacy: revisions.iter().any(|revision| !revision.is_modern()),
            modern: revisions.iter().any(|revision| revision.is_modern()),
            registry: Registry::new(options.max_sessions),
            drain: Drain::default(),
            recorder: transcript.map(|transcript| Recorder::new(transcript, Side::Server)),
            server: AnyServer::of(&server),
            options,
        };
        HttpServer { server, shared: Arc::new(shared) }
    }

    /// The server behind it.
    pub fn server(&self) -> &Server<H> {
        &self.server
    }

    /// How many sessions there are.
    pub fn sessions(&self) -> usize {
        self.shared.registry.len()
    }

    /// Answers one request. Where nothing else is configured, it must name this
    /// machine as its host.
    ///
    /// The future is to be polled within a tokio runtime with a timer.
    pub fn handle<B>(
        &self,
        request: Request<B>,
    ) -> impl Future<Output = Response<Body>> + Send + use<H, B>
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
    {
        routes::handle(Arc::clone(&self.shared), request, Reach::Loopback)
    }

    /// Serves all who connect to a listener of TCP or of a Unix socket, in the
    /// background.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn serve(&self, listener: impl Listener) -> Serving {
        serve::spawn(Arc::clone(&self.shared), Box::new(listener))
    }

    /// Begins the end, for whoever drives the requests: nothing new is begun,
    /// subscriptions and standing streams end, and what is in flight goes on.
    /// [`Serving::stop`] does this and all the rest.
    pub fn drain(&self) {
        self.shared.end();
    }

    /// Stops all sessions, with what is in flight in them; those that take
    /// longer than that are dropped.
    pub async fn stop_sessions(&self, within: Duration) {
        Arc::clone(&self.shared).stop_sessions(within).await;
    }
}

impl Shared {
    fn end(&self) {
        self.drain.begin();
        self.registry.drain();
    }

    /// Boxed, so that it is built here and not where it is waited for.
    fn stop_sessions(self: Arc<Self>, within: Duration) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let sessions = self.registry.take_all();
            let stopped = sessions.into_iter().map(|entry| entry.running.stop());
            let all = futures_util::future::join_all(stopped);
            // What does not stop by itself is dropped, and stops by that.
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

/// The protocol version that the headers name.
fn version_in(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(mirror::PROTOCOL_VERSION)?;
    // One that cannot be read is one that is not spoken.
    Some(value.to_str().unwrap_or_default())
}
