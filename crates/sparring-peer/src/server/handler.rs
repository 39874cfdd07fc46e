//! What a server does: a trait whose every method has a default, and what such
//! a method gives back.

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

/// A server's behaviour. Whatever is not overridden is refused with "method
/// not found"; what is not declared in [`Handler::capabilities`] never gets
/// here.
///
/// Each method is called with what its request must have, checked already.
/// Requests of one connection are served side by side on one task: a handler
/// that has much to compute, or that blocks, hands that to a thread of its own.
pub trait Handler: Send + Sync + 'static {
    /// Who the server says it is.
    fn info(&self) -> Implementation {
        Implementation::new("sparring", env!("CARGO_PKG_VERSION"))
    }

    /// What the server says it can do.
    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none()
    }

    /// What the server says about its use.
    fn instructions(&self) -> Option<String> {
        None
    }

    /// `tools/list`
    fn list_tools(
        &self,
        cursor: Option<&str>,
        cx: &Context,
    ) -> impl Future<Output = Answer> + Send {
        let _ = cursor;
        refuse(cx)
    }

    /// `tools/call`
    fn call_tool(
        &self,
        name: &str,
        arguments: Json<'_>,
        cx: &Context,
    ) -> impl Future<Output = Answer> + Send {
        let _ = (name, arguments);
        refuse(cx)
    }

    /// The input schema of a tool whose arguments stand in headers as well,
    /// by `x-mcp-header`; over HTTP they are compared since 2026-07-28.
    fn input_schema(&self, tool: &str) -> Option<RawJson> {
        let _ = tool;
        None
    }

    /// `resources/list`
    fn list_resources(
        &self,
        cursor: Option<&str>,
        cx: &Context,
    ) -> impl Future<Output = Answer> + Send {
        let _ = cursor;
        refuse(cx)
    }

    /// `resources/templates/list`
    fn list_resource_templates(
        &self,
        cursor: Option<&str>,
        cx: &Context,
    ) -> impl Future<Output = Answer> + Send {
        let _ = cursor;
        refuse(cx)
    }

    /// `resources/read`
    fn read_resource(&self, uri: &str, cx: &Context) -> impl Future<Output = Answer> + Send {
        let _ = uri;
        refuse(cx)
    }

    /// `resources/subscribe`; agreed to by default. The server remembers it.
    fn subscribe(&self, uri: &str, cx: &Context) -> impl Future<Output = Answer> + Send {
        let _ = (uri, cx);
        std::future::ready(Ok(Reply::empty()))
    }

    /// `resources/unsubscribe`; agreed to by default. The server forgets it.
    fn unsubscribe(&self, uri: &str, cx: &Context) -> impl Future<Output = Answer> + Send {
        let _ = (uri, cx);
        std::future::ready(Ok(Reply::empty()))
    }

    /// `prompts/list`
    fn list_prompts(
        &self,
        cursor: Option<&str>,
        cx: &Context,
    ) -> impl Future<Output = Answer> + Send {
        let _ = cursor;
        refuse(cx)
    }

    /// `prompts/get`
    fn get_prompt(
        &self,
        name: &str,
        arguments: Json<'_>,
        cx: &Context,
    ) -> impl Future<Output = Answer> + Send {
        let _ = (name, arguments);
        refuse(cx)
    }

    /// `completion/complete`: `reference` is the prompt or template, `argument`
    /// has `name` and `value`.
    fn complete(
        &self,
        reference: Json<'_>,
        argument: Json<'_>,
        cx: &Context,
    ) -> impl Future<Output = Answer> + Send {
        let _ = (reference, argument);
        refuse(cx)
    }

    /// Any other request, tasks included.
    fn other(&self, cx: &Context) -> impl Future<Output = Answer> + Send {
        refuse(cx)
    }

    /// Any notification of the client's; by default nothing is done.
    fn notified(&self, method: &str, params: Option<Json<'_>>) {
        let _ = (method, params);
    }
}

fn refuse(cx: &Context) -> impl Future<Output = Answer> + Send + use<> {
    let error = ErrorObject::method_not_found(cx.method());
    std::future::ready(Err(Failure::Error(error)))
}

