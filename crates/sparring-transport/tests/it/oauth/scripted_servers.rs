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
    pub(crate) points: bool,
    /// The resource metadata; `None` is a 404.
    pub(crate) resource: Option<Value>,
    /// The scope in the challenge for a request without a token.
    pub(crate) scope: Option<&'static str>,
    /// The additional scope that tool calls need.
    pub(crate) for_tools: Option<&'static str>,
    /// The issuer: a path at the same origin.
    pub(crate) issuer: &'static str,
    /// Changes to its metadata; null removes a field.
    pub(crate) metadata: Value,
    /// True if it publishes metadata.
    pub(crate) publishes: bool,
    /// Additional fields in the registration response.
    pub(crate) registered: Value,
    /// Changes to the redirect's query; null removes a parameter.
    pub(crate) brings: Value,
    /// Errors of the token endpoint, each returned once. The description `ECHO` becomes the
    /// received request.
    pub(crate) refusals: Vec<(u16, Value)>,
    /// The lifetime of a token.
    pub(crate) lasts: u64,
    /// True if tokens can be refreshed.
    pub(crate) renews: bool,
    /// The granted scopes, instead of the requested ones.
    pub(crate) gives: Option<&'static str>,
    /// True if the server rejects every token.
    pub(crate) stubborn: bool,
    /// True if the server needs no token.
    pub(crate) open: bool,
    /// A word in a request, or a method, that is always rejected.
    pub(crate) never: Option<&'static str>,
    /// True if each tool call needs a new scope.
    pub(crate) greedy: bool,
    /// Other responses, by the end of the path.
    pub(crate) odd: Vec<(&'static str, Replacement)>,
    /// The number of seconds that the servers' clock is ahead.
    pub(crate) ahead: i64,
}

impl Default for Behavior {
    fn default() -> Self {
        Behavior {
            points: true,
            resource: Some(json!({})),
            scope: None,
            for_tools: None,
            issuer: "/as",
            metadata: json!({}),
            publishes: true,
            registered: json!({}),
            brings: json!({}),
            refusals: Vec::new(),
            lasts: 3600,
            renews: true,
            gives: None,
            stubborn: false,
            open: false,
            never: None,
            greedy: false,
            odd: Vec::new(),
            ahead: 0,
        }
    }
}

