//! The context of a request being served: gives a handler access to the request,
//! and sends messages of the handler.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sparring_wire::json::{ObjectBuilder, parse_implementation, parse_value};
use sparring_wire::types::{Implementation, LogLevel};
use sparring_wire::{ErrorObject, Frame, Headers, Id, Json, RawJson, Revision, Side, code};
use tokio::sync::oneshot;

use super::core::{ClientDescription, HandlerRequest};
use super::handler::{HandlerError, InputRequired};
use super::message_queue::{HandlerMessage, MessageSender};
use crate::client::ServerRequest;
use crate::link::Faults;

/// The key of earlier answers in a request's state.
const ANSWERS_KEY: &str = "sparring/answers";

/// One request being served. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Context(Arc<ContextInner>);

#[derive(Debug)]
struct ContextInner {
    request: HandlerRequest,
    origin: Origin,
    messages: Arc<MessageSender>,
}

/// The origin of a request.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) transport: &'static str,
    /// The number of the session; none for a request without one.
    pub(super) session: Option<u64>,
}

impl Context {
    pub(super) fn new(
        request: HandlerRequest,
        origin: Origin,
        messages: Arc<MessageSender>,
    ) -> Self {
        Context(Arc::new(ContextInner { request, origin, messages }))
    }

    /// Returns the name of the transport, such as `stdio` or `http`.
    pub fn transport(&self) -> &'static str {
        self.0.origin.transport
    }

    /// Returns the number of the session, counted from 1 in the order of their
    /// start. On links other than HTTP each connection is a session. None for a
    /// request without a session (over HTTP since 2026-07-28).
    pub fn session(&self) -> Option<u64> {
        self.0.origin.session
    }

    /// Returns the request's frame.
    pub fn request(&self) -> &Frame {
        &self.0.request.frame
    }

    /// Returns the HTTP headers of the request; none on other links.
    pub fn headers(&self) -> Option<&Headers> {
        self.0.request.envelope.as_ref().map(|envelope| &envelope.headers)
    }

    /// Returns the request's id.
    pub fn id(&self) -> &Id {
        &self.0.request.id
    }

    /// Returns the request's method.
    pub fn method(&self) -> &str {
        self.request().method().unwrap_or_default()
    }

    /// Returns the request's params.
    pub fn params(&self) -> Option<Json<'_>> {
        self.request().params()
    }

    /// Returns the revision in which the request is served.
    pub fn revision(&self) -> Revision {
        self.0.request.revision
    }

    /// Returns the name and version that the client declares.
    pub fn client_info(&self) -> Option<Implementation> {
        match &self.0.request.client {
            Some(client) => client.info.clone(),
            None => parse_implementation(self.meta_member("io.modelcontextprotocol/clientInfo")?),
        }
    }

    /// Returns true if the client declares a capability such as `sampling`.
    pub fn client_has(&self, capability: &str) -> bool {
        self.client_capabilities().is_some_and(|declared| declared.get(capability).is_some())
    }

    /// Returns the capabilities that the client declares: in its handshake, or in
    /// this request since 2026-07-28.
    pub fn client_capabilities(&self) -> Option<Json<'_>> {
        match &self.0.request.client {
            Some(client) => Some(client.capabilities.view()),
            None => self.meta_member("io.modelcontextprotocol/clientCapabilities"),
        }
    }

    /// Returns the client's declarations in its handshake; none if the request has its own.
    pub fn handshake_client(&self) -> Option<&Arc<ClientDescription>> {
        self.0.request.client.as_ref()
    }

    /// Returns true if the client asked for progress.
    pub fn wants_progress(&self) -> bool {
        self.0.request.wants_progress
    }

    /// Sends progress, if the client asked for it.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = self.meta_member("progressToken") else { return };
        let mut params = Map::new();
        params.insert("progress".to_owned(), json!(progress));
        params.extend(total.map(|total| ("total".to_owned(), json!(total))));
        params.extend(message.map(|message| ("message".to_owned(), json!(message))));
        let params = RawJson::from(Value::Object(params)).with_member("progressToken", token);
        self.send(HandlerMessage::Progress(self.id().clone(), params));
    }

    /// Sends a log message, if the client wants messages of that level.
    pub fn log(&self, level: LogLevel, data: &Value) {
        self.log_as(None, level, data);
    }

    /// Sends a log message with the name of a logger.
    pub fn log_as(&self, logger: Option<&str>, level: LogLevel, data: &Value) {
        let params = log_params(logger, level, &RawJson::from(data));
        self.send(HandlerMessage::Log(self.id().clone(), level, params));
    }

    /// Returns the lowest level of log messages that the client wants, as set in
    /// this request or its session. None if it is not set.
    pub fn log_level(&self) -> Option<LogLevel> {
        self.0.request.log_level
    }

    /// Sends a notification that belongs to this request.
    pub fn notify(&self, method: &str, params: Option<RawJson>) {
        self.send(HandlerMessage::Notify(self.id().clone(), method.to_owned(), params));
    }

    /// Closes the HTTP connection of this request, if the client can reconnect
    /// for the rest of the stream (2025-11-25,
    /// basic/transports#sending-messages-to-the-server). Does nothing otherwise.
    pub fn close_stream(&self) {
        self.send(HandlerMessage::CloseStream(self.id().clone()));
    }

    /// Applies faults to the response.
    pub fn set_faults(&self, faults: Faults) {
        self.send(HandlerMessage::Faults(self.id().clone(), faults));
    }

    /// Requires a capability of the client.
    ///
    /// # Errors
    /// If the client does not declare it. Return the error with `?`.
    pub fn require_capability(&self, capability: &str) -> Result<(), HandlerError> {
        if self.client_has(capability) {
            Ok(())
        } else {
            Err(self.missing_capability_error(capability).into())
        }
    }

    /// Sends a request to the client. Up to 2025-11-25 it is a request on the
    /// wire. Since then the handler's own request ends with `input_required`; the
    /// handler runs again from its start when the client retries, and this method
    /// then returns the answer.
    ///
    /// # Errors
    /// If the client does not declare the capability, does not answer, or has to
    /// retry with the answer. Return the error with `?`.
    pub async fn ask(
        &self,
        key: &str,
        question: ServerRequest,
        params: Value,
    ) -> Result<RawJson, HandlerError> {
        if let Some(capability) = question.capability() {
            self.require_capability(capability)?;
        }
        match self.revision().is_modern() {
            true => self.ask_by_result(key, question, params),
            false => self.ask_by_request(question, params).await,
        }
    }

    async fn ask_by_request(
        &self,
        question: ServerRequest,
        params: Value,
    ) -> Result<RawJson, HandlerError> {
        let method = question.method();
        let known = self.revision().request(Side::Server, method).is_some();
        if !known && question.capability().is_some() {
            let message = format!("{method} does not exist in revision {}", self.revision());
            return Err(ErrorObject::invalid_request(message).into());
        }
        let (reply, answer) = oneshot::channel();
        self.send(HandlerMessage::Ask(self.id().clone(), method, params.into(), reply));
        let gone = |_| Err(ErrorObject::internal("the client disconnected"));
        answer.await.unwrap_or_else(gone).map_err(HandlerError::from)
    }

    fn ask_by_result(
        &self,
        key: &str,
        question: ServerRequest,
        params: Value,
    ) -> Result<RawJson, HandlerError> {
        let rule = self.revision().request(Side::Client, self.method());
        if !rule.is_some_and(|rule| rule.input_required) {
            let message = format!("{} does not allow input_required", self.method());
            return Err(ErrorObject::internal(message).into());
        }
        let mut answers = self.collect_answers();
        if let Some(answer) = answers.remove(key) {
            return Ok(answer.into());
        }
        let request = json!({"method": question.method(), "params": params});
        let requests = Map::from_iter([(key.to_owned(), request)]);
        // The client's earlier answers come back with the state. They are the
        // client's own data, so they need no signature.
        let state = (!answers.is_empty()).then(|| json!({ANSWERS_KEY: answers}).to_string());
        Err(HandlerError::InputRequired(InputRequired { requests, state }))
    }

    /// Returns the `requestState` that the client sends back (since 2026-07-28).
    pub fn request_state(&self) -> Option<Cow<'_, str>> {
        self.params()?.get("requestState")?.as_str()
    }

    /// Returns the client's answers of this round and of earlier ones.
    fn collect_answers(&self) -> Map<String, Value> {
        let state = self.request_state();
        let state = state.and_then(|state| parse_value(state.as_bytes()).ok());
        let mut answers = match state.as_ref().and_then(|state| state.get(ANSWERS_KEY)) {
            Some(Value::Object(earlier)) => earlier.clone(),
            _ => Map::new(),
        };
        let responses = self.params().and_then(|params| params.get("inputResponses"));
        if let Some(Ok(Value::Object(responses))) = responses.map(|it| parse_value(it.bytes())) {
            answers.extend(responses);
        }
        answers
    }

    fn missing_capability_error(&self, capability: &str) -> ErrorObject {
        let message = format!("the client does not declare {capability}");
        match self.revision().is_modern() {
            true => ErrorObject::new(code::MISSING_REQUIRED_CLIENT_CAPABILITY, message)
                .with_data(json!({"requiredCapabilities": {capability: {}}})),
            false => ErrorObject::invalid_request(message),
        }
    }

    fn meta_member(&self, name: &str) -> Option<Json<'_>> {
        self.params()?.get("_meta")?.get(name)
    }

    /// Sends a message. Fails only if the session has ended, and then the message
    /// is not needed.
    fn send(&self, message: HandlerMessage) {
        self.0.messages.send(message);
    }
}

/// Builds the params of a log message.
pub(super) fn log_params(logger: Option<&str>, level: LogLevel, data: &RawJson) -> RawJson {
    let params = ObjectBuilder::with_capacity(data.text().len()).string("level", level.name());
    let params = match logger {
        Some(logger) => params.string("logger", logger),
        None => params,
    };
    params.json("data", data.view()).build()
}
