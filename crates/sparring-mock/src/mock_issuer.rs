//! The token issuer on the listener of a mock, and its control endpoints.

use std::net::SocketAddr;

use http::header::HOST;
use http::{Method, Response, StatusCode};
use serde_json::json;
use sparring_script::Problems;
use sparring_transport::http::ExtraRequest;

use crate::control::{ControlResponse, done_response, error_response, with_json_body};
use crate::issuer::Issuer;
use crate::load::load_token;
use crate::server::MockServer;

/// The token issuer of a mock, if it has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct MockIssuer(pub(crate) Option<Issuer>);

impl MockIssuer {
    pub(crate) fn reset(&self) {
        self.0.iter().for_each(Issuer::reset);
    }

    pub(crate) fn set_address(&self, address: SocketAddr) {
        self.0.iter().for_each(|issuer| issuer.set_address(address));
    }

    /// Returns true if the issuer serves a path.
    pub(crate) fn serves(&self, path: &str) -> bool {
        self.0.as_ref().is_some_and(|issuer| issuer.serves(path))
    }

    pub(crate) fn answer(&self, visit: ExtraRequest<'_>) -> Response<bytes::Bytes> {
        self.0.as_ref().expect("only an existing issuer serves paths").answer(visit)
    }

    /// Answers requests below `/_spar/oauth`.
    pub(crate) fn control(&self, path: &str, visit: &ExtraRequest<'_>) -> ControlResponse {
        match &self.0 {
            Some(issuer) => route_control(issuer, visit.method, path, visit),
            None => error_response(StatusCode::NOT_FOUND, "the script has no `auth: {oauth: …}`"),
        }
    }
}

impl MockServer {
    /// Returns its token issuer, if the script has `auth: {oauth: …}`.
    pub fn issuer(&self) -> Option<&Issuer> {
        self.server().handler().initial_http.issuer.0.as_ref()
    }
}

/// Routes control requests of the issuer: its journal, changes and new tokens.
fn route_control(
    issuer: &Issuer,
    method: &Method,
    path: &str,
    visit: &ExtraRequest<'_>,
) -> ControlResponse {
    let wrong = |problems: Problems| error_response(StatusCode::BAD_REQUEST, &problems.to_string());
    match (method, path) {
        (&Method::GET, "") => (StatusCode::OK, issuer.journal()),
        (&Method::POST, "") => with_json_body(visit, |body| match issuer.change(body.clone()) {
            Ok(()) => done_response(),
            Err(problems) => wrong(problems),
        }),
        (&Method::POST, "expire") => {
            issuer.expire_all();
            done_response()
        }
        (&Method::POST, "token") => with_json_body(visit, |body| match load_token(body) {
            Ok(token) => {
                let host = visit.headers.get(HOST).and_then(|host| host.to_str().ok());
                (StatusCode::OK, json!({"access_token": issuer.token_for_host(token, host)}))
            }
            Err(problems) => wrong(problems),
        }),
        _ => error_response(
            StatusCode::NOT_FOUND,
            "available: GET and POST oauth, POST oauth/token and oauth/expire",
        ),
    }
}
