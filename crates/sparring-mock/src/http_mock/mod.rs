//! An HTTP server for tests: it answers what it was told in advance, and keeps
//! what it was asked.

mod exchange;
mod requests;
mod serve;

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use exchange::{HttpReply, HttpRequest};
pub(crate) use requests::Requests;
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
    /// Replies of a method and a path, again and again.
    routes: Vec<(String, String, HttpReply)>,
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
    /// given in advance.
    pub fn on(&self, method: &str, path: &str, reply: HttpReply) {
        let route = (method.to_uppercase(), path.to_owned(), reply);
        self.shared.state().routes.push(route);
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
        let fits = |route: &&(String, String, HttpReply)| {
            route.0 == request.method && route.1 == request.path
        };
        let reply = state.queued.pop_front().or_else(|| {
            let last = state.routes.iter().rev().find(fits);
            last.map(|(_, _, reply)| reply.clone())
        });
        drop(state);
        let reply = reply.unwrap_or_else(|| {
            let told = format!("nothing was told about {} {}", request.method, request.path);
            HttpReply::new(404).body(told)
        });
        self.requests.keep(request);
        reply
    }
}
