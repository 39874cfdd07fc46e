//! A token issuer: an authorization server for tests (OAuth 2.1, as the protocol
//! has it), on a port of its own or beside a mock.
//!
//! Nobody logs in to it: whoever comes is let through at once, or denied when
//! that was asked for. What it gives are signed tokens that any server can check
//! by its keys, and wrong ones on demand. It is no safe for real secrets: what it
//! knows is gone with it.

mod authenticate;
mod authorize;
mod client;
mod core;
mod door;
mod form;
mod look;
mod metadata;
mod mint;
mod plan;
mod register;
mod routes;
mod shelf;
mod token;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Response;
use serde_json::Value;
use sparring_script::Problems;
use sparring_transport::http::Visit;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::builder::IssuerBuilder;
use crate::http_mock::{HttpReply, HttpRequest, run};
use crate::load::load_ways;

use self::core::Core;
pub(crate) use client::{Client, unfit};
pub(crate) use door::Door;
pub use mint::Token;
pub use plan::Wrong;
pub(crate) use plan::{Login, Plan, Refresh, Turns, Ways};

/// An authorization server for tests. Cheap to clone; all clones are one, and
/// one that has a port of its own stops with the last of them.
#[derive(Debug, Clone)]
pub struct Issuer {
    core: Arc<Core>,
    /// Not there if it stands on somebody else's listener.
    _task: Option<Arc<Task>>,
}

#[derive(Debug)]
struct Task(JoinHandle<()>);

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Issuer {
    /// One that is to be told how it is.
    pub fn builder() -> IssuerBuilder {
        IssuerBuilder::default()
    }

    /// Starts one on a free port, where clients can register themselves and any
    /// scope is good.
    ///
    /// # Errors
    /// When there is no free port.
    pub async fn start() -> std::io::Result<Issuer> {
        let plan = Plan {
            path: String::new(),
            scopes: Vec::new(),
            clients: Vec::new(),
            registration: true,
            resources: Vec::new(),
            ways: Ways::default(),
        };
        Issuer::listen(plan, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub(crate) async fn listen(plan: Plan, address: SocketAddr) -> std::io::Result<Issuer> {
        let listener = TcpListener::bind(address).await?;
        let core = Arc::new(Core::new(plan, false));
        core.lives_at(format!("http://{}", listener.local_addr()?));
        let task = tokio::spawn(run(listener, Arc::clone(&core)));
        Ok(Issuer { core, _task: Some(Arc::new(Task(task))) })
    }

    /// One that shares the listener of a mock.
    pub(crate) fn beside(plan: Plan) -> Issuer {
        Issuer { core: Arc::new(Core::new(plan, true)), _task: None }
    }

    /// Says where the mock is that it stands beside.
    pub(crate) fn lives_at(&self, address: SocketAddr) {
        self.core.lives_at(format!("http://{address}"));
    }

    pub(crate) fn serves(&self, path: &str) -> bool {
        self.core.place(path).is_some()
    }

    pub(crate) fn visited(&self, visit: Visit<'_>) -> Response<bytes::Bytes> {
        self.core.visited(visit)
    }

    /// Its path, for those who know its origin.
    pub(crate) fn path(&self) -> String {
        match self.core.plan.path.as_str() {
            "" => "/".to_owned(),
            path => path.to_owned(),
        }
    }

    pub(crate) fn scopes(&self) -> Vec<String> {
        self.core.plan.scopes.clone()
    }

    /// Its name, which is where it is. Beside a mock that does not listen yet
    /// there is none that anybody could visit.
    pub fn url(&self) -> String {
        self.core.name_at(&self.origin())
    }

    fn origin(&self) -> String {
        self.core.home().unwrap_or_else(|| "http://localhost".to_owned())
    }

    /// A token as it was told, whatever the issuer gives to others.
    pub fn token(&self, token: Token) -> String {
        self.token_at(token, None)
    }

    /// The same for those who know the issuer by that host; for the mock, if it
    /// was not said for whom.
    pub(crate) fn token_at(&self, mut token: Token, host: Option<&str>) -> String {
        let origin = host.map(|host| format!("http://{host}"));
        let origin = origin.unwrap_or_else(|| self.origin());
        let mock = self.core.plan.resources.first().map(|path| format!("{origin}{path}"));
        if token.audience.is_empty() {
            token.audience.extend(mock);
        }
        self.core.mint(&token, &origin)
    }

    /// What is known of a token that is good: its claims.
    ///
    /// # Errors
    /// Says what is wrong with it.
    pub fn check(&self, token: &str) -> Result<Value, &'static str> {
        self.core.known(token, &self.origin()).map(|known| known.claims)
    }

    /// Lets all access tokens expire that were given so far. A server that only
    /// looks at what stands in a token does not notice; a mock does, and so does
    /// whoever asks at the introspection endpoint.
    pub fn expire_all(&self) {
        self.core.state().generation += 1;
    }

    /// Gives a wrong token to whoever asks next.
    pub fn spoil_next(&self, wrong: Wrong) {
        self.core.state().ways.wrong.next.push_back(wrong);
    }

    /// Refuses the next token request with an error of OAuth, as
    /// `invalid_grant`.
    pub fn refuse_next(&self, error: &str) {
        self.core.state().ways.refuse.next.push_back(error.to_owned());
    }

    /// Denies the next login.
    pub fn deny_next(&self) {
        self.core.state().ways.login.next.push_back(Login::Deny);
    }

    /// Answers the next token request so, whatever it is. Beside a mock nothing
    /// is late, and no connection ends.
    pub fn enqueue(&self, reply: HttpReply) {
        self.core.state().replies.push_back(reply);
    }

    /// Changes what `lifetime`, `refresh`, `login`, `refuse` and `wrong` of a
    /// script say, in the same words.
    ///
    /// # Errors
    /// When something of it is wrong; then nothing is changed.
    pub fn change(&self, ways: impl Into<Value>) -> Result<(), Problems> {
        let mut state = self.core.state();
        state.ways = load_ways(&ways.into(), state.ways.clone())?;
        Ok(())
    }

    /// Makes everything as it was at first. Tokens of before are good no more.
    pub fn reset(&self) {
        self.core.reset();
    }

    /// The oldest request that was not taken yet, waiting for one if there is
    /// none.
    pub async fn take_request(&self, within: Duration) -> Option<HttpRequest> {
        self.core.requests.take(within).await
    }

    /// All requests that were not taken yet.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.core.requests.all()
    }

    /// How many requests are not kept any more, since nobody took them.
    pub fn forgotten(&self) -> u64 {
        self.core.requests.dropped()
    }

    /// All requests that were not taken yet, with secrets hidden.
    pub(crate) fn journal(&self) -> Value {
        self.core.journal()
    }
}
