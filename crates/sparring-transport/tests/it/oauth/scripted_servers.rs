//! An MCP server that requires tokens and its authorization server, on one port and with
//! scripted behaviour.
//!
//! All secrets here contain `hunter`.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Map, Value, json};
use sparring_peer::server::{Context, HandlerResult};
use sparring_peer::{Handler, Server};
use sparring_transport::http::{HttpOptions, HttpServer};
use sparring_wire::Json;
use sparring_wire::types::{CallToolResult, Implementation, ServerCapabilities, Tool};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The behaviour of the servers (default: valid).
#[derive(Clone)]
pub(crate) struct Behavior {
    /// True if the challenge names the metadata URL.
    pub(crate) challenge_has_metadata_url: bool,
    /// The resource metadata; `None` is a 404.
    pub(crate) resource: Option<Value>,
    /// The scope in the challenge for a request without a token.
    pub(crate) scope: Option<&'static str>,
    /// The additional scope that tool calls need.
    pub(crate) tool_scope: Option<&'static str>,
    /// The issuer: a path at the same origin.
    pub(crate) issuer: &'static str,
    /// Changes to its metadata; null removes a field.
    pub(crate) metadata: Value,
    /// True if it publishes metadata.
    pub(crate) publishes_metadata: bool,
    /// Additional fields in the registration response.
    pub(crate) registration_fields: Value,
    /// Changes to the redirect's query; null removes a parameter.
    pub(crate) redirect_query: Value,
    /// Errors of the token endpoint, each returned once. The description `ECHO` becomes the
    /// received request.
    pub(crate) refusals: Vec<(u16, Value)>,
    /// The lifetime of a token.
    pub(crate) token_lifetime: u64,
    /// True if tokens can be refreshed.
    pub(crate) issues_refresh_tokens: bool,
    /// The granted scopes, instead of the requested ones.
    pub(crate) granted_scope: Option<&'static str>,
    /// True if the server rejects every token.
    pub(crate) rejects_every_token: bool,
    /// True if the server needs no token.
    pub(crate) needs_no_token: bool,
    /// A word in a request, or a method, that is always rejected.
    pub(crate) always_rejected: Option<&'static str>,
    /// True if each tool call needs a new scope.
    pub(crate) needs_new_scope_per_call: bool,
    /// Other responses, by the end of the path.
    pub(crate) replacements: Vec<(&'static str, Replacement)>,
    /// The number of seconds that the servers' clock is ahead.
    pub(crate) clock_offset_seconds: i64,
}

impl Default for Behavior {
    fn default() -> Self {
        Behavior {
            challenge_has_metadata_url: true,
            resource: Some(json!({})),
            scope: None,
            tool_scope: None,
            issuer: "/as",
            metadata: json!({}),
            publishes_metadata: true,
            registration_fields: json!({}),
            redirect_query: json!({}),
            refusals: Vec::new(),
            token_lifetime: 3600,
            issues_refresh_tokens: true,
            granted_scope: None,
            rejects_every_token: false,
            needs_no_token: false,
            always_rejected: None,
            needs_new_scope_per_call: false,
            replacements: Vec::new(),
            clock_offset_seconds: 0,
        }
    }
}

/// A response that replaces the usual one.
#[derive(Clone)]
pub(crate) enum Replacement {
    /// Never answers.
    Silence,
    /// A status, a header and a body.
    Response(u16, (&'static str, String), String),
}

impl Replacement {
    pub(crate) fn json(status: u16, body: impl Into<String>) -> Replacement {
        Replacement::Response(status, ("content-type", "application/json".to_owned()), body.into())
    }
}

/// A recorded event: its name and its parameters.
pub(crate) type RecordedEvent = (&'static str, BTreeMap<String, String>);

#[derive(Default)]
struct RecordedState {
    events: Vec<RecordedEvent>,
    /// Scope and issuer, by token.
    tokens: BTreeMap<String, (String, String)>,
    /// The valid refresh tokens and their scopes.
    renewals: BTreeMap<String, String>,
    /// Challenge, redirect and scope, by code.
    codes: BTreeMap<String, (String, String, String)>,
    clients: usize,
    given: usize,
}

/// The state that all handlers share.
struct Inner {
    origin: String,
    behavior: Mutex<Behavior>,
    recorded: Mutex<RecordedState>,
    server: HttpServer<ExampleHandler>,
}

/// The servers on their own port.
pub(crate) struct ScriptedServers {
    inner: Arc<Inner>,
    task: JoinHandle<()>,
}

struct ExampleHandler;

impl Handler for ExampleHandler {
    fn info(&self) -> Implementation {
        Implementation::new("desk", "1.0.0")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> HandlerResult {
        Ok(vec![Tool::new("echo")].into())
    }

    async fn call_tool(&self, _: &str, arguments: Json<'_>, _: &Context) -> HandlerResult {
        let message = arguments.get("message").and_then(Json::as_str).unwrap_or_default();
        Ok(CallToolResult::text(message.into_owned()).into())
    }
}

impl ScriptedServers {
    pub(crate) async fn new(behavior: Behavior) -> ScriptedServers {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let server = HttpServer::new(Server::new(ExampleHandler), HttpOptions::default());
        let (behavior, recorded) = (Mutex::new(behavior), Mutex::default());
        let inner = Arc::new(Inner { origin, behavior, recorded, server });
        let router = Router::new()
            .route("/.well-known/oauth-protected-resource", get(no_resource))
            .route("/.well-known/oauth-protected-resource/mcp", get(resource))
            .route("/.well-known/{kind}/{*issuer}", get(metadata))
            .route("/.well-known/{kind}", get(metadata))
            .route("/{issuer}/authorize", get(authorize))
            .route("/authorize", get(authorize))
            .route("/{issuer}/token", post(token))
            .route("/token", post(token))
            .route("/{issuer}/register", post(register))
            .route("/register", post(register))
            .fallback(any(mcp))
            .layer(middleware::from_fn_with_state(Arc::clone(&inner), only_the_issuer))
            .with_state(Arc::clone(&inner));
        let task = tokio::spawn(async move {
            axum::serve(listener, router).await.expect("it serves");
        });
        ScriptedServers { inner, task }
    }

    /// Returns the URL of the MCP server.
    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.inner.origin)
    }

    pub(crate) fn origin(&self) -> &str {
        &self.inner.origin
    }

    /// Changes the behaviour.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Behavior)) {
        change(&mut self.inner.behavior());
    }

    /// Revokes all tokens, and the refresh tokens if `renewals` is true.
    pub(crate) fn revoke(&self, renewals: bool) {
        let mut recorded = self.inner.recorded();
        recorded.tokens.clear();
        if renewals {
            recorded.renewals.clear();
        }
    }

    /// Returns the names of all events.
    pub(crate) fn event_names(&self) -> Vec<&'static str> {
        self.inner.recorded().events.iter().map(|(what, _)| *what).collect()
    }

