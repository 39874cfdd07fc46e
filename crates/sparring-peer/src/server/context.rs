//! What a handler knows of the request it serves, and what it can say while
//! serving it.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sparring_wire::json::{ObjectBuilder, implementation, tree};
use sparring_wire::types::{Implementation, LogLevel};
use sparring_wire::{ErrorObject, Frame, Headers, Id, Json, RawJson, Revision, Side, code};
use tokio::sync::{mpsc, oneshot};

use super::core::Call;
use super::handler::{Failure, InputRequired};
use crate::client::Question;
use crate::link::Faults;

/// Where earlier answers stand in a request's state.
const ANSWERS: &str = "sparring/answers";

/// One request being served. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Context(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    call: Call,
    origin: Origin,
    outbox: Arc<mpsc::UnboundedSender<Said>>,
}

/// Where a request came from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Origin {
    pub(super) transport: &'static str,
    /// The number of the session; none where the request has no other.
    pub(super) session: Option<u64>,
}

/// What a handler says while it serves a request.
#[derive(Debug)]
pub(super) enum Said {
    Progress(Id, RawJson),
    Log(Id, LogLevel, RawJson),
    Notify(Id, String, Option<RawJson>),
    BreakOff(Id),
    Faults(Id, Faults),
    Ask(Id, &'static str, RawJson, oneshot::Sender<Result<RawJson, ErrorObject>>),
}

impl Context {
    pub(super) fn new(
        call: Call,
        origin: Origin,
        outbox: Arc<mpsc::UnboundedSender<Said>>,
    ) -> Self {
        Context(Arc::new(Inner { call, origin, outbox }))
    }

    /// What the link that it came over is called, as `stdio` or `http`.
    pub fn transport(&self) -> &'static str {
        self.0.origin.transport
    }

    /// Which of the server's sessions it belongs to: they are counted from 1 on,
    /// in the order in which they began. On links other than HTTP a connection is
    /// a session. None where the request stands for itself (over HTTP since
    /// 2026-07-28).
    pub fn session(&self) -> Option<u64> {
        self.0.origin.session
    }

    /// The request itself.
    pub fn request(&self) -> &Frame {
        &self.0.call.frame
    }

    /// The HTTP headers that the request came with; none on other links.
    pub fn headers(&self) -> Option<&Headers> {
        self.0.call.envelope.as_ref().map(|envelope| &envelope.headers)
    }

    /// The request's id.
    pub fn id(&self) -> &Id {
        &self.0.call.id
    }

    /// The request's method.
    pub fn method(&self) -> &str {
        self.request().method().unwrap_or_default()
    }

