//! Takes connections and lets each be served by a task of its own, until told
//! to stop.

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

use super::drain::Ear;
use super::guard::Reach;
use super::listener::{AnyListener, Stream};
use super::wire::Wire;
use super::{Shared, routes};

/// How long a client may take to send the head of a request, from when it is
/// waited for.
const HEAD: Duration = Duration::from_secs(60);

/// How long to wait when the system has no room for one more connection.
const NO_ROOM: Duration = Duration::from_millis(50);

/// How long sessions may take to stop, when nothing is in flight any more.
const STOP: Duration = Duration::from_secs(1);

/// A server at work on a listener. Dropped, it stops at once.
#[derive(Debug)]
#[must_use = "a server that is dropped stops"]
pub struct Serving {
    task: JoinHandle<()>,
    stop: Option<oneshot::Sender<Duration>>,
    address: Option<SocketAddr>,
}

impl Serving {
    /// Where it listens; none for a Unix socket.
    pub fn address(&self) -> Option<SocketAddr> {
        self.address
    }

    /// Stops in good order: nothing more is begun, subscriptions and standing
    /// streams end, requests in flight get that time to finish, and then all
    /// sessions of the server stop. Connections are still taken as long as a
    /// request in a session is in flight, since its client may have to answer
    /// something before; all others are refused.
    pub async fn stop(mut self, within: Duration) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(within);
        }
        // It can only fail by a panic of its own, which has told itself.
        let _ = (&mut self.task).await;
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

pub(super) fn spawn(shared: Arc<Shared>, listener: Box<dyn AnyListener>) -> Serving {
    let address = listener.address();
    let (stop, stopped) = oneshot::channel();
    let task = task::spawn(run(shared, listener, stopped));
    Serving { task, stop: Some(stop), address }
}

async fn run(
    shared: Arc<Shared>,
    listener: Box<dyn AnyListener>,
    mut stopped: oneshot::Receiver<Duration>,
) {
    let _file = File(listener.file());
    let reach = listener.address().map_or(Reach::Elsewhere, Reach::of);
    let graceful = GracefulShutdown::new();
    let mut connections = JoinSet::new();
    let most = shared.options.max_connections;
    let within = loop {
        tokio::select! {
            within = &mut stopped => break within.unwrap_or_default(),
            Some(_) = connections.join_next() => {}
            stream = accept(&*listener), if connections.len() < most => {
                let Some(stream) = stream else { continue };
                let ear = shared.drain.ear();
                let connection = connection(&shared, stream, reach, ear);
                let served = graceful.watch(connection);
                connections.spawn(boxed(async { drop(served.await) }));
            }
        }
    };
    let deadline = Instant::now() + within;
    let listener = Some(listener).filter(|_| shared.registry.is_serving());
    shared.end();
    // Those that are not done by then are dropped.
    let done = tokio::time::timeout_at(deadline, graceful.shutdown());
    tokio::select! {
        _ = done => {}
        () = hear_answers(&shared, listener, reach) => {}
    }
    connections.shutdown().await;
    shared.stop_sessions(STOP).await;
}

/// Takes connections on which clients may answer what requests in flight have
/// asked them. Dropped, it drops them.
async fn hear_answers(shared: &Arc<Shared>, listener: Option<Box<dyn AnyListener>>, reach: Reach) {
    let Some(listener) = listener else { return std::future::pending().await };
    let mut connections = JoinSet::new();
    let most = shared.options.max_connections;
    loop {
        tokio::select! {
            Some(_) = connections.join_next() => {}
            stream = accept(&*listener), if connections.len() < most => {
                let Some(stream) = stream else { continue };
                let connection = connection(shared, stream, reach, Ear::deaf());
                connections.spawn(boxed(async { drop(connection.await) }));
            }
        }
    }
}

/// A connection as a task, of the same type as all others.
fn boxed(serving: impl Future<Output = ()> + Send + 'static) -> BoxFuture<'static, ()> {
    Box::pin(serving)
}

/// The next connection; none if that one, or any for now, cannot be had.
fn accept(listener: &dyn AnyListener) -> impl Future<Output = Option<Box<dyn Stream>>> + Send {
    let accepted = listener.accept();
    async {
        match accepted.await {
            Ok(stream) => Some(stream),
            // One that broke before it was taken says nothing of the next.
            Err(error) if is_of_one(&error) => None,
            Err(_) => {
                tokio::time::sleep(NO_ROOM).await;
                None
            }
        }
    }
}

/// Whether an error is one connection's, and not the listener's.
fn is_of_one(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

fn connection(
    shared: &Arc<Shared>,
    stream: Box<dyn Stream>,
    reach: Reach,
    ear: Ear,
) -> http1::Connection<
    TokioIo<Wire>,
    impl hyper::service::HttpService<
        Incoming,
        ResBody = super::Body,
        Error = std::convert::Infallible,
        Future: Send,
    > + use<>,
> {
    let shared = Arc::clone(shared);
    let asked = Arc::new(AtomicBool::new(false));
    let stream = Wire::new(stream, shared.options.write_timeout, Arc::clone(&asked), ear);
    let service = service_fn(move |request: Request<Incoming>| {
        asked.store(true, Ordering::Relaxed);
        let answered = routes::handle(Arc::clone(&shared), request, reach);
        async { Ok(answered.await) }
    });
    let mut http = http1::Builder::new();
    // Without `pipeline_flush`: it holds back whatever is answered for as long as
    // a part of the next request is there, a stream's events included.
    http.timer(TokioTimer::new()).header_read_timeout(HEAD);
    http.serve_connection(TokioIo::new(stream), service)
}

/// A socket's file, which goes with its listener.
struct File(Option<PathBuf>);

impl Drop for File {
    fn drop(&mut self) {
        if let Some(path) = &self.0 {
            let _ = std::fs::remove_file(path);
        }
    }
}
