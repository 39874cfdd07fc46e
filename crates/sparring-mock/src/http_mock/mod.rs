//! An HTTP server for tests: gives scripted replies and records requests.

mod exchange;
mod request_log;
mod route;
mod serve;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sparring_script::Mismatch;
use sparring_transport::http::AcceptErrors;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use exchange::{HttpFault, HttpReply, HttpRequest};
pub(crate) use request_log::RequestLog;
pub use route::HttpRoute;
#[cfg(feature = "llm")]
pub(crate) use serve::BodyRefusal;
pub(crate) use serve::{HttpResponder, serve};

/// A scripted HTTP server on this machine. Stops when dropped.
#[derive(Debug)]
pub struct HttpMock {
    shared: Arc<SharedState>,
    address: SocketAddr,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct SharedState {
    state: Mutex<ReplyState>,
    requests: RequestLog,
}

#[derive(Debug, Default)]
struct ReplyState {
    /// Replies for the next requests.
    queue: VecDeque<HttpReply>,
    /// The first route that matches and has a reply left is used.
    routes: Vec<HttpRoute>,
}

impl HttpMock {
    /// Starts a server on a free port.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start() -> std::io::Result<HttpMock> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(SharedState::default());
        let task = tokio::spawn(serve(listener, Arc::clone(&shared), AcceptErrors::default()));
        Ok(HttpMock { shared, address, task })
    }

    /// Returns the URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Queues a reply for the next request of any kind.
    pub fn enqueue(&self, reply: HttpReply) {
        self.shared.state().queue.push_back(reply);
    }

    /// Gives this reply to every request with this method and path, unless a reply is queued. A
    /// later call for the same path takes precedence.
    pub fn on(&self, method: &str, path: &str, reply: HttpReply) {
        let route = HttpRoute::for_path(method, path).reply(reply, None);
        self.shared.state().routes.insert(0, route);
    }

    /// Adds a route, which is used if no reply is queued and no earlier route matches.
    pub fn route(&self, route: HttpRoute) {
        self.shared.state().routes.push(route);
    }

    /// Restores the initial state: resets all routes, clears the queue and drops all requests.
    pub fn reset(&self) {
        let mut state = self.shared.state();
        state.routes.iter_mut().for_each(HttpRoute::reset);
        state.queue.clear();
        drop(state);
        self.shared.requests.clear();
    }

    /// Takes the oldest request, waiting for one if necessary.
    pub async fn take_request(&self, within: Duration) -> Option<HttpRequest> {
        self.shared.requests.take(within).await
    }

    /// Returns all requests that were not taken.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.shared.requests.all()
    }

    /// Returns the number of requests, without those that were taken.
    pub fn total(&self) -> u64 {
        self.shared.requests.total()
    }

    /// Returns the number of requests that were dropped because the log was full.
    pub fn dropped_requests(&self) -> u64 {
        self.shared.requests.dropped()
    }
}

impl Drop for HttpMock {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl SharedState {
    fn state(&self) -> MutexGuard<'_, ReplyState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl HttpResponder for SharedState {
    /// Records a request and returns its reply.
    fn answer(&self, request: HttpRequest) -> HttpReply {
        let mut state = self.state();
        let queue = state.queue.pop_front();
        let reply = queue.unwrap_or_else(|| state.choose_reply(&request));
        drop(state);
        self.requests.push(request);
        reply
    }
}

impl ReplyState {
    /// Returns the reply of the first matching route, or a 404 with the mismatches of the
    /// nearest route.
    fn choose_reply(&mut self, request: &HttpRequest) -> HttpReply {
        let value = request.to_json();
        let mut nearest: Option<Vec<Mismatch>> = None;
        for route in &mut self.routes {
            let mismatches = route.mismatches(&value);
            if mismatches.is_empty() {
                match route.next() {
                    Some(reply) => return reply,
                    None => continue,
                }
            }
            if nearest.as_ref().is_none_or(|nearest| mismatches.len() < nearest.len()) {
                nearest = Some(mismatches);
            }
        }
        let mut text = format!("no route for {} {}", request.method, request.path);
        for mismatch in nearest.into_iter().flatten() {
            // The expected value of a header may be a secret.
            match mismatch.path.starts_with("headers") {
                true => text += &format!("\n  nearest route: {} differs", mismatch.path),
                false => text += &format!("\n  nearest route: {mismatch}"),
            }
        }
        HttpReply::new(404).body(text)
    }
}
