//! The trait that servers implement, with a default for every method, and the
//! types that its methods return.

use std::future::Future;

use serde::Serialize;
use serde_json::{Value, json};
use sparring_wire::types::{
    CallToolResult, GetPromptResult, Implementation, Prompt, ReadResourceResult, Resource,
    ResourceTemplate, ServerCapabilities, Tool,
};
use sparring_wire::{ErrorObject, Frame, Json, RawJson};

use super::context::Context;
use crate::client::Response;

/// The behaviour of a server. Methods that are not overridden answer "method not
/// found". Requests for capabilities that [`Handler::capabilities`] does not
/// declare never reach the handler.
///
/// The params that a request must have are checked before each call. All requests
/// of one connection are served concurrently on one task. A handler that computes
/// a lot or blocks must do so on another thread.
pub trait Handler: Send + Sync + 'static {
    /// Returns the server's name and version.
    fn info(&self) -> Implementation {
        Implementation::new("sparring", env!("CARGO_PKG_VERSION"))
    }

    /// Returns the server's capabilities.
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none()
    }

    /// Returns the server's instructions for its use.
    fn instructions(&self) -> Option<String> {
        None
    }

    /// `tools/list`
    fn list_tools(
        &self,
        cursor: Option<&str>,
        cx: &Context,
    ) -> impl Future<Output = HandlerResult> + Send {
        let _ = cursor;
        method_not_found(cx)
    }

    /// `tools/call`
    fn call_tool(
        &self,
        name: &str,
        arguments: Json<'_>,
        cx: &Context,
    ) -> impl Future<Output = HandlerResult> + Send {
        let _ = (name, arguments);
        method_not_found(cx)
    }

    /// Returns the input schema of a tool that mirrors arguments in headers with
    /// `x-mcp-header`. Over HTTP they are compared since 2026-07-28.
    fn input_schema(&self, tool: &str) -> Option<RawJson> {
        let _ = tool;
        None
    }

    /// `resources/list`
    fn list_resources(
        &self,
        cursor: Option<&str>,
        cx: &Context,
    ) -> impl Future<Output = HandlerResult> + Send {
        let _ = cursor;
        method_not_found(cx)
    }

    /// `resources/templates/list`
    fn list_resource_templates(
        &self,
        cursor: Option<&str>,
        cx: &Context,
    ) -> impl Future<Output = HandlerResult> + Send {
        let _ = cursor;
        method_not_found(cx)
    }

    /// `resources/read`
    fn read_resource(&self, uri: &str, cx: &Context) -> impl Future<Output = HandlerResult> + Send {
        let _ = uri;
        method_not_found(cx)
    }

    /// `resources/subscribe`; accepted by default. The server stores the
    /// subscription.
    fn subscribe(&self, uri: &str, cx: &Context) -> impl Future<Output = HandlerResult> + Send {
        let _ = (uri, cx);
        std::future::ready(Ok(Reply::empty()))
    }

    /// `resources/unsubscribe`; accepted by default. The server removes the
    /// subscription.
    fn unsubscribe(&self, uri: &str, cx: &Context) -> impl Future<Output = HandlerResult> + Send {
        let _ = (uri, cx);
        std::future::ready(Ok(Reply::empty()))
    }

    /// `prompts/list`
    fn list_prompts(
        &self,
        cursor: Option<&str>,
        cx: &Context,
    ) -> impl Future<Output = HandlerResult> + Send {
        let _ = cursor;
        method_not_found(cx)
    }

    /// `prompts/get`
    fn get_prompt(
        &self,
        name: &str,
        arguments: Json<'_>,
        cx: &Context,
    ) -> impl Future<Output = HandlerResult> + Send {
        let _ = (name, arguments);
        method_not_found(cx)
    }

    /// `completion/complete`: `reference` is the prompt or template, `argument`
    /// has `name` and `value`.
    fn complete(
        &self,
        reference: Json<'_>,
        argument: Json<'_>,
        cx: &Context,
    ) -> impl Future<Output = HandlerResult> + Send {
        let _ = (reference, argument);
        method_not_found(cx)
    }

    /// Any other request, tasks included.
    fn other_request(&self, cx: &Context) -> impl Future<Output = HandlerResult> + Send {
        method_not_found(cx)
    }

    /// Observes a request that the server has answered without a method of this trait:
    /// `initialize`, `ping`, `logging/setLevel`, `server/discover`, `subscriptions/listen`, and
    /// each request that it refused. Does nothing by default.
    fn on_answered(&self, cx: &Context, answer: &Result<Reply, ErrorObject>) {
        let _ = (cx, answer);
    }

    /// Handles a notification of the client; does nothing by default.
    fn on_notification(&self, method: &str, params: Option<Json<'_>>) {
        let _ = (method, params);
    }
}