    /// Returns the parameters of all events with this name.
    pub(crate) fn event_params(&self, what: &str) -> Vec<BTreeMap<String, String>> {
        let recorded = self.inner.recorded();
        let events = recorded.events.iter().filter(|(known, _)| *known == what);
        events.map(|(_, params)| params.clone()).collect()
    }
}

impl Drop for ScriptedServers {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Inner {
    fn behavior(&self) -> MutexGuard<'_, Behavior> {
        self.behavior.lock().expect("no test panics while it has it")
    }

    fn recorded(&self) -> MutexGuard<'_, RecordedState> {
        self.recorded.lock().expect("no test panics while it has it")
    }

    fn record(&self, what: &'static str, params: BTreeMap<String, String>) {
        self.recorded().events.push((what, params));
    }

    fn event_count(&self, what: &str) -> usize {
        self.recorded().events.iter().filter(|(known, _)| *known == what).count()
    }

    fn issuer(&self) -> String {
        format!("{}{}", self.origin, self.behavior().issuer)
    }

    /// Adds the servers' date to a response.
    fn dated(&self, mut response: Response) -> Response {
        let now = std::time::SystemTime::now();
        let apart =
            std::time::Duration::from_secs(self.behavior().clock_offset_seconds.unsigned_abs());
        let theirs =
            if self.behavior().clock_offset_seconds < 0 { now - apart } else { now + apart };
        let date = httpdate::fmt_http_date(theirs).parse().expect("a header");
        response.headers_mut().insert(header::DATE, date);
        response
    }

    fn json(&self, status: StatusCode, value: &Value) -> Response {
        let kind = [(header::CONTENT_TYPE, "application/json")];
        self.dated((status, kind, value.to_string()).into_response())
    }
}

type Shared = State<Arc<Inner>>;

/// Merges two objects; null removes a field.
fn merged(base: Value, over: &Value) -> Value {
    let mut object: Map<String, Value> = base.as_object().cloned().unwrap_or_default();
    for (name, value) in over.as_object().into_iter().flatten() {
        match value {
            Value::Null => drop(object.remove(name)),
            value => drop(object.insert(name.clone(), value.clone())),
        }
    }
    Value::Object(object)
}

