//! The issuer that stands beside a mock, if it has one: what of its listener goes there, and
//! what is controlled there.

use std::net::SocketAddr;

use http::header::HOST;
use http::{Method, Response, StatusCode};
use serde_json::json;
use sparring_script::Problems;
use sparring_transport::http::Visit;

use crate::control::{Told, done, said, with_body};
use crate::issuer::Issuer;
use crate::load::load_token;
use crate::server::MockServer;

/// Who gives the tokens that a mock accepts, if somebody does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Issuing(pub(crate) Option<Issuer>);

impl Issuing {
    pub(crate) fn reset(&self) {
        self.0.iter().for_each(Issuer::reset);
    }

    pub(crate) fn lives_at(&self, address: SocketAddr) {
        self.0.iter().for_each(|issuer| issuer.lives_at(address));
    }

    /// Whether that path is the issuer's.
    pub(crate) fn serves(&self, path: &str) -> bool {
        self.0.as_ref().is_some_and(|issuer| issuer.serves(path))
    }

    pub(crate) fn visited(&self, visit: Visit<'_>) -> Response<bytes::Bytes> {
        self.0.as_ref().expect("only who serves a path is visited there").visited(visit)
    }

    /// What is answered below `/_spar/oauth`.
    pub(crate) fn told(&self, what: &str, visit: &Visit<'_>) -> Told {
        match &self.0 {
            Some(issuer) => of_issuer(issuer, visit.method, what, visit),
            None => said(StatusCode::NOT_FOUND, "the script has no `auth: {oauth: …}`"),
        }
    }
}

impl MockServer {
    /// Who gives the tokens that it accepts over HTTP, if the script has
    /// `auth: {oauth: …}`.
    pub fn issuer(&self) -> Option<&Issuer> {
        self.server().handler().at_first.issuing.0.as_ref()
    }
}

/// What came to the issuer, and what is to be otherwise with it.
fn of_issuer(issuer: &Issuer, method: &Method, what: &str, visit: &Visit<'_>) -> Told {
    let wrong = |problems: Problems| said(StatusCode::BAD_REQUEST, &problems.to_string());
    match (method, what) {
        (&Method::GET, "") => (StatusCode::OK, issuer.journal()),
        (&Method::POST, "") => with_body(visit, |body| match issuer.change(body.clone()) {
            Ok(()) => done(),
            Err(problems) => wrong(problems),
        }),
        (&Method::POST, "expire") => {
            issuer.expire_all();
            done()
        }
        (&Method::POST, "token") => with_body(visit, |body| match load_token(body) {
            Ok(token) => {
                let host = visit.headers.get(HOST).and_then(|host| host.to_str().ok());
                (StatusCode::OK, json!({"access_token": issuer.token_at(token, host)}))
            }
            Err(problems) => wrong(problems),
        }),
        _ => said(
            StatusCode::NOT_FOUND,
            "there are GET and POST oauth, POST oauth/token and oauth/expire",
        ),
    }
}