    /// The request's params.
    pub fn params(&self) -> Option<Json<'_>> {
        self.request().params()
    }

    /// The revision in which the request is served.
    pub fn revision(&self) -> Revision {
        self.0.call.revision
    }

    /// Who the client says it is.
    pub fn client_info(&self) -> Option<Implementation> {
        match &self.0.call.client {
            Some(client) => client.info.clone(),
            None => implementation(self.meta("io.modelcontextprotocol/clientInfo")?),
        }
    }

    /// Whether the client declares a capability, as `sampling`.
    pub fn client_has(&self, capability: &str) -> bool {
        match &self.0.call.client {
            Some(client) => client.capabilities.view().get(capability).is_some(),
            None => self
                .meta("io.modelcontextprotocol/clientCapabilities")
                .is_some_and(|capabilities| capabilities.get(capability).is_some()),
        }
    }

    /// Whether the client wants to know how far the request has come.
    pub fn wants_progress(&self) -> bool {
        self.0.call.wants_progress
    }

    /// Tells the client how far the request has come, if it wants to know.
    pub fn progress(&self, progress: f64, total: Option<f64>, message: Option<&str>) {
        let Some(token) = self.meta("progressToken") else { return };
        let mut params = Map::new();
        params.insert("progress".to_owned(), json!(progress));
        params.extend(total.map(|total| ("total".to_owned(), json!(total))));
        params.extend(message.map(|message| ("message".to_owned(), json!(message))));
        let params = RawJson::from(Value::Object(params)).with_member("progressToken", token);
        self.say(Said::Progress(self.id().clone(), params));
    }

    /// Sends a log message, if the client wants messages of that level.
    pub fn log(&self, level: LogLevel, data: &Value) {
        self.log_as(None, level, data);
    }

    /// The same, in the name of a part of the server.
    pub fn log_as(&self, logger: Option<&str>, level: LogLevel, data: &Value) {
        let params = log_params(logger, level, &RawJson::from(data));
        self.say(Said::Log(self.id().clone(), level, params));
    }

    /// The least severe level of log messages that the client wants for this
    /// request: as the request says, or its session. None where nobody has said.
    pub fn log_level(&self) -> Option<LogLevel> {
        self.0.call.log_level
    }

    /// Sends any notification along with this request.
    pub fn notify(&self, method: &str, params: Option<RawJson>) {
        self.say(Said::Notify(self.id().clone(), method.to_owned(), params));
    }

    /// Ends the connection that carries this request, where the client knows to
    /// come back for the rest of the stream (2025-11-25 over HTTP,
    /// basic/transports#sending-messages-to-the-server); elsewhere nothing happens.
    pub fn break_off(&self) {
        self.say(Said::BreakOff(self.id().clone()));
    }

    /// Lets something go wrong with the answer, on purpose.
    pub fn fail_with(&self, faults: Faults) {
        self.say(Said::Faults(self.id().clone(), faults));
    }

    /// Refuses the request of a client that does not declare a capability.
    ///
    /// # Errors
    /// When it does not; to be returned with `?`.
    pub fn require(&self, capability: &str) -> Result<(), Failure> {
        if self.client_has(capability) { Ok(()) } else { Err(self.lacks(capability).into()) }
    }

    /// Asks the client for something, in the way of the revision: up to
    /// 2025-11-25 by a request; since then by ending this one with
    /// `input_required`, so that the handler runs again from its start when
    /// the client comes back, and then finds the answer here.
    ///
    /// # Errors
    /// When the client does not declare that it answers, does not answer, or
    /// must come back with the answer; to be returned with `?`.
    pub async fn ask(
        &self,
        key: &str,
        question: Question,
        params: Value,
    ) -> Result<RawJson, Failure> {
        if let Some(capability) = question.capability() {
            self.require(capability)?;
        }
        match self.revision().is_modern() {
            true => self.ask_by_result(key, question, params),
            false => self.ask_by_request(question, params).await,
        }
    }

    async fn ask_by_request(&self, question: Question, params: Value) -> Result<RawJson, Failure> {
        let method = question.method();
        let known = self.revision().request(Side::Server, method).is_some();
        if !known && question.capability().is_some() {
            let message = format!("{method} does not exist in revision {}", self.revision());
            return Err(ErrorObject::invalid_request(message).into());
        }
        let (reply, answer) = oneshot::channel();
        self.say(Said::Ask(self.id().clone(), method, params.into(), reply));
        let gone = |_| Err(ErrorObject::internal("the client is gone"));
        answer.await.unwrap_or_else(gone).map_err(Failure::from)
    }

    fn ask_by_result(
        &self,
        key: &str,
        question: Question,
        params: Value,
    ) -> Result<RawJson, Failure> {
        let rule = self.revision().request(Side::Client, self.method());
        if !rule.is_some_and(|rule| rule.input_required) {
            let message = format!("{} cannot be answered by a question", self.method());
            return Err(ErrorObject::internal(message).into());
        }
        let mut answers = self.answers();
        if let Some(answer) = answers.remove(key) {
            return Ok(answer.into());
        }
        let request = json!({"method": question.method(), "params": params});
        let requests = Map::from_iter([(key.to_owned(), request)]);
        // What the client answered before comes back with the state. It is the
        // client's own word, so it needs no seal.
        let state = (!answers.is_empty()).then(|| json!({ANSWERS: answers}).to_string());
        Err(Failure::InputRequired(InputRequired { requests, state }))
    }

    /// The state that the client gives back, unread, since 2026-07-28.
    pub fn request_state(&self) -> Option<Cow<'_, str>> {
        self.params()?.get("requestState")?.as_str()
    }

    /// What the client has answered in this round and in those before.
    fn answers(&self) -> Map<String, Value> {
        let state = self.request_state();
        let state = state.and_then(|state| tree(state.as_bytes()).ok());
        let mut answers = match state.as_ref().and_then(|state| state.get(ANSWERS)) {
            Some(Value::Object(before)) => before.clone(),
            _ => Map::new(),
        };
        let now = self.params().and_then(|params| params.get("inputResponses"));
        if let Some(Ok(Value::Object(now))) = now.map(|now| tree(now.bytes())) {
            answers.extend(now);
        }
        answers
    }

    fn lacks(&self, capability: &str) -> ErrorObject {
        let message = format!("the client does not declare {capability}");
        match self.revision().is_modern() {
            true => ErrorObject::new(code::MISSING_REQUIRED_CLIENT_CAPABILITY, message)
                .with_data(json!({"requiredCapabilities": {capability: {}}})),
            false => ErrorObject::invalid_request(message),
        }
    }

    fn meta(&self, name: &str) -> Option<Json<'_>> {
        self.params()?.get("_meta")?.get(name)
    }

    /// The session may have ended; then nobody is there to hear.
    fn say(&self, said: Said) {
        let _ = self.0.outbox.send(said);
    }
}

/// The params of a log message.
pub(super) fn log_params(logger: Option<&str>, level: LogLevel, data: &RawJson) -> RawJson {
    let params = ObjectBuilder::with_room_for(data.text().len()).string("level", level.name());
    let params = match logger {
        Some(logger) => params.string("logger", logger),
        None => params,
    };
    params.json("data", data.view()).build()
}