fn form(text: &str) -> BTreeMap<String, String> {
    form_urlencoded::parse(text.as_bytes()).into_owned().collect()
}

/// Hides the endpoints of other issuers and applies the replaced responses.
async fn only_the_issuer(State(servers): Shared, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let replacements =
        servers.behavior().replacements.iter().find(|(end, _)| path.ends_with(end)).cloned();
    if let Some((end, replacements)) = replacements {
        servers.record(end, BTreeMap::new());
        return match replacements {
            Replacement::Silence => std::future::pending().await,
            Replacement::Response(status, header, body) => {
                let status = StatusCode::from_u16(status).expect("a status");
                (status, [header], body).into_response()
            }
        };
    }
    let endpoint =
        ["/authorize", "/token", "/register"].iter().find_map(|name| path.strip_suffix(name));
    if endpoint.is_some_and(|issuer| issuer != servers.behavior().issuer) {
        return StatusCode::NOT_FOUND.into_response();
    }
    next.run(request).await
}

async fn no_resource() -> StatusCode {
    StatusCode::NOT_FOUND
}

async fn resource(State(servers): Shared) -> Response {
    servers.record("resource", BTreeMap::new());
    let Some(over) = servers.behavior().resource.clone() else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let base = json!({
        "resource": format!("{}/mcp", servers.origin),
        "authorization_servers": [servers.issuer()],
    });
    servers.json(StatusCode::OK, &merged(base, &over))
}

async fn metadata(State(servers): Shared, request: Request) -> Response {
    let behavior = servers.behavior().clone();
    let expected = format!("/.well-known/oauth-authorization-server{}", behavior.issuer);
    if !behavior.publishes_metadata || request.uri().path() != expected {
        return StatusCode::NOT_FOUND.into_response();
    }
    servers.record("metadata", BTreeMap::new());
    let issuer = servers.issuer();
    let base = json!({
        "issuer": issuer,
        "authorization_endpoint": format!("{issuer}/authorize"),
        "token_endpoint": format!("{issuer}/token"),
        "registration_endpoint": format!("{issuer}/register"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported":
            ["none", "client_secret_basic", "client_secret_post", "private_key_jwt"],
        "authorization_response_iss_parameter_supported": true,
    });
    servers.json(StatusCode::OK, &merged(base, &behavior.metadata))
}

async fn register(State(servers): Shared, body: String) -> Response {
    let params: Value = serde_json::from_str(&body).expect("JSON");
    let params = params.as_object().expect("an object").iter();
    servers.record(
        "register",
        params.map(|(name, value)| (name.clone(), value.to_string())).collect(),
    );
    let number = {
        let mut recorded = servers.recorded();
        recorded.clients += 1;
        recorded.clients
    };
    let base = json!({"client_id": format!("client-{number}")});
    let over = servers.behavior().registration_fields.clone();
    servers.json(StatusCode::CREATED, &merged(base, &over))
}

/// The login page; it redirects at once.
async fn authorize(State(servers): Shared, request: Request) -> Response {
    let params = form(request.uri().query().unwrap_or_default());
    servers.record("authorize", params.clone());
    let behavior = servers.behavior().clone();
    let of = |name: &str| params.get(name).cloned().unwrap_or_default();
    let code = {
        let mut recorded = servers.recorded();
        let code = format!("hunter-code-{}", recorded.codes.len());
        let kept = (of("code_challenge"), of("redirect_uri"), of("scope"));
        recorded.codes.insert(code.clone(), kept);
        code
    };
    let base = json!({"code": code, "state": of("state"), "iss": servers.issuer()});
    let redirect_query = merged(base, &behavior.redirect_query);
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in redirect_query.as_object().expect("an object") {
        query.append_pair(name, value.as_str().unwrap_or_default());
    }
    let location = format!("{}?{}", of("redirect_uri"), query.finish());
    (StatusCode::FOUND, [(header::LOCATION, location)]).into_response()
}

async fn token(State(servers): Shared, headers: HeaderMap, body: String) -> Response {
    let mut params = form(&body);
    if let Some(authorization) = headers.get(header::AUTHORIZATION) {
        let text = authorization.to_str().expect("text").to_owned();
        params.insert("authorization".to_owned(), text);
    }
    servers.record("token", params.clone());
    let mut behavior = servers.behavior().clone();
    if !behavior.refusals.is_empty() {
        let (status, mut body) = behavior.refusals.remove(0);
        // Careless servers repeat the received text.
        if body["error_description"] == "ECHO" {
            body["error_description"] = format!("{params:?}").into();
        }
        servers.behavior().refusals = behavior.refusals;
        return servers.json(StatusCode::from_u16(status).expect("a status"), &body);
    }
    let refused = |error: &str| servers.json(StatusCode::BAD_REQUEST, &json!({"error": error}));
    let of = |name: &str| params.get(name).cloned().unwrap_or_default();
    let issuer = servers.issuer();
    let mut recorded = servers.recorded();
    let scope = match of("grant_type").as_str() {
        "authorization_code" => match recorded.codes.remove(&of("code")) {
            Some((challenge, redirect, scope))
                if challenge == challenge_of(&of("code_verifier"))
                    && redirect == of("redirect_uri") =>
            {
                scope
            }
            _ => return refused("invalid_grant"),
        },
        "refresh_token" => match recorded.renewals.remove(&of("refresh_token")) {
            Some(scope) => scope,
            None => return refused("invalid_grant"),
        },
        _ => of("scope"),
    };
    recorded.given += 1;
    let number = recorded.given;
    let scope = behavior.granted_scope.map_or(scope, str::to_owned);
    let access = format!("hunter-access-{number}");
    recorded.tokens.insert(access.clone(), (scope.clone(), issuer));
    let mut given = json!({"access_token": access, "token_type": "Bearer", "expires_in": behavior.token_lifetime});
    if !scope.is_empty() {
        given["scope"] = scope.clone().into();
    }
    if behavior.issues_refresh_tokens && of("grant_type") != "client_credentials" {
        let renewal = format!("hunter-renewal-{number}");
        recorded.renewals.insert(renewal.clone(), scope);
        given["refresh_token"] = renewal.into();
    }
    drop(recorded);
    servers.json(StatusCode::OK, &given)
}

fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes()))
}

