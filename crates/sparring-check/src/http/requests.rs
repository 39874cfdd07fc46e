//! The HTTP requests of a correct client, in both eras, for probes that change one thing.

use serde_json::{Value, json};
use sparring_transport::http::RawRequest;
use sparring_wire::Revision;
use sparring_wire::json::parse_value;
use sparring_wire::mirrored_headers::{
    METHOD_HEADER, NAME_HEADER, PROTOCOL_VERSION_HEADER, encode_value,
};

use super::exchange::Exchange;
use crate::context::Stopped;

const ACCEPT_ANY: &str = "application/json, text/event-stream";
const SESSION_HEADER: &str = "mcp-session-id";

/// A session over Streamable HTTP, up to 2025-11-25.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    /// The id, if the server has assigned one.
    pub(crate) id: Option<String>,
    revision: Revision,
}

/// Changes of a request that return it.
pub(crate) trait RequestExt: Sized {
    /// Sets a header; an empty value removes it.
    fn with(self, name: &str, value: impl AsRef<[u8]>) -> Self;
    /// Removes a header.
    fn without(self, name: &str) -> Self;
    /// Sends the request to another path or URL.
    fn to(self, reference: &str) -> Self;
}

impl RequestExt for RawRequest {
    fn with(mut self, name: &str, value: impl AsRef<[u8]>) -> Self {
        self.headers.retain(|(it, _)| !it.eq_ignore_ascii_case(name));
        self.headers.push((name.to_ascii_lowercase(), value.as_ref().to_vec()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(it, _)| !it.eq_ignore_ascii_case(name));
        self
    }

    fn to(mut self, reference: &str) -> Self {
        self.reference = Some(reference.to_owned());
        self
    }
}

/// Returns a POST request with a JSON body and the headers that every one has.
pub(crate) fn post(body: impl AsRef<[u8]>) -> RawRequest {
    RawRequest::new("POST", body.as_ref().to_vec())
        .with("accept", ACCEPT_ANY)
        .with("content-type", "application/json")
}

/// Returns the id of the request in a body.
pub(super) fn id_in(body: &[u8]) -> Option<Value> {
    let value = parse_value(body).ok()?;
    value.get("method")?;
    value.get("id").filter(|id| !id.is_null()).cloned()
}

/// Returns the request that opens a session.
pub(crate) fn initialize(revision: Revision) -> RawRequest {
    let params = json!({
        "protocolVersion": revision.name(),
        "capabilities": {"roots": {"listChanged": true}, "sampling": {}, "elicitation": {}},
        "clientInfo": {"name": "sparring", "version": env!("CARGO_PKG_VERSION")},
    });
    post(request(json!("initialize"), "initialize", Some(params)).to_string())
}

/// Returns the notification after the response to `initialize`.
pub(crate) fn initialized() -> Value {
    json!({"jsonrpc": "2.0", "method": "notifications/initialized"})
}

/// Returns a request.
pub(crate) fn request(id: Value, method: &str, params: Option<Value>) -> Value {
    let mut request = json!({"jsonrpc": "2.0", "id": id, "method": method});
    if let Some(params) = params {
        request["params"] = params;
    }
    request
}

impl Session {
    /// Reads the response to `initialize`.
    pub(super) fn from_initialize(revision: Revision, opening: &Exchange) -> Result<Self, Stopped> {
        let response = opening.response_to(&json!("initialize"));
        let agreed = response.as_ref().map(|it| &it["result"]["protocolVersion"]);
        if !opening.is_success() || agreed.is_none_or(|it| *it != revision.name()) {
            return Err(Stopped(opening.describe()));
        }
        let id = opening.header(SESSION_HEADER).filter(|it| !it.is_empty()).map(str::to_owned);
        Ok(Session { id, revision })
    }

    /// Returns a POST request of this session.
    pub(crate) fn post(&self, body: &Value) -> RawRequest {
        self.post_text(body.to_string())
    }

    /// Returns a POST request of this session with any body.
    pub(crate) fn post_text(&self, body: impl AsRef<[u8]>) -> RawRequest {
        self.with_headers(post(body))
    }

    /// Returns a GET request for the events of this session.
    pub(crate) fn get(&self) -> RawRequest {
        self.with_headers(RawRequest::new("GET", "").with("accept", "text/event-stream"))
    }

    /// Returns a request that ends this session.
    pub(crate) fn delete(&self) -> RawRequest {
        self.with_headers(RawRequest::new("DELETE", "").with("accept", ACCEPT_ANY))
    }

    fn with_headers(&self, request: RawRequest) -> RawRequest {
        let request = match &self.id {
            Some(id) => request.with(SESSION_HEADER, id),
            None => request,
        };
        match self.revision >= Revision::V2025_06_18 {
            true => request.with(PROTOCOL_VERSION_HEADER, self.revision.name()),
            false => request,
        }
    }
}

/// Returns the parameters of a request without a session, with the fields that it must have.
pub(crate) fn with_metadata(params: Value, revision: Revision) -> Value {
    let mut params = if params.is_object() { params } else { json!({}) };
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": revision.name(),
        "io.modelcontextprotocol/clientInfo":
            {"name": "sparring", "version": env!("CARGO_PKG_VERSION")},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

/// Returns a POST request without a session, with the headers that mirror its body.
pub(crate) fn modern(revision: Revision, id: Value, method: &str, params: Value) -> RawRequest {
    modern_body(request(id, method, Some(with_metadata(params, revision))))
}

/// Returns a POST request for a body, with the headers that mirror it.
pub(crate) fn modern_body(body: Value) -> RawRequest {
    let method = body["method"].as_str().unwrap_or_default();
    let version = &body["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"];
    let mut sent = post(body.to_string())
        .with(PROTOCOL_VERSION_HEADER, version.as_str().unwrap_or(Revision::LATEST.name()))
        .with(METHOD_HEADER, method);
    let name = match method {
        "resources/read" => &body["params"]["uri"],
        "tools/call" | "prompts/get" => &body["params"]["name"],
        _ => &Value::Null,
    };
    if let Some(name) = name.as_str() {
        sent = sent.with(NAME_HEADER, encode_value(name).as_bytes());
    }
    sent
}
