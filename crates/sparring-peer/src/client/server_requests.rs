//! Handlers for requests that a server sends to a client: sampling, elicitation,
//! roots.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sparring_wire::json::parse_value;
use sparring_wire::{ErrorObject, Json, RawJson};

/// A kind of request that a server sends to a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerRequest {
    /// `sampling/createMessage`
    Sampling,
    /// `elicitation/create`
    Elicitation,
    /// `roots/list`
    Roots,
    /// Any other method, such as those of tasks in 2025-11-25.
    Method(&'static str),
}

impl ServerRequest {
    /// Returns the method.
    pub fn method(self) -> &'static str {
        match self {
            ServerRequest::Sampling => "sampling/createMessage",
            ServerRequest::Elicitation => "elicitation/create",
            ServerRequest::Roots => "roots/list",
            ServerRequest::Method(method) => method,
        }
    }

    /// Returns the capability that a client declares for it, if there is one.
    pub fn capability(self) -> Option<&'static str> {
        match self {
            ServerRequest::Sampling => Some("sampling"),
            ServerRequest::Elicitation => Some("elicitation"),
            ServerRequest::Roots => Some("roots"),
            ServerRequest::Method(_) => None,
        }
    }
}

/// Accepts an elicitation with the defaults of its schema (since 2025-11-25,
/// client/elicitation). Fields without a default are left out.
pub fn accept_with_defaults(params: &RawJson) -> Value {
    let properties = params.view().get_path(&["requestedSchema", "properties"]);
    let defaults =
        properties.unwrap_or(Json::EMPTY_OBJECT).members().filter_map(|(name, property)| {
            let default = parse_value(property.get("default")?.bytes()).ok()?;
            Some((name.name().into_owned(), default))
        });
    let content: Map<String, Value> = defaults.collect();
    json!({"action": "accept", "content": content})
}

pub(super) type AnswerFuture = Pin<Box<dyn Future<Output = Result<RawJson, ErrorObject>> + Send>>;
type AnswerFn = Arc<dyn Fn(RawJson) -> AnswerFuture + Send + Sync>;

/// Answers any server request that one request of the client causes.
pub trait ServerRequestHandler: Send + Sync {
    /// Starts to answer.
    fn answer(
        &self,
        method: &str,
        params: RawJson,
    ) -> Pin<Box<dyn Future<Output = Result<RawJson, ErrorObject>> + Send>>;
}

/// The handlers by kind of request.
#[derive(Clone, Default)]
pub(super) struct ServerRequestHandlers(HashMap<ServerRequest, AnswerFn>);

/// The handler for server requests that one request causes.
#[derive(Clone)]
pub(super) struct ScopedHandler {
    /// The party that made the request.
    pub(super) party: u64,
    pub(super) handler: Arc<dyn ServerRequestHandler>,
}

impl ScopedHandler {
    pub(super) fn start(&self, method: &str, params: Option<RawJson>) -> AnswerFuture {
        self.handler.answer(method, params.unwrap_or_else(RawJson::empty_object))
    }
}

impl ServerRequestHandlers {
    pub(super) fn set<F, Fut>(&mut self, question: ServerRequest, handler: F)
    where
        F: Fn(RawJson) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, ErrorObject>> + Send + 'static,
    {
        // Called inside of the future, so that a panic is caught with it.
        let handler = Arc::new(handler);
        let start = move |params| -> AnswerFuture {
            let handler = Arc::clone(&handler);
            Box::pin(async move { handler(params).await.map(RawJson::from) })
        };
        self.0.insert(question, Arc::new(start));
    }

    /// Starts the handler of a method. Returns "method not found" if there is
    /// none.
    pub(super) fn start(
        &self,
        method: &str,
        params: Option<RawJson>,
    ) -> Result<AnswerFuture, ErrorObject> {
        let mut handlers = self.0.iter();
        let handler = handlers.find(|(question, _)| question.method() == method);
        let (_, start) = handler.ok_or_else(|| ErrorObject::method_not_found(method))?;
        Ok(start(params.unwrap_or_else(RawJson::empty_object)))
    }
}
