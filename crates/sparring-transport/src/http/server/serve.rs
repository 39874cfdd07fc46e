//! Accepts connections and serves each in its own task, until it is stopped.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::BoxFuture;
use http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use sparring_peer::task;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;

use super::accept_errors::AcceptErrors;
use super::connection_stream::ConnectionStream;
use super::listener::{AnyListener, Stream};
use super::rebinding_guard::Reachability;
use super::shutdown_signal::ShutdownWaiter;
use super::{Shared, routes};

/// The timeout of receiving the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// The wait before the next attempt if the system cannot accept more connections.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// The maximum wait for sessions to stop after the last request.
const STOP_SESSIONS_TIMEOUT: Duration = Duration::from_secs(1);

/// A running server. Dropping it stops the server at once.
#[derive(Debug)]
#[must_use = "a server that is dropped stops"]
pub struct HttpServerHandle {
    task: JoinHandle<()>,
    stop: Option<oneshot::Sender<Duration>>,
    address: Option<SocketAddr>,
    accept_errors: AcceptErrors,
}

impl HttpServerHandle {
    /// Returns its address; `None` for a Unix socket.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Waits until a connection cannot be accepted, for example because the system has no free
    /// file descriptors, and returns the first such error. The server goes on.
    pub async fn accept_error(&self) -> String {
        self.accept_errors.first().await
    }

    /// Stops in an orderly way: no new requests are accepted, subscriptions and standing
    /// streams end, running requests get `within` to finish, and then all sessions stop. While
    /// a request in a session runs, connections are still accepted, since its client may have
    /// to answer a question; other requests are refused.
    pub async fn stop(mut self, within: Duration) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(within);
        }
        // Fails only if the task panicked, which the panic hook has reported.
        let _ = (&mut self.task).await;
    }
}

impl Drop for HttpServerHandle {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(super) fn spawn(shared: Arc<Shared>, listener: Box<dyn AnyListener>) -> HttpServerHandle {
    let address = listener.address();
    let (stop, stopped) = oneshot::channel();
    let accept_errors = AcceptErrors::default();
    let task = task::spawn(run(shared, listener, stopped, accept_errors.clone()));
    HttpServerHandle { task, stop: Some(stop), address, accept_errors }
}

async fn run(
    shared: Arc<Shared>,
    listener: Box<dyn AnyListener>,
    mut stopped: oneshot::Receiver<Duration>,
    accept_errors: AcceptErrors,
) {
    let _file = SocketFile(listener.file());
    let reach = listener.address().map_or(Reachability::Remote, Reachability::from_address);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let max_connections = shared.options.max_connections;
    let within = loop {
        tokio::select! {
            within = &mut stopped => break within.unwrap_or_default(),
            Some(_) = connections.join_next() => {}
            stream = accept(&*listener, &accept_errors), if connections.len() < max_connections => {
                let Some(stream) = stream else { continue };
                let shutdown = shared.shutdown.subscribe();
                let connection = serve_connection(&shared, stream, reach, shutdown);
                let served = graceful.watch(connection);
                connections.spawn(boxed(async { drop(served.await) }));
            }
        }
    };
    let deadline = Instant::now() + within;
    let listener = Some(listener).filter(|_| shared.registry.is_serving());
    shared.begin_shutdown();
    // Connections that are not done by then are dropped.
    let done = tokio::time::timeout_at(deadline, graceful.shutdown());
    tokio::select! {
        _ = done => {}
        () = serve_answers(&shared, listener, reach, &accept_errors) => {}
    }
    connections.shutdown().await;
    shared.stop_sessions(STOP_SESSIONS_TIMEOUT).await;
}

/// Accepts connections on which clients may answer the questions of running requests. Dropping
/// the future drops the connections.
async fn serve_answers(
    shared: &Arc<Shared>,
    listener: Option<Box<dyn AnyListener>>,
    reach: Reachability,
    accept_errors: &AcceptErrors,
) {
    let Some(listener) = listener else { return std::future::pending().await };
    let mut connections = JoinSet::new();
    let max_connections = shared.options.max_connections;
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            stream = accept(&*listener, accept_errors), if connections.len() < max_connections => {
                let Some(stream) = stream else { continue };
                let connection = serve_connection(shared, stream, reach, ShutdownWaiter::never());
                connections.spawn(boxed(async { drop(connection.await) }));
            }
        }
    }
}

/// Boxes a connection, so that all tasks have the same type.
fn boxed(serving: impl Future<Output = ()> + Send + 'static) -> BoxFuture<'static, ()> {
    Box::pin(serving)
}

/// Accepts the next connection; `None` if that failed.
fn accept(
    listener: &dyn AnyListener,
    accept_errors: &AcceptErrors,
) -> impl Future<Output = Option<Box<dyn Stream>>> + Send {
    let accepted = listener.accept();
    async move {
        match accepted.await {
            Ok(stream) => Some(stream),
            // A connection that broke before it was accepted does not affect the next.
            Err(error) if is_connection_error(&error) => None,
            Err(error) => {
                accept_errors.report(&error);
                tokio::time::sleep(ACCEPT_RETRY_INTERVAL).await;
                None
            }
        }
    }
}

/// Returns true if an error concerns one connection and not the listener.
fn is_connection_error(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

fn serve_connection(
    shared: &Arc<Shared>,
    stream: Box<dyn Stream>,
    reach: Reachability,
    shutdown: ShutdownWaiter,
) -> http1::Connection<
    TokioIo<ConnectionStream>,
    impl hyper::service::HttpService<
        Incoming,
        ResBody = super::Body,
        Error = std::convert::Infallible,
        Future: Send,
    > + use<>,
> {
    let shared = Arc::clone(shared);
    let has_request = Arc::new(AtomicBool::new(false));
    let stream = ConnectionStream::new(
        stream,
        shared.options.write_timeout,
        Arc::clone(&has_request),
        shutdown,
    );
    let service = service_fn(move |request: Request<Incoming>| {
        has_request.store(true, Ordering::Relaxed);
        let answered = routes::handle(Arc::clone(&shared), request, reach);
        async { Ok(answered.await) }
    });
    let mut http = http1::Builder::new();
    // Without `pipeline_flush`: it delays every response, including the events of a stream,
    // while a part of the next request is buffered.
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    http.serve_connection(TokioIo::new(stream), service)
}

/// The file of a socket; removed with the listener.
struct SocketFile(Option<PathBuf>);

impl Drop for SocketFile {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}