fn method_not_found(cx: &Context) -> impl Future<Output = HandlerResult> + Send + use<> {
    let error = ErrorObject::method_not_found(cx.method());
    std::future::ready(Err(HandlerError::Error(error)))
}

/// The outcome of a handler's method.
pub type HandlerResult = Result<Reply, HandlerError>;

/// A result, as it is sent.
#[derive(Debug, Clone)]
pub struct Reply(Body);

#[derive(Debug, Clone)]
enum Body {
    /// A result of this server.
    Json(RawJson),
    /// The result of another server's response, forwarded from its frame.
    Frame(Frame),
}

impl Reply {
    /// The empty result.
    pub fn empty() -> Self {
        RawJson::empty_object().into()
    }

    /// Forwards the result of another server's response as written. Invalid UTF-8
    /// is replaced.
    ///
    /// # Errors
    /// Returns the response if it has no result.
    pub fn from_response(response: Response) -> Result<Self, Response> {
        let frame = response.raw();
        match frame.result() {
            None => Err(response),
            Some(_) if frame.violations().is_empty() => {
                Ok(Reply(Body::Frame(response.into_frame())))
            }
            Some(result) => Ok(RawJson::from(result).into()),
        }
    }

    /// Returns the result.
    pub fn json(&self) -> Json<'_> {
        match &self.0 {
            Body::Json(json) => json.view(),
            Body::Frame(frame) => frame.result().unwrap_or(Json::EMPTY_OBJECT),
        }
    }

    /// Creates a result of `completion/complete`.
    pub fn completion(values: &[&str]) -> Self {
        json!({"completion": {"values": values}}).into()
    }

    fn from_serializable(value: &impl Serialize) -> Self {
        // The protocol's types have only string keys.
        RawJson::from_serialize(value).expect("a protocol type is always JSON").into()
    }
}

/// Results are equal if their JSON texts are equal.
impl PartialEq for Reply {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl Eq for Reply {}

impl From<RawJson> for Reply {
    fn from(json: RawJson) -> Self {
        Reply(Body::Json(json))
    }
}

impl From<Value> for Reply {
    fn from(value: Value) -> Self {
        RawJson::from(value).into()
    }
}

impl From<CallToolResult> for Reply {
    fn from(result: CallToolResult) -> Self {
        Reply::from_serializable(&result)
    }
}

impl From<ReadResourceResult> for Reply {
    fn from(result: ReadResourceResult) -> Self {
        Reply::from_serializable(&result)
    }
}

impl From<GetPromptResult> for Reply {
    fn from(result: GetPromptResult) -> Self {
        Reply::from_serializable(&result)
    }
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// The items.
    pub items: Vec<T>,
    /// The cursor of the next page, if there is one.
    pub next_cursor: Option<String>,
}

/// An item of a list, with the name of the list.
pub trait ListItem: Serialize {
    /// The member of the result that holds the list.
    const FIELD: &'static str;
}

impl ListItem for Tool {
    const FIELD: &'static str = "tools";
}

impl ListItem for Resource {
    const FIELD: &'static str = "resources";
}

impl ListItem for ResourceTemplate {
    const FIELD: &'static str = "resourceTemplates";
}

impl ListItem for Prompt {
    const FIELD: &'static str = "prompts";
}

impl<T: ListItem> From<Page<T>> for Reply {
    fn from(page: Page<T>) -> Self {
        let mut result = json!({T::FIELD: page.items});
        if let Some(cursor) = page.next_cursor {
            result["nextCursor"] = cursor.into();
        }
        result.into()
    }
}

impl<T: ListItem> From<Vec<T>> for Reply {
    fn from(items: Vec<T>) -> Self {
        Page { items, next_cursor: None }.into()
    }
}

/// The reason why a handler has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum HandlerError {
    /// A JSON-RPC error.
    #[error(transparent)]
    Error(#[from] ErrorObject),
    /// The client must provide input first. [`Context::ask`] creates it.
    #[error("input is required")]
    InputRequired(InputRequired),
}

/// The inputs that a request needs before it can be answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputRequired {
    /// The requests for inputs, by the server's keys.
    pub requests: serde_json::Map<String, Value>,
    /// The state that the client sends back unchanged.
    pub state: Option<String>,
}

impl InputRequired {
    pub(super) fn to_result(&self) -> RawJson {
        let mut result = json!({"resultType": "input_required"});
        if !self.requests.is_empty() {
            result["inputRequests"] = Value::Object(self.requests.clone());
        }
        if let Some(state) = &self.state {
            result["requestState"] = state.clone().into();
        }
        result.into()
    }
}
