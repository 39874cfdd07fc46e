//! A journal entry: one request and its answer.

use std::borrow::Cow;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use serde_json::{Value, json};
use sparring_peer::server::{ClientDescription, HandlerError, HandlerResult};
use sparring_transport::Secrets;
use sparring_wire::json::{parse_implementation, parse_value};
use sparring_wire::secret_names::is_secret_header;
use sparring_wire::types::Implementation;
use sparring_wire::{ErrorObject, Frame, Headers, Json, RawJson, Revision};

use super::json_line::JsonLine;

/// The members of `_meta` by which a client declares itself since 2026-07-28.
const CLIENT_INFO_KEY: &str = "io.modelcontextprotocol/clientInfo";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";

/// A request to a mock, and its answer. Cheap to clone.
#[derive(Debug, Clone)]
pub struct ReceivedRequest {
    /// The number of requests before it.
    pub(super) number: u64,
    pub(super) at: Timestamp,
    pub(super) frame: Frame,
    pub(super) revision: Revision,
    pub(super) transport: &'static str,
    /// A counter distinguishes sessions as well as the HTTP session id does, and cannot be used
    /// to enter the session.
    pub(super) session: Option<u64>,
    pub(super) headers: Option<Headers>,
    /// The declarations in the client's handshake, if there was one.
    pub(super) client: Option<Arc<ClientDescription>>,
    /// Empty until it is answered.
    pub(super) answer: Arc<OnceLock<RecordedAnswer>>,
}

/// The answer to a request.
#[derive(Debug)]
pub(super) enum RecordedAnswer {
    Result(RawJson),
    Error(ErrorObject),
    /// The mock asked the client for input first.
    InputRequired,
}

impl RecordedAnswer {
    pub(super) fn from_answer(answer: &HandlerResult) -> Self {
        match answer {
            Ok(reply) => RecordedAnswer::Result(reply.json().into()),
            Err(HandlerError::Error(error)) => RecordedAnswer::Error(error.clone()),
            Err(HandlerError::InputRequired(_)) => RecordedAnswer::InputRequired,
        }
    }

    pub(super) fn size(&self) -> usize {
        match self {
            RecordedAnswer::Result(result) => result.text().len(),
            _ => 0,
        }
    }
}

impl ReceivedRequest {
    /// Returns the request as received.
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Returns the time at which it arrived.
    pub fn at(&self) -> Timestamp {
        self.at
    }

    /// Returns the method.
    pub fn method(&self) -> &str {
        self.frame.method().unwrap_or_default()
    }

    /// Returns the name of the tool or prompt, or the URI.
    pub fn name(&self) -> Option<String> {
        let params = self.frame.params()?;
        let name = params.get("name").or_else(|| params.get("uri"))?;
        name.as_str().map(Into::into)
    }

    /// Returns the arguments, or an empty map.
    pub fn arguments(&self) -> Value {
        let arguments = self.frame.params().and_then(|params| params.get("arguments"));
        arguments
            .and_then(|arguments| parse_value(arguments.bytes()).ok())
            .unwrap_or_else(|| json!({}))
    }

    /// Returns the protocol revision.
    pub fn revision(&self) -> Revision {
        self.revision
    }