/// The MCP server behind the token check.
async fn mcp(State(servers): Shared, request: Request) -> Response {
    let behavior = servers.behavior().clone();
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
    let shown = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|text| text.strip_prefix("Bearer ")).map(str::to_owned);
    let known = shown.as_ref().and_then(|token| servers.recorded().tokens.get(token).cloned());
    let known =
        known.filter(|(_, issuer)| *issuer == servers.issuer() && !behavior.rejects_every_token);
    let always_rejected = |word: &str| parts.method == word || contains(&body, word.as_bytes());
    let always_rejected = behavior.always_rejected.is_some_and(always_rejected);
    let everybody = behavior.needs_no_token.then(Default::default);
    let Some((scope, _)) = known.or(everybody).filter(|_| !always_rejected) else {
        servers.record("401", BTreeMap::new());
        let error = shown.as_ref().map(|token| format!("the token {token} is not good"));
        return servers.dated(challenge(&servers, StatusCode::UNAUTHORIZED, behavior.scope, error));
    };
    if behavior.needs_new_scope_per_call && contains(&body, b"tools/call") {
        servers.record("403", BTreeMap::new());
        let wanted = format!("more-{}", servers.event_count("403"));
        return challenge(&servers, StatusCode::FORBIDDEN, Some(&wanted), None);
    }
    let wanted = behavior.tool_scope.filter(|_| contains(&body, b"tools/call"));
    if wanted.is_some_and(|wanted| !scope.split(' ').any(|own| own == wanted)) {
        servers.record("403", BTreeMap::new());
        return servers.dated(challenge(&servers, StatusCode::FORBIDDEN, wanted, None));
    }
    let request = Request::from_parts(parts, Body::from(body));
    servers.dated(servers.server.handle(request).await.map(Body::new))
}

fn contains(body: &[u8], word: &[u8]) -> bool {
    body.windows(word.len()).any(|window| window == word)
}

fn challenge(
    servers: &Inner,
    status: StatusCode,
    scope: Option<&str>,
    description: Option<String>,
) -> Response {
    let mut parameters = Vec::new();
    if status == StatusCode::FORBIDDEN {
        parameters.push("error=\"insufficient_scope\"".to_owned());
    }
    if servers.behavior().challenge_has_metadata_url {
        let url = format!("{}/.well-known/oauth-protected-resource/mcp", servers.origin);
        parameters.push(format!("resource_metadata=\"{url}\""));
    }
    parameters.extend(scope.map(|scope| format!("scope=\"{scope}\"")));
    parameters.extend(description.clone().map(|text| format!("error_description=\"{text}\"")));
    let value = format!("Bearer {}", parameters.join(", "));
    // Careless servers repeat the received text.
    (status, [(header::WWW_AUTHENTICATE, value)], description.unwrap_or_default()).into_response()
}
