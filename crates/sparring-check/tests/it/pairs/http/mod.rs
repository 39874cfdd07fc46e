//! Streamable HTTP and HTTP+SSE. One file for each topic.

pub(super) mod headers;
pub(super) mod legacy_sse;
pub(super) mod origin;
pub(super) mod sessions;
pub(super) mod streams;
pub(super) mod traffic;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::http::request::Parts;
use axum::response::Response;
use serde_json::{Value, json};
use sparring_wire::Revision;

use crate::support::{AlteredHttp, CORRECT};

const V2024_11_05: Revision = Revision::V2024_11_05;
const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

const SESSION_HEADER: &str = "mcp-session-id";

/// Returns a response with a JSON body.
fn json_response(status: u16, body: &Value) -> Response {
    let builder = Response::builder().status(status).header("content-type", "application/json");
    builder.body(Body::from(body.to_string())).unwrap()
}

fn empty_response(status: u16) -> Response {
    Response::builder().status(status).body(Body::empty()).unwrap()
}

fn header_mismatch(id: &Value) -> Response {
    let error = json!({"code": -32020, "message": "Header mismatch"});
    json_response(400, &json!({"jsonrpc": "2.0", "id": id, "error": error}))
}

/// Returns the message in the body of a request, or null.
fn message(body: &Bytes) -> Value {
    serde_json::from_slice(body).unwrap_or(Value::Null)
}

/// Returns true for the requests of the probes of HTTP, which no client sends.
fn is_single(body: &Bytes) -> bool {
    message(body)["id"].as_str().is_some_and(|id| id.starts_with("http-"))
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|it| it.to_str().ok()).unwrap_or_default()
}

fn is(parts: &Parts, method: &str) -> bool {
    parts.method.as_str() == method
}

fn set_status(response: &mut Response, status: u16) {
    *response.status_mut() = status.try_into().unwrap();
}

fn set_content_type(response: &mut Response, value: &'static str) {
    response.headers_mut().insert("content-type", value.parse().unwrap());
}

/// Serves only 2026-07-28.
fn modern_only(server: AlteredHttp) -> AlteredHttp {
    server.script(&format!("{CORRECT}\nprotocol: ['2026-07-28']\n"))
}

fn over_http_sse(server: AlteredHttp) -> AlteredHttp {
    server.http_sse()
}