    /// Returns the transport: `memory`, `stdio`, `http`, `sse`, `unix` or `pipes`.
    pub fn transport(&self) -> &'static str {
        self.transport
    }

    /// Returns the number of its session, counted from 1. A connection other than HTTP is one
    /// session. `None` for requests without a session, as over HTTP since 2026-07-28.
    pub fn session(&self) -> Option<u64> {
        self.session
    }

    /// Returns its HTTP headers.
    pub fn headers(&self) -> Option<&Headers> {
        self.headers.as_ref()
    }

    /// Returns the name and version that the client declares: in its handshake, or in this
    /// request since 2026-07-28.
    pub fn client_info(&self) -> Option<Implementation> {
        parse_implementation(self.raw_client_info()?)
    }

    /// Returns the capabilities that the client declares: in its handshake, or in this request
    /// since 2026-07-28.
    pub fn capabilities(&self) -> Option<Json<'_>> {
        match &self.client {
            Some(client) => Some(client.capabilities()),
            None => self.declaration(CAPABILITIES_KEY, "capabilities"),
        }
    }

    fn raw_client_info(&self) -> Option<Json<'_>> {
        match &self.client {
            Some(client) => client.info(),
            None => self.declaration(CLIENT_INFO_KEY, "clientInfo"),
        }
    }

    /// Returns a declaration in the request itself: in its metadata, or in the params of an
    /// `initialize` that was refused.
    fn declaration(&self, meta_key: &str, param: &str) -> Option<Json<'_>> {
        let params = self.frame.params()?;
        match self.method() {
            "initialize" => params.get(param),
            _ => params.get_path(&["_meta", meta_key]),
        }
    }

    /// Returns the result, if it got one.
    pub fn result(&self) -> Option<&RawJson> {
        match self.answer.get()? {
            RecordedAnswer::Result(result) => Some(result),
            _ => None,
        }
    }

    /// Returns the error, if it got one.
    pub fn error(&self) -> Option<&ErrorObject> {
        match self.answer.get()? {
            RecordedAnswer::Error(error) => Some(error),
            _ => None,
        }
    }

    /// Returns the entry as one line of JSON without secrets. Params and result are copied
    /// without parsing.
    pub fn to_line(&self) -> String {
        let mut line = JsonLine::new(1024 + self.size());
        line.push_text("at", &self.at.to_string());
        line.push_text("method", self.method());
        let params = self.frame.params();
        let name = params.and_then(|params| params.get("name").or_else(|| params.get("uri")));
        match name.and_then(Json::as_str) {
            Some(name) => line.push_text("name", &name),
            None => line.push_json("name", "null"),
        }
        line.push_json("params", &params.map_or("null".into(), Json::text));
        line.push_text("revision", self.revision.name());
        line.push_text("transport", self.transport);
        if let Some(session) = self.session {
            line.push_json("session", &session.to_string());
        }
        if let Some(info) = self.raw_client_info() {
            line.push_json("client_info", &info.text());
        }
        if let Some(capabilities) = self.capabilities() {
            line.push_json("capabilities", &capabilities.text());
        }
        if let Some(headers) = &self.headers {
            line.push_headers("headers", headers);
        }
        match self.answer.get() {
            Some(RecordedAnswer::Result(result)) => {
                line.push_json("result", &self.without_credentials(result.text()));
            }
            Some(RecordedAnswer::Error(error)) => {
                let error = serde_json::to_string(error).unwrap_or_default();
                line.push_json("error", &self.without_credentials(&error));
            }
            Some(RecordedAnswer::InputRequired) => line.push_json("input_required", "true"),
            None => line.push_json("unanswered", "true"),
        }
        line.finish()
    }

    /// Masks the credentials of the request in its answer, which may repeat them.
    fn without_credentials<'a>(&self, answer: &'a str) -> Cow<'a, str> {
        let headers = self.headers.iter().flat_map(Headers::iter);
        let is_repeated = |(name, value): &(&str, &str)| {
            let last_word = value.rsplit(' ').next().unwrap_or_default();
            is_secret_header(name) && !last_word.is_empty() && answer.contains(last_word)
        };
        let mut repeated = headers.filter(is_repeated).peekable();
        if repeated.peek().is_none() {
            return Cow::Borrowed(answer);
        }
        let secrets = Secrets::default();
        for (name, value) in repeated {
            secrets.add(value);
            secrets.add_header(name, value);
        }
        Cow::Owned(secrets.mask(answer).into_owned())
    }

    /// Returns the entry as JSON.
    pub fn to_json(&self) -> Value {
        parse_value(self.to_line().as_bytes()).unwrap_or_default()
    }

    pub(super) fn size(&self) -> usize {
        self.frame.bytes().len() + self.answer.get().map_or(0, RecordedAnswer::size)
    }
}
