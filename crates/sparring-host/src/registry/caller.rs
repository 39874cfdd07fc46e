//! Routes and errors of calls, and calls of permitted tools.

use std::sync::Arc;

use sparring_peer::client::{self, Response};
use sparring_wire::RawJson;
use sparring_wire::types::Tool;

use crate::manager::{Connection, Manager};
use crate::permissions::{Denied, Fingerprint};
use crate::text::{escape_control, truncate};

/// The maximum number of characters of a name in a message.
const MAX_NAME_CHARS: usize = 200;

/// The server and tool of a permitted call.
#[derive(Debug, Clone, PartialEq)]
pub struct Route {
    /// The server's name in its configuration file.
    pub server: Arc<str>,
    /// The tool as its server lists it.
    pub tool: Arc<Tool>,
    /// The server's fingerprint when the call was permitted; `None` if the
    /// server is not configured.
    pub target: Option<Fingerprint>,
}

/// Makes calls.
pub trait Caller: Sync {
    /// The result of a call.
    type Answer;
    /// The error of a call.
    type Error: std::error::Error;

    /// Calls a tool.
    fn call(
        &self,
        route: &Route,
        arguments: RawJson,
    ) -> impl Future<Output = Result<Self::Answer, Self::Error>> + Send;
}

/// Why a call to a connected server failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server is not connected.
    #[error("server `{server}` is not connected: it is {state}")]
    NotConnected {
        /// The server.
        server: Arc<str>,
        /// The server's state.
        state: &'static str,
    },
    /// The server's entry changed after the call was permitted.
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
        /// The reason.
        error: client::Error,
    },
}

/// Why a tool is not called.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// No tool has this name.
    #[error("no tool named '{}'{}", display_name(name), suggestion(near))]
    Unknown {
        /// The name.
        name: String,
        /// Similar names.
        near: Vec<String>,
    },
    /// The permissions deny the call.
    #[error(transparent)]
    Denied(#[from] Denied),
    /// While a person was asked, the tool was removed or the name went to
    /// another tool.
    #[error("the tool '{}' was removed while the call waited for permission", display_name(name))]
    Gone {
        /// The name.
        name: String,
    },
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
pub enum ExecuteError<E> {
    /// The call was refused.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The call failed.
    #[error(transparent)]
    Call(E),
}

/// Calls on the current connection. A call is never repeated on another one.
impl Caller for Manager {
    type Answer = Response;
    type Error = CallError;

    async fn call(&self, route: &Route, arguments: RawJson) -> Result<Response, CallError> {
        let called = self.connection_for(route)?.call_tool(&route.tool.name, arguments).await;
        called.map_err(|error| CallError::Failed { server: Arc::clone(&route.server), error })
    }
}

impl Manager {
    /// The connection for a permitted call.
    ///
    /// # Errors
    /// If the server is not connected, or its entry changed after the call was
    /// permitted.
    pub fn connection_for(&self, route: &Route) -> Result<Connection, CallError> {
        let server = || Arc::clone(&route.server);
        let Some(connection) = self.get(&route.server) else {
            let state = self.state(&route.server).map_or("not configured", |state| state.name());
            return Err(CallError::NotConnected { server: server(), state });
        };
        // A reload may apply the servers before it applies their rules.
        if route.target.as_ref().is_some_and(|decided| !connection.has_fingerprint(decided)) {
            return Err(CallError::Replaced { server: server() });
        }
        Ok(connection)
    }
}

fn display_name(name: &str) -> String {
    truncate(&escape_control(name), MAX_NAME_CHARS)
}

fn suggestion(near: &[String]) -> String {
    match near.is_empty() {
        true => String::new(),
        false => {
            let names: Vec<_> = near.iter().map(|name| format!("'{name}'")).collect();
            format!("; did you mean {}?", names.join(" or "))
        }
    }
}
