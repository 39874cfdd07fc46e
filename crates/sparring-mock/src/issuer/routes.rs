//! From a request to whoever answers it, on a listener of its own or on that of
//! a mock.

use http::{Response, StatusCode};
use serde_json::{Map, Value, json};
use sparring_transport::http::Visit;
use sparring_wire::Headers;
use sparring_wire::json::tree;

use super::core::Core;
use super::form::{Form, LONGEST};
use super::metadata::Place;
use crate::http_mock::{Answer, HttpReply, HttpRequest};

/// What is not shown of what was said.
const SECRETS: [&str; 6] =
    ["client_secret", "client_assertion", "code", "code_verifier", "refresh_token", "token"];

impl Answer for Core {
    fn answer(&self, mut request: HttpRequest) -> HttpReply {
        let origin = self.origin(&request);
        let query = request.query.as_ref().map_or(0, String::len);
        let reply = match self.place(&request.path) {
            _ if request.body.len() > LONGEST || query > LONGEST => {
                request.body.clear();
                request.query = None;
                HttpReply::new(413).body(format!("more than {LONGEST} bytes"))
            }
            Some(place) => self.at(place, &request, &origin),
            None => HttpReply::new(404).body(format!("there is nothing at {}", request.path)),
        };
        self.requests.keep(request);
        // Pages may ask as well; what is here is for tests.
        reply.header("access-control-allow-origin", "*")
    }
}

impl Core {
    fn at(&self, place: Place, request: &HttpRequest, origin: &str) -> HttpReply {
        let methods = place.methods();
        match request.method.as_str() {
            "OPTIONS" => HttpReply::new(204)
                .header("allow", methods)
                .header("access-control-allow-methods", methods)
                .header(
                    "access-control-allow-headers",
                    "authorization, content-type, mcp-protocol-version",
                ),
            method if !methods.split(", ").any(|allowed| allowed == method) => {
                HttpReply::new(405).header("allow", methods).body(format!("only {methods}"))
            }
            _ => match place {
                Place::Metadata => HttpReply::json(&self.metadata(origin)),
                Place::Keys => HttpReply::json(&self.keys()),
                Place::Authorize => self.authorize(request, origin),
                Place::Token => self.token(request, origin),
                Place::Register => self.register(request),
                Place::Introspect => self.introspect(request, origin),
                Place::Revoke => self.revoke(request, origin),
            },
        }
    }

    /// Answers somebody on the listener of a mock. There nothing is late, and no
    /// connection ends.
    pub(super) fn visited(&self, visit: Visit<'_>) -> Response<bytes::Bytes> {
        let headers = visit.headers.iter();
        let headers: Headers = headers
            .filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
            .collect();
        let reply = self.answer(HttpRequest {
            method: visit.method.as_str().to_owned(),
            path: visit.path.to_owned(),
            query: visit.query.map(str::to_owned),
            headers,
            body: visit.body,
        });
        reply.response().map(|response| response.map(Into::into)).unwrap_or_else(|_| {
            let mut response = Response::new(bytes::Bytes::new());
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
            response
        })
    }

    /// What came, with secrets hidden.
    pub(super) fn journal(&self) -> Value {
        let shown = |request: HttpRequest| {
            let form = match request.body.is_empty() {
                true => Ok(Form::of_query(&request)),
                false => Form::of_body(&request),
            };
            let mut params = Map::new();
            for (name, value) in form.iter().flat_map(Form::pairs) {
                let value = if SECRETS.contains(&name) { "(hidden)" } else { value };
                let all = params.entry(name).or_insert_with(|| json!([]));
                if let Value::Array(all) = all {
                    all.push(value.into());
                }
            }
            for value in params.values_mut() {
                if let Value::Array(all) = value
                    && all.len() == 1
                {
                    *value = all.remove(0);
                }
            }
            let mut told =
                json!({"method": request.method, "path": request.path, "params": params});
            let scheme = request.headers.get("authorization").and_then(|it| it.split_once(' '));
            if let Some((scheme, _)) = scheme {
                told["authorization"] = format!("{scheme} (hidden)").into();
            }
            let body = form.is_err().then(|| tree(&request.body).ok());
            if let Some(body) = body.flatten() {
                told["body"] = body;
            }
            told
        };
        let all: Vec<Value> = self.requests.all().into_iter().map(shown).collect();
        json!({"received": all, "forgotten": self.requests.dropped()})
    }
}

impl Place {
    fn methods(self) -> &'static str {
        match self {
            Place::Metadata | Place::Keys => "GET, HEAD, OPTIONS",
            Place::Authorize => "GET, POST, OPTIONS",
            _ => "POST, OPTIONS",
        }
    }
}
