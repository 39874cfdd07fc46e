//! HTTP endpoints of a mock beside MCP: `/health`, the token issuer, and `/_spar/` with the
//! journal and changes at run time.

use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};
use sparring_peer::Server;
use sparring_peer::server::WeakServer;
use sparring_transport::Secret;
use sparring_transport::http::{ExtraRequest, ExtraRoutes};
use sparring_wire::RawJson;
use sparring_wire::json::parse_value;

use crate::mock_issuer::MockIssuer;
use crate::serve::{ChangeError, ChangeSource, MockHandler};

const HEALTH_PATH: &str = "/health";
const CONTROL_PREFIX: &str = "/_spar/";

/// The HTTP endpoints of a mock beside MCP.
#[derive(Debug)]
pub(crate) struct ControlEndpoints(WeakServer<MockHandler>);

/// Status and JSON body of a response.
pub(crate) type ControlResponse = (StatusCode, Value);

impl ControlEndpoints {
    pub(crate) fn for_server(server: &Server<MockHandler>) -> Arc<dyn ExtraRoutes> {
        Arc::new(ControlEndpoints(server.downgrade()))
    }

    /// Returns the issuer, if the mock still exists.
    fn issuer(&self) -> Option<MockIssuer> {
        Some(self.0.upgrade()?.handler().initial_http.issuer.clone())
    }
}

impl ExtraRoutes for ControlEndpoints {
    fn matches(&self, path: &str) -> bool {
        path == HEALTH_PATH
            || path.starts_with(CONTROL_PREFIX)
            || self.issuer().is_some_and(|it| it.serves(path))
    }

    /// The control endpoints need `control.token` or, without one, what MCP needs.
    fn needs_authorization(&self, path: &str) -> bool {
        path.starts_with(CONTROL_PREFIX)
            && !self.issuer().is_some_and(|it| it.serves(path))
            && self
                .0
                .upgrade()
                .is_none_or(|server| server.handler().script().model.http.control.token.is_none())
    }

    fn answer(&self, visit: ExtraRequest<'_>) -> Response<bytes::Bytes> {
        if let Some(issuer) = self.issuer().filter(|it| it.serves(visit.path)) {
            return issuer.answer(visit);
        }
        let (status, value) = match self.0.upgrade() {
            Some(server) => route(server.handler(), &visit),
            None => error_response(StatusCode::SERVICE_UNAVAILABLE, "the mock has stopped"),
        };
        let mut response = Response::new(format!("{value}\n").into());
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

fn route(mock: &MockHandler, visit: &ExtraRequest<'_>) -> ControlResponse {
    let Some(path) = visit.path.strip_prefix(CONTROL_PREFIX) else {
        let info = &mock.script().model.info;
        return (
            StatusCode::OK,
            json!({"status": "ok", "name": info.name, "version": info.version}),
        );
    };
    if let Err(refused) = check_access(mock, visit) {
        return refused;
    }
    match (visit.method, path.split_once('/').unwrap_or((path, ""))) {
        (&Method::GET, ("journal", "")) => {
            let all: Vec<Value> = mock.journal.all().iter().map(|it| it.to_json()).collect();
            (StatusCode::OK, json!({"received": all, "forgotten": mock.journal.dropped()}))
        }
        (&Method::POST, ("reset", "")) => {
            mock.reset();
            done_response()
        }
        (&Method::POST, ("enqueue", "")) => with_json_body(visit, |body| {
            let tool = body.get("tool").and_then(Value::as_str).unwrap_or_default();
            let reply = body.get("reply").unwrap_or(&Value::Null);
            change_response(mock.enqueue(tool, reply, ChangeSource::HttpClient))
        }),
        (&Method::POST, ("tools", "")) => with_json_body(visit, |body| {
            change_response(mock.register(body, ChangeSource::HttpClient))
        }),
        (&Method::DELETE, ("tools", name)) if !name.is_empty() => {
            let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
            change_response(mock.remove(&name))
        }
        (&Method::POST, ("notify", "")) => with_json_body(visit, |body| {
            let Some(method) = body.get("method").and_then(Value::as_str) else {
                return error_response(StatusCode::BAD_REQUEST, "missing key `method`");
            };
            let method = match method.strip_prefix("notifications/") {
                Some(_) => method.to_owned(),
                None => format!("notifications/{method}"),
            };
            mock.notify(&method, body.get("params").map(RawJson::from));
            done_response()
        }),
        (_, ("oauth", path)) => mock.initial_http.issuer.control(path, visit),
        _ => error_response(
            StatusCode::NOT_FOUND,
            "available: GET journal, POST reset, enqueue, tools, notify, DELETE tools/NAME, \
             GET and POST oauth, POST oauth/token and oauth/expire",
        ),
    }
}

/// Checks that the client may use the control endpoints. The HTTP server has checked the
/// credentials, if the script has no `control.token`.
fn check_access(mock: &MockHandler, visit: &ExtraRequest<'_>) -> Result<(), ControlResponse> {
    let script = mock.script();
    let control = &script.model.http.control;
    if !visit.is_local && !control.anywhere {
        return Err(error_response(
            StatusCode::FORBIDDEN,
            "only this machine may use it (set `control.anywhere` to allow others)",
        ));
    }
    let Some(token) = &control.token else { return Ok(()) };
    let given = visit.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    match Secret::from(format!("Bearer {}", token.reveal())).matches(given) {
        true => Ok(()),
        false => Err(error_response(StatusCode::UNAUTHORIZED, "missing or wrong token")),
    }
}

pub(crate) fn with_json_body(
    visit: &ExtraRequest<'_>,
    work: impl FnOnce(&Value) -> ControlResponse,
) -> ControlResponse {
    match parse_value(&visit.body) {
        Ok(body) => work(&body),
        Err(error) => {
            error_response(StatusCode::BAD_REQUEST, &format!("the body is not JSON: {error}"))
        }
    }
}

fn change_response(outcome: Result<(), ChangeError>) -> ControlResponse {
    match outcome {
        Ok(()) => done_response(),
        Err(error @ ChangeError::UnknownTool(_)) => {
            error_response(StatusCode::NOT_FOUND, &error.to_string())
        }
        Err(error) => error_response(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

pub(crate) fn done_response() -> ControlResponse {
    (StatusCode::OK, json!({"done": true}))
}

pub(crate) fn error_response(status: StatusCode, error: &str) -> ControlResponse {
    (status, json!({"error": error}))
}
