//! A mock over HTTP beside the protocol: `/health`, the issuer of its tokens if
//! it has one, and below `/_spar/` what came in, and what can be changed while it
//! serves.

use std::sync::Arc;

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use http::{Method, Response, StatusCode};
use serde_json::{Value, json};
use sparring_peer::Server;
use sparring_peer::server::WeakServer;
use sparring_transport::http::{Beside, Visit};
use sparring_wire::RawJson;
use sparring_wire::json::tree;
use subtle::ConstantTimeEq as _;

use crate::issuing::Issuing;
use crate::serve::{ChangeError, Giver, Mock};

const HEALTH: &str = "/health";
const ROOT: &str = "/_spar/";

/// What stands beside the protocol.
#[derive(Debug)]
pub(crate) struct Control(WeakServer<Mock>);

/// What is answered: a status and a value.
pub(crate) type Told = (StatusCode, Value);

impl Control {
    pub(crate) fn of(server: &Server<Mock>) -> Arc<dyn Beside> {
        Arc::new(Control(server.downgrade()))
    }

    /// What the issuer is, if the mock is still there.
    fn issuing(&self) -> Option<Issuing> {
        Some(self.0.upgrade()?.handler().at_first.issuing.clone())
    }
}

impl Beside for Control {
    fn serves(&self, path: &str) -> bool {
        path == HEALTH || path.starts_with(ROOT) || self.issuing().is_some_and(|it| it.serves(path))
    }

    fn answer(&self, visit: Visit<'_>) -> Response<bytes::Bytes> {
        if let Some(issuing) = self.issuing().filter(|it| it.serves(visit.path)) {
            return issuing.visited(visit);
        }
        let (status, value) = match self.0.upgrade() {
            Some(server) => told(server.handler(), &visit),
            None => said(StatusCode::SERVICE_UNAVAILABLE, "the mock is gone"),
        };
        let mut response = Response::new(format!("{value}\n").into());
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

fn told(mock: &Mock, visit: &Visit<'_>) -> Told {
    let Some(what) = visit.path.strip_prefix(ROOT) else {
        let info = &mock.scene().model.info;
        return (
            StatusCode::OK,
            json!({"status": "ok", "name": info.name, "version": info.version}),
        );
    };
    if let Err(refused) = admit(mock, visit) {
        return refused;
    }
    match (visit.method, what.split_once('/').unwrap_or((what, ""))) {
        (&Method::GET, ("journal", "")) => {
            let all: Vec<Value> = mock.journal.all().iter().map(|it| it.to_json()).collect();
            (StatusCode::OK, json!({"received": all, "forgotten": mock.journal.dropped()}))
        }
        (&Method::POST, ("reset", "")) => {
            mock.reset();
            done()
        }
        (&Method::POST, ("enqueue", "")) => with_body(visit, |body| {
            let tool = body.get("tool").and_then(Value::as_str).unwrap_or_default();
            let reply = body.get("reply").unwrap_or(&Value::Null);
            changed(mock.enqueue(tool, reply, Giver::Visitor))
        }),
        (&Method::POST, ("tools", "")) => {
            with_body(visit, |body| changed(mock.register(body, Giver::Visitor)))
        }
        (&Method::DELETE, ("tools", name)) if !name.is_empty() => {
            let name = percent_encoding::percent_decode_str(name).decode_utf8_lossy();
            changed(mock.remove(&name))
        }
        (&Method::POST, ("notify", "")) => with_body(visit, |body| {
            let Some(method) = body.get("method").and_then(Value::as_str) else {
                return said(StatusCode::BAD_REQUEST, "`method` is missing");
            };
            let method = match method.strip_prefix("notifications/") {
                Some(_) => method.to_owned(),
                None => format!("notifications/{method}"),
            };
            mock.tell(&method, body.get("params").map(RawJson::from));
            done()
        }),
        (_, ("oauth", what)) => mock.at_first.issuing.told(what, visit),
        _ => said(
            StatusCode::NOT_FOUND,
            "there are GET journal, POST reset, enqueue, tools, notify, DELETE tools/NAME, \
             and GET and POST oauth, POST oauth/token and oauth/expire",
        ),
    }
}

/// Whether somebody may do this.
fn admit(mock: &Mock, visit: &Visit<'_>) -> Result<(), Told> {
    let scene = mock.scene();
    let control = &scene.model.over_http.control;
    if !visit.is_local && !control.anywhere {
        return Err(said(StatusCode::FORBIDDEN, "only this machine may; `control` says otherwise"));
    }
    let Some(token) = &control.token else { return Ok(()) };
    let given = visit.headers.get(AUTHORIZATION).map(HeaderValue::as_bytes).unwrap_or_default();
    match format!("Bearer {token}").as_bytes().ct_eq(given).into() {
        true => Ok(()),
        false => Err(said(StatusCode::UNAUTHORIZED, "the token is missing or wrong")),
    }
}

pub(crate) fn with_body(visit: &Visit<'_>, work: impl FnOnce(&Value) -> Told) -> Told {
    match tree(&visit.body) {
        Ok(body) => work(&body),
        Err(error) => said(StatusCode::BAD_REQUEST, &format!("the body is no JSON: {error}")),
    }
}

fn changed(outcome: Result<(), ChangeError>) -> Told {
    match outcome {
        Ok(()) => done(),
        Err(error @ ChangeError::NoTool(_)) => said(StatusCode::NOT_FOUND, &error.to_string()),
        Err(error) => said(StatusCode::BAD_REQUEST, &error.to_string()),
    }
}

pub(crate) fn done() -> Told {
    (StatusCode::OK, json!({"done": true}))
}

pub(crate) fn said(status: StatusCode, error: &str) -> Told {
    (status, json!({"error": error}))
}