/// A response that replaces the usual one.
#[derive(Clone)]
pub(crate) enum Replacement {
    /// Never answers.
    Silence,
    /// A status, a header and a body.
    Says(u16, (&'static str, String), String),
}

impl Replacement {
    pub(crate) fn says(status: u16, body: impl Into<String>) -> Replacement {
        Replacement::Says(status, ("content-type", "application/json".to_owned()), body.into())
    }
}

/// A recorded event: its name and its parameters.
pub(crate) type RecordedEvent = (&'static str, BTreeMap<String, String>);

#[derive(Default)]
struct RecordedState {
    happened: Vec<RecordedEvent>,
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
    facts: Mutex<RecordedState>,
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
        let (behavior, facts) = (Mutex::new(behavior), Mutex::default());
        let inner = Arc::new(Inner { origin, behavior, facts, server });
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
        let mut facts = self.inner.facts();
        facts.tokens.clear();
        if renewals {
            facts.renewals.clear();
        }
    }

    /// Returns the names of all events.
    pub(crate) fn story(&self) -> Vec<&'static str> {
        self.inner.facts().happened.iter().map(|(what, _)| *what).collect()
    }

    /// Returns the parameters of all events with this name.
    pub(crate) fn said(&self, what: &str) -> Vec<BTreeMap<String, String>> {
        let facts = self.inner.facts();
        let happened = facts.happened.iter().filter(|(known, _)| *known == what);
        happened.map(|(_, said)| said.clone()).collect()
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

    fn facts(&self) -> MutexGuard<'_, RecordedState> {
        self.facts.lock().expect("no test panics while it has it")
    }

    fn note(&self, what: &'static str, said: BTreeMap<String, String>) {
        self.facts().happened.push((what, said));
    }

    fn times(&self, what: &str) -> usize {
        self.facts().happened.iter().filter(|(known, _)| *known == what).count()
    }

    fn issuer(&self) -> String {
        format!("{}{}", self.origin, self.behavior().issuer)
    }

    /// Adds the servers' date to a response.
    fn dated(&self, mut response: Response) -> Response {
        let now = std::time::SystemTime::now();
        let apart = std::time::Duration::from_secs(self.behavior().ahead.unsigned_abs());
        let theirs = if self.behavior().ahead < 0 { now - apart } else { now + apart };
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
async fn only_the_issuer(State(world): Shared, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let odd = world.behavior().odd.iter().find(|(end, _)| path.ends_with(end)).cloned();
    if let Some((end, odd)) = odd {
        world.note(end, BTreeMap::new());
        return match odd {
            Replacement::Silence => std::future::pending().await,
            Replacement::Says(status, header, body) => {
                let status = StatusCode::from_u16(status).expect("a status");
                (status, [header], body).into_response()
            }
        };
    }
    let endpoint =
        ["/authorize", "/token", "/register"].iter().find_map(|name| path.strip_suffix(name));
    if endpoint.is_some_and(|issuer| issuer != world.behavior().issuer) {
        return StatusCode::NOT_FOUND.into_response();
    }
    next.run(request).await
}

async fn no_resource() -> StatusCode {
    StatusCode::NOT_FOUND
}

async fn resource(State(world): Shared) -> Response {
    world.note("resource", BTreeMap::new());
    let Some(over) = world.behavior().resource.clone() else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let base = json!({
        "resource": format!("{}/mcp", world.origin),
        "authorization_servers": [world.issuer()],
    });
    world.json(StatusCode::OK, &merged(base, &over))
}

async fn metadata(State(world): Shared, request: Request) -> Response {
    let behavior = world.behavior().clone();
    let expected = format!("/.well-known/oauth-authorization-server{}", behavior.issuer);
    if !behavior.publishes || request.uri().path() != expected {
        return StatusCode::NOT_FOUND.into_response();
    }
    world.note("metadata", BTreeMap::new());
    let issuer = world.issuer();
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
    world.json(StatusCode::OK, &merged(base, &behavior.metadata))
}

async fn register(State(world): Shared, body: String) -> Response {
    let said: Value = serde_json::from_str(&body).expect("JSON");
    let said = said.as_object().expect("an object").iter();
    world.note("register", said.map(|(name, value)| (name.clone(), value.to_string())).collect());
    let number = {
        let mut facts = world.facts();
        facts.clients += 1;
        facts.clients
    };
    let base = json!({"client_id": format!("client-{number}")});
    let over = world.behavior().registered.clone();
    world.json(StatusCode::CREATED, &merged(base, &over))
}

/// The login page; it redirects at once.
async fn authorize(State(world): Shared, request: Request) -> Response {
    let said = form(request.uri().query().unwrap_or_default());
    world.note("authorize", said.clone());
    let behavior = world.behavior().clone();
    let of = |name: &str| said.get(name).cloned().unwrap_or_default();
    let code = {
        let mut facts = world.facts();
        let code = format!("hunter-code-{}", facts.codes.len());
        let kept = (of("code_challenge"), of("redirect_uri"), of("scope"));
        facts.codes.insert(code.clone(), kept);
        code
    };
    let base = json!({"code": code, "state": of("state"), "iss": world.issuer()});
    let brings = merged(base, &behavior.brings);
    let mut query = form_urlencoded::Serializer::new(String::new());
    for (name, value) in brings.as_object().expect("an object") {
        query.append_pair(name, value.as_str().unwrap_or_default());
    }
    let location = format!("{}?{}", of("redirect_uri"), query.finish());
    (StatusCode::FOUND, [(header::LOCATION, location)]).into_response()
}

async fn token(State(world): Shared, headers: HeaderMap, body: String) -> Response {
    let mut said = form(&body);
    if let Some(authorization) = headers.get(header::AUTHORIZATION) {
        let text = authorization.to_str().expect("text").to_owned();
        said.insert("authorization".to_owned(), text);
    }
    world.note("token", said.clone());
    let mut behavior = world.behavior().clone();
    if !behavior.refusals.is_empty() {
        let (status, mut body) = behavior.refusals.remove(0);
        // Careless servers repeat the received text.
        if body["error_description"] == "ECHO" {
            body["error_description"] = format!("{said:?}").into();
        }
        world.behavior().refusals = behavior.refusals;
        return world.json(StatusCode::from_u16(status).expect("a status"), &body);
    }
    let refused = |error: &str| world.json(StatusCode::BAD_REQUEST, &json!({"error": error}));
    let of = |name: &str| said.get(name).cloned().unwrap_or_default();
    let issuer = world.issuer();
    let mut facts = world.facts();
    let scope = match of("grant_type").as_str() {
        "authorization_code" => match facts.codes.remove(&of("code")) {
            Some((challenge, redirect, scope))
                if challenge == challenge_of(&of("code_verifier"))
                    && redirect == of("redirect_uri") =>
            {
                scope
            }
            _ => return refused("invalid_grant"),
        },
        "refresh_token" => match facts.renewals.remove(&of("refresh_token")) {
            Some(scope) => scope,
            None => return refused("invalid_grant"),
        },
        _ => of("scope"),
    };
    facts.given += 1;
    let number = facts.given;
    let scope = behavior.gives.map_or(scope, str::to_owned);
    let access = format!("hunter-access-{number}");
    facts.tokens.insert(access.clone(), (scope.clone(), issuer));
    let mut given =
        json!({"access_token": access, "token_type": "Bearer", "expires_in": behavior.lasts});
    if !scope.is_empty() {
        given["scope"] = scope.clone().into();
    }
    if behavior.renews && of("grant_type") != "client_credentials" {
        let renewal = format!("hunter-renewal-{number}");
        facts.renewals.insert(renewal.clone(), scope);
        given["refresh_token"] = renewal.into();
    }
    drop(facts);
    world.json(StatusCode::OK, &given)
}

fn challenge_of(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(ring::digest::digest(&ring::digest::SHA256, verifier.as_bytes()))
}

/// The MCP server behind the token check.
async fn mcp(State(world): Shared, request: Request) -> Response {
    let behavior = world.behavior().clone();
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
    let shown = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|text| text.strip_prefix("Bearer ")).map(str::to_owned);
    let known = shown.as_ref().and_then(|token| world.facts().tokens.get(token).cloned());
    let known = known.filter(|(_, issuer)| *issuer == world.issuer() && !behavior.stubborn);
    let never = |word: &str| parts.method == word || contains(&body, word.as_bytes());
    let never = behavior.never.is_some_and(never);
    let everybody = behavior.open.then(Default::default);
    let Some((scope, _)) = known.or(everybody).filter(|_| !never) else {
        world.note("401", BTreeMap::new());
        let error = shown.as_ref().map(|token| format!("the token {token} is not good"));
        return world.dated(challenge(&world, StatusCode::UNAUTHORIZED, behavior.scope, error));
    };
    if behavior.greedy && contains(&body, b"tools/call") {
        world.note("403", BTreeMap::new());
        let wanted = format!("more-{}", world.times("403"));
        return challenge(&world, StatusCode::FORBIDDEN, Some(&wanted), None);
    }
    let wanted = behavior.for_tools.filter(|_| contains(&body, b"tools/call"));
    if wanted.is_some_and(|wanted| !scope.split(' ').any(|own| own == wanted)) {
        world.note("403", BTreeMap::new());
        return world.dated(challenge(&world, StatusCode::FORBIDDEN, wanted, None));
    }
    let request = Request::from_parts(parts, Body::from(body));
    world.dated(world.server.handle(request).await.map(Body::new))
}

fn contains(body: &[u8], word: &[u8]) -> bool {
    body.windows(word.len()).any(|window| window == word)
}

fn challenge(
    world: &Inner,
    status: StatusCode,
    scope: Option<&str>,
    description: Option<String>,
) -> Response {
    let mut parameters = Vec::new();
    if status == StatusCode::FORBIDDEN {
        parameters.push("error=\"insufficient_scope\"".to_owned());
    }
    if world.behavior().points {
        let url = format!("{}/.well-known/oauth-protected-resource/mcp", world.origin);
        parameters.push(format!("resource_metadata=\"{url}\""));
    }
    parameters.extend(scope.map(|scope| format!("scope=\"{scope}\"")));
    parameters.extend(description.clone().map(|text| format!("error_description=\"{text}\"")));
    let value = format!("Bearer {}", parameters.join(", "));
    // Careless servers repeat the received text.
    (status, [(header::WWW_AUTHENTICATE, value)], description.unwrap_or_default()).into_response()
}