/// What a handler gives: a result, or why there is none.
pub type Answer = Result<Reply, Failure>;

/// A result, as it will stand on the wire.
#[derive(Debug, Clone)]
pub struct Reply(Body);

#[derive(Debug, Clone)]
enum Body {
    /// One of our own.
    Own(RawJson),
    /// What another server has said, passed on where it stands.
    Of(Frame),
}

impl Reply {
    /// The empty result.
    pub fn empty() -> Self {
        RawJson::empty_object().into()
    }

    /// What another server has answered, passed on as it was spelled. Invalid UTF-8
    /// is replaced.
    ///
    /// # Errors
    /// When it has no result; gives it back.
    pub fn passed_on(response: Response) -> Result<Self, Response> {
        let frame = response.raw();
        match frame.result() {
            None => Err(response),
            Some(_) if frame.violations().is_empty() => Ok(Reply(Body::Of(response.into_raw()))),
            Some(result) => Ok(RawJson::from(result).into()),
        }
    }

    /// The result itself.
    pub fn json(&self) -> Json<'_> {
        match &self.0 {
            Body::Own(json) => json.view(),
            Body::Of(frame) => frame.result().unwrap_or(Json::EMPTY_OBJECT),
        }
    }

    /// The values that complete an argument.
    pub fn completion(values: &[&str]) -> Self {
        json!({"completion": {"values": values}}).into()
    }

    fn of(value: &impl Serialize) -> Self {
        // The protocol's own types have string keys throughout.
        RawJson::of(value).expect("a protocol type is always JSON").into()
    }
}

/// Two results are equal when they are spelled alike.
impl PartialEq for Reply {
    fn eq(&self, other: &Self) -> bool {
        self.json() == other.json()
    }
}

impl Eq for Reply {}

impl From<RawJson> for Reply {
    fn from(json: RawJson) -> Self {
        Reply(Body::Own(json))
    }
}

impl From<Value> for Reply {
    fn from(value: Value) -> Self {
        RawJson::from(value).into()
    }
}

impl From<CallToolResult> for Reply {
    fn from(result: CallToolResult) -> Self {
        Reply::of(&result)
    }
}

impl From<ReadResourceResult> for Reply {
    fn from(result: ReadResourceResult) -> Self {
        Reply::of(&result)
    }
}

impl From<GetPromptResult> for Reply {
    fn from(result: GetPromptResult) -> Self {
        Reply::of(&result)
    }
}

/// One page of a list.
#[derive(Debug, Clone, PartialEq)]
pub struct Page<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Where the next one begins, if there is one.
    pub next_cursor: Option<String>,
}

/// What can be listed, and under which name.
pub trait Listed: Serialize {
    /// The field of the result that holds the list.
    const FIELD: &'static str;
}

impl Listed for Tool {
    const FIELD: &'static str = "tools";
}

impl Listed for Resource {
    const FIELD: &'static str = "resources";
}

impl Listed for ResourceTemplate {
    const FIELD: &'static str = "resourceTemplates";
}

impl Listed for Prompt {
    const FIELD: &'static str = "prompts";
}

impl<T: Listed> From<Page<T>> for Reply {
    fn from(page: Page<T>) -> Self {
        let mut result = json!({T::FIELD: page.items});
        if let Some(cursor) = page.next_cursor {
            result["nextCursor"] = cursor.into();
        }
        result.into()
    }
}

impl<T: Listed> From<Vec<T>> for Reply {
    fn from(items: Vec<T>) -> Self {
        Page { items, next_cursor: None }.into()
    }
}

/// Why a handler gives no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Failure {
    /// A JSON-RPC error.
    #[error(transparent)]
    Error(#[from] ErrorObject),
    /// The client must give input first; made by [`Context::ask`].
    #[error("input is required")]
    InputRequired(InputRequired),
}

/// The input that a request needs before it can be answered.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct InputRequired {
    /// What is asked, under names of the server's.
    pub requests: serde_json::Map<String, Value>,
    /// What the client shall give back with the input, unread.
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
