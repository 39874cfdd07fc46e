//! A token issuer: an OAuth 2.1 authorization server for tests, on its own port or on the
//! listener of a mock.
//!
//! It approves every login at once, or denies it on demand. It issues signed tokens that any
//! server can verify with its keys, and faulty tokens on demand. It stores everything in memory
//! and is not meant for real secrets.

mod authorization_server;
mod authorize;
mod client;
mod client_authentication;
mod config;
mod form;
mod introspection;
mod metadata;
mod register;
mod routes;
mod token_endpoint;
mod token_verifier;
mod tokens;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::Response;
use serde_json::Value;
use sparring_script::Problems;
use sparring_transport::http::{AcceptErrors, ExtraRequest, listen_tcp};
use tokio::task::JoinHandle;

use crate::builder::IssuerBuilder;
use crate::http_mock::{HttpReply, HttpRequest, serve};
use crate::load::load_behavior;

use authorization_server::AuthorizationServer;
pub(crate) use client::{Client, redirect_problem};
pub use config::TokenFault;
pub(crate) use config::{IssuerBehavior, IssuerConfig, LoginOutcome, RefreshPolicy, ScriptedValue};
pub(crate) use token_verifier::IssuerTokenVerifier;
pub use tokens::Token;

/// An authorization server for tests. Clones are cheap and share the server. With its own port,
/// it stops when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Issuer {
    server: Arc<AuthorizationServer>,
    /// `None` on the listener of a mock.
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
    /// Configures an issuer.
    pub fn builder() -> IssuerBuilder {
        IssuerBuilder::default()
    }

    /// Starts an issuer on a free port that lets clients register themselves and accepts any
    /// scope.
    ///
    /// # Errors
    /// If no port is free.
    pub async fn start() -> std::io::Result<Issuer> {
        let config = IssuerConfig {
            path: String::new(),
            scopes: Vec::new(),
            clients: Vec::new(),
            registration: true,
            resources: Vec::new(),
            behavior: IssuerBehavior::default(),
        };
        Issuer::listen(config, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    pub(crate) async fn listen(
        config: IssuerConfig,
        address: SocketAddr,
    ) -> std::io::Result<Issuer> {
        let listener = listen_tcp(address)?;
        let server = Arc::new(AuthorizationServer::new(config, false));
        server.set_origin(format!("http://{}", listener.local_addr()?));
        let task = tokio::spawn(serve(listener, Arc::clone(&server), AcceptErrors::default()));
        Ok(Issuer { server, _task: Some(Arc::new(Task(task))) })
    }

    /// Creates an issuer on the listener of a mock.
    pub(crate) fn on_mock(config: IssuerConfig) -> Issuer {
        Issuer { server: Arc::new(AuthorizationServer::new(config, true)), _task: None }
    }

    /// Sets the address of the mock that it belongs to.
    pub(crate) fn set_address(&self, address: SocketAddr) {
        self.server.set_origin(format!("http://{address}"));
    }

    pub(crate) fn serves(&self, path: &str) -> bool {
        self.server.endpoint_at(path).is_some()
    }

    pub(crate) fn answer(&self, visit: ExtraRequest<'_>) -> Response<bytes::Bytes> {
        self.server.answer_visit(visit)
    }

    /// Returns its path below the origin.
    pub(crate) fn path(&self) -> String {
        match self.server.config.path.as_str() {
            "" => "/".to_owned(),
            path => path.to_owned(),
        }
    }

    pub(crate) fn scopes(&self) -> Vec<String> {
        self.server.config.scopes.clone()
    }

    /// Returns the issuer identifier, a URL. It cannot be reached before the mock of the issuer
    /// listens.
    pub fn url(&self) -> String {
        self.server.issuer_at(&self.origin())
    }

    fn origin(&self) -> String {
        self.server.own_origin().unwrap_or_else(|| "http://localhost".to_owned())
    }

    /// Issues a token as described. The token settings of the script do not apply.
    pub fn token(&self, token: Token) -> String {
        self.token_for_host(token, None)
    }

    /// Issues a token with the issuer identifier at this host (default audience: the mock).
    pub(crate) fn token_for_host(&self, mut token: Token, host: Option<&str>) -> String {
        let origin = host.map(|host| format!("http://{host}"));
        let origin = origin.unwrap_or_else(|| self.origin());
        let mock = self.server.config.resources.first().map(|path| format!("{origin}{path}"));
        if token.audience.is_empty() {
            token.audience.extend(mock);
        }
        self.server.issue(&token, &origin)
    }

    /// Verifies a token and returns its claims.
    ///
    /// # Errors
    /// If the token is not valid, with the reason.
    pub fn check(&self, token: &str) -> Result<Value, &'static str> {
        self.server.verify(token, &self.origin()).map(|verified| verified.claims)
    }

    /// Expires all access tokens issued so far. A mock and the introspection endpoint reject
    /// them; a server that checks only the claims does not notice.
    pub fn expire_all(&self) {
        self.server.state().generation += 1;
    }

    /// Makes the next token that a client gets faulty.
    pub fn fault_next_token(&self, wrong: TokenFault) {
        self.server.state().behavior.wrong.next.push_back(wrong);
    }

    /// Refuses the next token request with an OAuth error such as `invalid_grant`.
    pub fn refuse_next_token_request(&self, error: &str) {
        self.server.state().behavior.refuse.next.push_back(error.to_owned());
    }

    /// Denies the next login.
    pub fn deny_next_login(&self) {
        self.server.state().behavior.login.next.push_back(LoginOutcome::Deny);
    }

    /// Gives this reply to the next token request. On the listener of a mock, delays and faults
    /// of the reply have no effect.
    pub fn enqueue(&self, reply: HttpReply) {
        self.server.state().queued_replies.push_back(reply);
    }

    /// Changes `lifetime`, `refresh`, `login`, `refuse` and `wrong`, with the keys of a script.
    ///
    /// # Errors
    /// If a value is wrong; nothing is changed then.
    pub fn change(&self, behavior: impl Into<Value>) -> Result<(), Problems> {
        let mut state = self.server.state();
        state.behavior = load_behavior(&behavior.into(), state.behavior.clone())?;
        Ok(())
    }

    /// Restores the initial state and invalidates earlier tokens.
    pub fn reset(&self) {
        self.server.reset();
    }

    /// Takes the oldest request, waiting for one if necessary.
    pub async fn take_request(&self, within: Duration) -> Option<HttpRequest> {
        self.server.requests.take(within).await
    }

    /// Returns all requests that were not taken.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.server.requests.all()
    }

    /// Returns the number of requests that were dropped because the log was full.
    pub fn dropped_requests(&self) -> u64 {
        self.server.requests.dropped()
    }

    /// Returns all requests that were not taken, without secrets.
    pub(crate) fn journal(&self) -> Value {
        self.server.journal()
    }
}
