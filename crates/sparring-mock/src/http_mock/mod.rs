//! An HTTP server for tests: it answers what it was told in advance, and keeps
//! what it was asked.

mod exchange;
mod requests;
mod route;
mod serve;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sparring_script::Mismatch;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use exchange::{HttpFault, HttpReply, HttpRequest};
pub(crate) use requests::Requests;
pub use route::HttpRoute;
pub(crate) use serve::{Answer, run};

/// A scripted HTTP server on this machine. Dropped, it stops.
#[derive(Debug)]
pub struct HttpMock {
    shared: Arc<Shared>,
    address: SocketAddr,
    task: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    requests: Requests,
}

#[derive(Debug, Default)]
struct State {
    /// Replies in advance, in order.
    queued: VecDeque<HttpReply>,
    /// The first that fits and has a reply left is taken.
    routes: Vec<HttpRoute>,
}

impl HttpMock {
    /// Starts one on a free port.
    ///
    /// # Errors
    /// When there is none.
    pub async fn start() -> std::io::Result<HttpMock> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared::default());
        let task = tokio::spawn(run(listener, Arc::clone(&shared)));
        Ok(HttpMock { shared, address, task })
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Answers the next request so, whatever it is; then the one after it by the
    /// next that was given.
    pub fn enqueue(&self, reply: HttpReply) {
        self.shared.state().queued.push_back(reply);
    }

    /// Answers every request of this method and path so, where nothing else was
    /// given in advance. The last that was told about a path counts.
    pub fn on(&self, method: &str, path: &str, reply: HttpReply) {
        let route = HttpRoute::of(method, path).reply(reply, None);
        self.shared.state().routes.insert(0, route);
    }

    /// Answers the requests of a route, where nothing else was given in advance
    /// and no route before it fits.
    pub fn route(&self, route: HttpRoute) {
        self.shared.state().routes.push(route);
    }

    /// Makes everything as it was at first: no reply was given, none is queued,
    /// and no request has come.
    pub fn reset(&self) {
        let mut state = self.shared.state();
        state.routes.iter_mut().for_each(HttpRoute::reset);
        state.queued.clear();
        drop(state);
        self.shared.requests.clear();
    }

    /// The oldest request that was not taken yet, waiting for one if there is
    /// none.
    pub async fn take_request(&self, within: Duration) -> Option<HttpRequest> {
        self.shared.requests.take(within).await
    }

    /// All requests that were not taken yet.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.shared.requests.all()
    }

    /// How many requests came, but for those that were taken.
    pub fn total(&self) -> u64 {
        self.shared.requests.total()
    }

    /// How many requests are not kept any more, since nobody took them.
    pub fn forgotten(&self) -> u64 {
        self.shared.requests.dropped()
    }
}

impl Drop for HttpMock {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answer for Shared {
    /// Keeps a request, and gives its reply.
    fn answer(&self, request: HttpRequest) -> HttpReply {
        let mut state = self.state();
        let queued = state.queued.pop_front();
        let reply = queued.unwrap_or_else(|| state.choose(&request));
        drop(state);
        self.requests.keep(request);
        reply
    }
}

impl State {
    /// The reply of the first route that fits and has one left; else one that
    /// says what kept the nearest from fitting.
    fn choose(&mut self, request: &HttpRequest) -> HttpReply {
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
        let mut told = format!("nothing was told about {} {}", request.method, request.path);
        for mismatch in nearest.into_iter().flatten() {
            // What is expected of a header may be a secret.
            match mismatch.path.starts_with("headers") {
                true => told += &format!("\n  the nearest: at {}: it is another", mismatch.path),
                false => told += &format!("\n  the nearest: {mismatch}"),
            }
        }
        HttpReply::new(404).body(told)
    }
}
