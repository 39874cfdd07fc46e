//! Routes requests to the endpoints, on its own listener or on that of a mock.

use http::{Response, StatusCode};
use serde_json::{Map, Value, json};
use sparring_transport::http::ExtraRequest;
use sparring_wire::Headers;
use sparring_wire::json::parse_value;

use super::authorization_server::AuthorizationServer;
use super::form::{Form, MAX_REQUEST_BYTES};
use super::metadata::Endpoint;
use crate::http_mock::{HttpReply, HttpRequest, HttpResponder};

/// Parameters that the journal hides.
const SECRET_PARAMS: [&str; 6] =
    ["client_secret", "client_assertion", "code", "code_verifier", "refresh_token", "token"];

impl HttpResponder for AuthorizationServer {
    fn answer(&self, mut request: HttpRequest) -> HttpReply {
        let origin = self.request_origin(&request);
        let query = request.query.as_ref().map_or(0, String::len);
        let reply = match self.endpoint_at(&request.path) {
            _ if request.body.len() > MAX_REQUEST_BYTES || query > MAX_REQUEST_BYTES => {
                request.body.clear();
                request.query = None;
                HttpReply::new(413).body(format!("request has more than {MAX_REQUEST_BYTES} bytes"))
            }
            Some(endpoint) => self.serve_endpoint(endpoint, &request, &origin),
            None => HttpReply::new(404).body(format!("no endpoint at {}", request.path)),
        };
        self.requests.push(request);
        // Web pages may use a test issuer as well.
        reply.header("access-control-allow-origin", "*")
    }
}

impl AuthorizationServer {
    fn serve_endpoint(&self, endpoint: Endpoint, request: &HttpRequest, origin: &str) -> HttpReply {
        let methods = endpoint.methods();
        match request.method.as_str() {
            "OPTIONS" => HttpReply::new(204)
                .header("allow", methods)
                .header("access-control-allow-methods", methods)
                .header(
                    "access-control-allow-headers",
                    "authorization, content-type, mcp-protocol-version",
                ),
            method if !methods.split(", ").any(|allowed| allowed == method) => HttpReply::new(405)
                .header("allow", methods)
                .body(format!("allowed methods: {methods}")),
            _ => match endpoint {
                Endpoint::Metadata => HttpReply::json(&self.metadata(origin)),
                Endpoint::Keys => HttpReply::json(&self.jwks()),
                Endpoint::Authorize => self.authorize(request, origin),
                Endpoint::Token => self.answer_token_request(request, origin),
                Endpoint::Register => self.register(request),
                Endpoint::Introspect => self.introspect(request, origin),
                Endpoint::Revoke => self.revoke(request, origin),
            },
        }
    }

    /// Answers a request on the listener of a mock. Delays and faults of queued replies have no
    /// effect there.
    pub(super) fn answer_visit(&self, visit: ExtraRequest<'_>) -> Response<bytes::Bytes> {
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

    /// Returns the requests that were not taken, without secrets.
    pub(super) fn journal(&self) -> Value {
        let to_entry = |request: HttpRequest| {
            let form = match request.body.is_empty() {
                true => Ok(Form::from_query(&request)),
                false => Form::from_body(&request),
            };
            let mut params = Map::new();
            for (name, value) in form.iter().flat_map(Form::pairs) {
                let value = if SECRET_PARAMS.contains(&name) { "(hidden)" } else { value };
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
            let mut entry =
                json!({"method": request.method, "path": request.path, "params": params});
            let scheme = request.headers.get("authorization").and_then(|it| it.split_once(' '));
            if let Some((scheme, _)) = scheme {
                entry["authorization"] = format!("{scheme} (hidden)").into();
            }
            let body = form.is_err().then(|| parse_value(&request.body).ok());
            if let Some(body) = body.flatten() {
                entry["body"] = body;
            }
            entry
        };
        let all: Vec<Value> = self.requests.all().into_iter().map(to_entry).collect();
        json!({"received": all, "forgotten": self.requests.dropped()})
    }
}

impl Endpoint {
    fn methods(self) -> &'static str {
        match self {
            Endpoint::Metadata | Endpoint::Keys => "GET, HEAD, OPTIONS",
            Endpoint::Authorize => "GET, POST, OPTIONS",
            _ => "POST, OPTIONS",
        }
    }
}
