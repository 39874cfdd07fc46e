//! Calls the tools that a model asks for, if permitted, and converts the
//! results for the model.

use std::sync::Arc;

use futures_util::future::join_all;
use sparring_peer::Cause;
use sparring_peer::client::{self, Response};
use sparring_wire::RawJson;

use super::agent_loop::Agent;
use super::builtin_tools::BuiltinRequest;
use super::event::{Event, Permission};
use super::model_turn::{ToolCall, ToolResult};
use crate::artifacts::{Call, ProcessedResult};
use crate::registry::{CallError, Route};
use crate::text::truncate;

/// The maximum number of characters of an error that the model gets.
const MAX_ERROR_CHARS: usize = 2_000;

/// A permitted call.
struct PermittedCall {
    call: Arc<ToolCall>,
    arguments: RawJson,
    route: Route,
}

/// A call after the permission check.
enum CheckedCall {
    Permitted(PermittedCall),
    /// A built-in tool with a request to a server.
    Builtin(Arc<ToolCall>, BuiltinRequest),
    /// A list, which needs no request.
    Listed(Arc<ToolCall>, String),
    Refused(Arc<ToolCall>, String),
}

impl Agent<'_> {
    /// Makes calls and returns the results in the same order. Consecutive calls
    /// with `readOnlyHint` run concurrently; a call that may change something
    /// runs alone, because later calls may depend on it.
    pub(super) async fn call_all(&self, calls: Vec<Arc<ToolCall>>) -> Vec<ToolResult> {
        let mut outcomes = Vec::with_capacity(calls.len());
        let mut calls = calls.into_iter().peekable();
        while let Some(first) = calls.next() {
            let mut together = vec![first];
            while self.is_read_only(&together[0]) {
                let Some(next) = calls.next_if(|next| self.is_read_only(next)) else { break };
                together.push(next);
            }
            // Permissions are asked for one after the other.
            let mut checked = Vec::with_capacity(together.len());
            for call in together {
                checked.push(self.check(call).await);
            }
            outcomes.extend(join_all(checked.into_iter().map(|it| self.finish_call(it))).await);
        }
        outcomes
    }

    fn is_read_only(&self, call: &ToolCall) -> bool {
        let tool = self.registry.get(&call.tool);
        let hint = tool.as_ref().and_then(|tool| tool.annotations()?.get("readOnlyHint"));
        hint.and_then(|hint| hint.as_bool()) == Some(true)
    }

    async fn check(&self, call: Arc<ToolCall>) -> CheckedCall {
        self.emit(Event::Call(Arc::clone(&call))).await;
        let value = match call.value() {
            Ok(value) => value,
            Err(why) => return CheckedCall::Refused(call, why),
        };
        if let Some(text) = self.builtin_list(&call.tool, &value) {
            return CheckedCall::Listed(call, text);
        }
        if let Some(request) = self.builtin_request(&call.tool, &value) {
            return self.check_builtin(call, request).await;
        }
        let arguments = RawJson::from(value);
        let permitted = self.registry.permit(&call.tool, arguments.view()).await;
        let server = self.registry.get(&call.tool).map(|tool| tool.server);
        let refused = permitted.as_ref().err().map(ToString::to_string);
        let permission = Permission { call: Arc::clone(&call), server, refused };
        self.emit(Event::Permission(permission)).await;
        match permitted {
            Ok(route) => CheckedCall::Permitted(PermittedCall { call, arguments, route }),
            Err(refusal) => CheckedCall::Refused(call, refusal.to_string()),
        }
    }

    /// Checks the permission of a built-in tool.
    async fn check_builtin(
        &self,
        call: Arc<ToolCall>,
        request: Result<BuiltinRequest, String>,
    ) -> CheckedCall {
        let request = match request {
            Ok(request) => request,
            Err(why) => return CheckedCall::Refused(call, why),
        };
        let server = Arc::clone(request.connection.server());
        let permitted =
            self.registry.permit_request(&server, request.method, request.arguments()).await;
        let refused = permitted.err().map(|denied| denied.to_string());
        let (same, server) = (Arc::clone(&call), Some(server));
        let permission = Permission { call: same, server, refused: refused.clone() };
        self.emit(Event::Permission(permission)).await;
        match refused {
            None => CheckedCall::Builtin(call, request),
            Some(why) => CheckedCall::Refused(call, why),
        }
    }

    async fn finish_call(&self, checked: CheckedCall) -> ToolResult {
        let (call, text, is_error) = match checked {
            CheckedCall::Refused(call, why) => (call, why, true),
            CheckedCall::Listed(call, text) => (call, text, false),
            CheckedCall::Builtin(call, request) => match self.send_builtin(&request).await {
                Ok(text) => (call, text, false),
                Err(why) => (call, truncate(&why, MAX_ERROR_CHARS), true),
            },
            CheckedCall::Permitted(permitted) => {
                let (text, is_error) = self.call(&permitted).await;
                (permitted.call, text, is_error)
            }
        };
        let outcome = ToolResult { id: call.id.clone(), text: text.clone(), is_error };
        self.emit(Event::Result { call, text, is_error }).await;
        outcome
    }

    async fn call(&self, permitted: &PermittedCall) -> (String, bool) {
        let PermittedCall { call, arguments, route } = permitted;
        let answered = self.send_call(route, arguments.clone()).await;
        let response = match answered {
            Ok(response) => response,
            Err(error) => return (truncate(&error_text(&error), MAX_ERROR_CHARS), true),
        };
        let Some(result) = response.result() else {
            return (truncate(&refusal_text(&response), MAX_ERROR_CHARS), true);
        };
        let source = Call { server: &route.server, tool: &route.tool.name, arguments };
        let ProcessedResult { artifacts, for_model, .. } = self.store.process(source, result);
        for artifact in artifacts {
            self.emit(Event::Artifact { call: Arc::clone(call), artifact }).await;
        }
        (for_model, response.is_error())
    }
}

impl Agent<'_> {
    /// Calls a tool on the current connection. A call is never repeated on another one.
    async fn send_call(&self, route: &Route, arguments: RawJson) -> Result<Response, CallError> {
        let connection = self.manager.connection_for(route)?;
        let request = connection.call_tool(&route.tool.name, arguments);
        let called = self.with_questions(&route.server, request).await;
        called.map_err(|error| CallError::Failed { server: Arc::clone(&route.server), error })
    }
}

fn refusal_text(response: &Response) -> String {
    let error = response.error();
    error.map_or("the server sent no result".to_owned(), |error| format!("server returned {error}"))
}

/// The error text for the model, without the server's stderr.
fn error_text(error: &CallError) -> String {
    match error {
        CallError::Failed {
            server,
            error: client::Error::Closed { cause: Cause::ProcessEnded { reason, .. }, .. },
        } => format!("server `{server}` was lost during the call: {reason}"),
        error => error.to_string(),
    }
}
