//! Who makes a call that is permitted.

use std::sync::Arc;

use sparring_peer::client::{self, Response};
use sparring_wire::RawJson;
use sparring_wire::types::Tool;

use crate::manager::{Connection, Manager};
use crate::permissions::Fingerprint;

/// Where a tool is that may be called.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The server, as it is called in its file.
    pub server: Arc<str>,
    /// The tool, as its server lists it.
    pub tool: Arc<Tool>,
    /// What the server was when it was permitted; none if it is not configured.
    pub target: Option<Fingerprint>,
}

/// Makes calls.
pub trait Caller: Sync {
    /// What comes back.
    type Answer;
    /// Why nothing does.
    type Error: std::error::Error;

    /// Calls a tool.
    fn call(
        &self,
        route: &Route,
        arguments: RawJson,
    ) -> impl Future<Output = Result<Self::Answer, Self::Error>> + Send;
}

/// Why a connected server gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// It is not connected.
    #[error("server `{server}` is not connected: it is {state}")]
    NotConnected {
        /// The server.
        server: Arc<str>,
        /// How it is instead.
        state: &'static str,
    },
    /// It is another one than the one that was decided about.
    #[error("server `{server}` was replaced after the call was permitted")]
    Replaced {
        /// The server.
        server: Arc<str>,
    },
    /// The call failed.
    #[error("server `{server}`: {error}")]
    Failed {
        /// The server.
        server: Arc<str>,
        /// Why.
        error: client::Error,
    },
}

/// On the connection that stands; it is never made again on another.
impl Caller for Manager {
    type Answer = Response;
    type Error = CallError;

    async fn call(&self, route: &Route, arguments: RawJson) -> Result<Response, CallError> {
        let called = self.routed(route)?.call_tool(&route.tool.name, arguments).await;
        called.map_err(|error| CallError::Failed { server: Arc::clone(&route.server), error })
    }
}

impl Manager {
    /// The connection that a permitted call goes to.
    ///
    /// # Errors
    /// When it is not connected, or is another than the one that was decided about.
    pub fn routed(&self, route: &Route) -> Result<Connection, CallError> {
        let server = || Arc::clone(&route.server);
        let Some(connection) = self.get(&route.server) else {
            let state = self.state(&route.server).map_or("not configured", |state| state.name());
            return Err(CallError::NotConnected { server: server(), state });
        };
        // A reload may have been faster than the rules that belong to it.
        if route.target.as_ref().is_some_and(|decided| !connection.is_known_by(decided)) {
            return Err(CallError::Replaced { server: server() });
        }
        Ok(connection)
    }
}
