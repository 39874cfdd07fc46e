//! An MCP server that lets in who has a token, and the authorization server
//! that gives them, both on one port and both as odd as a test wants them.
//!
//! All that is secret here has `hunter` in it.

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
use sparring_peer::server::{Answer, Context};
use sparring_peer::{Handler, Server};
use sparring_transport::http::{HttpOptions, HttpServer};
use sparring_wire::Json;
use sparring_wire::types::{CallToolResult, Implementation, ServerCapabilities, Tool};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// How the world is. What is not said is as it should be.
#[derive(Clone)]
pub(crate) struct Ways {
    /// Whether the server says in its challenge where its metadata is.
    pub(crate) points: bool,
    /// What the server publishes about itself; nothing is a 404.
    pub(crate) resource: Option<Value>,
    /// The scope of the challenge to somebody without a token.
    pub(crate) scope: Option<&'static str>,
    /// The scope that calling a tool needs besides.
    pub(crate) for_tools: Option<&'static str>,
    /// The name of the authorization server: a path at the same origin.
    pub(crate) issuer: &'static str,
    /// What is other in its metadata; null is left out.
    pub(crate) metadata: Value,
    /// Whether it publishes metadata at all.
    pub(crate) publishes: bool,
    /// What else stands in the answer to a registration.
    pub(crate) registered: Value,
    /// What the browser brings back, where it is other; null is left out.
    pub(crate) brings: Value,
    /// What the token endpoint does instead of giving a token, each once. A
    /// description that is `ECHO` has what it was told.
    pub(crate) refusals: Vec<(u16, Value)>,
    /// How long a token lasts.
    pub(crate) lasts: u64,
    /// Whether tokens can be renewed.
    pub(crate) renews: bool,
    /// The scopes that are given, whatever is asked for.
    pub(crate) gives: Option<&'static str>,
    /// Whether the server accepts no token at all.
    pub(crate) stubborn: bool,
    /// Whether the server lets in everybody.
    pub(crate) open: bool,
    /// The word in a request, or its method, that the server never lets in.
    pub(crate) never: Option<&'static str>,
    /// Whether each call of a tool needs a scope that nobody has yet.
    pub(crate) greedy: bool,
    /// What answers otherwise, by how its path ends.
    pub(crate) odd: Vec<(&'static str, Odd)>,
    /// How many seconds the clocks of the world are ahead.
    pub(crate) ahead: i64,
}

impl Default for Ways {
    fn default() -> Self {
        Ways {
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

/// What is answered where something else is expected.
#[derive(Clone)]
pub(crate) enum Odd {
    /// Nothing, ever.
    Silence,
    /// This, and a header.
    Says(u16, (&'static str, String), String),
}

impl Odd {
    pub(crate) fn says(status: u16, body: impl Into<String>) -> Odd {
        Odd::Says(status, ("content-type", "application/json".to_owned()), body.into())
    }
}

/// One thing that happened: what, and what was said.
pub(crate) type Happening = (&'static str, BTreeMap<String, String>);

#[derive(Default)]
struct Facts {
    happened: Vec<Happening>,
    /// By the token: its scope and issuer.
    tokens: BTreeMap<String, (String, String)>,
    /// The refresh tokens that are good, and their scopes.
    renewals: BTreeMap<String, String>,
    /// By the code: its challenge, redirect and scope.
    codes: BTreeMap<String, (String, String, String)>,
    clients: usize,
    given: usize,
}

/// What everything in it shares.
struct Inner {
    origin: String,
    ways: Mutex<Ways>,
    facts: Mutex<Facts>,
    server: HttpServer<Desk>,
}

/// A world at work on a port of its own.
pub(crate) struct World {
    inner: Arc<Inner>,
    task: JoinHandle<()>,
}

struct Desk;

impl Handler for Desk {
    fn info(&self) -> Implementation {
        Implementation::new("desk", "1.0.0")
    }

    fn capabilities(&self) -> ServerCapabilities {
        ServerCapabilities::none().tools()
    }

    async fn list_tools(&self, _: Option<&str>, _: &Context) -> Answer {
        Ok(vec![Tool::new("echo")].into())
    }

    async fn call_tool(&self, _: &str, arguments: Json<'_>, _: &Context) -> Answer {
        let message = arguments.get("message").and_then(Json::as_str).unwrap_or_default();
        Ok(CallToolResult::text(message.into_owned()).into())
    }
}

impl World {
    pub(crate) async fn new(ways: Ways) -> World {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let server = HttpServer::new(Server::new(Desk), HttpOptions::default());
        let (ways, facts) = (Mutex::new(ways), Mutex::default());
        let inner = Arc::new(Inner { origin, ways, facts, server });
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
        World { inner, task }
    }

    /// Where the MCP server is.
    pub(crate) fn url(&self) -> String {
        format!("{}/mcp", self.inner.origin)
    }

    pub(crate) fn origin(&self) -> &str {
        &self.inner.origin
    }

    /// Makes it another world.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Ways)) {
        change(&mut self.inner.ways());
    }

    /// Takes back all tokens; those for renewing too, if so.
    pub(crate) fn revoke(&self, renewals: bool) {
        let mut facts = self.inner.facts();
        facts.tokens.clear();
        if renewals {
            facts.renewals.clear();
        }
    }

    /// What happened, in short.
    pub(crate) fn story(&self) -> Vec<&'static str> {
        self.inner.facts().happened.iter().map(|(what, _)| *what).collect()
    }

    /// What was said when that happened, each time.
    pub(crate) fn said(&self, what: &str) -> Vec<BTreeMap<String, String>> {
        let facts = self.inner.facts();
        let happened = facts.happened.iter().filter(|(known, _)| *known == what);
        happened.map(|(_, said)| said.clone()).collect()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Inner {
    fn ways(&self) -> MutexGuard<'_, Ways> {
        self.ways.lock().expect("no test panics while it has it")
    }

    fn facts(&self) -> MutexGuard<'_, Facts> {
        self.facts.lock().expect("no test panics while it has it")
    }

    fn note(&self, what: &'static str, said: BTreeMap<String, String>) {
        self.facts().happened.push((what, said));
    }

    fn times(&self, what: &str) -> usize {
        self.facts().happened.iter().filter(|(known, _)| *known == what).count()
    }

    fn issuer(&self) -> String {
        format!("{}{}", self.origin, self.ways().issuer)
    }

    /// A response with the date that the world has.
    fn dated(&self, mut response: Response) -> Response {
        let now = std::time::SystemTime::now();
        let apart = std::time::Duration::from_secs(self.ways().ahead.unsigned_abs());
        let theirs = if self.ways().ahead < 0 { now - apart } else { now + apart };
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

/// Puts one object over another; null takes away.
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

/// The endpoints of others are not there, and some of ours are odd.
async fn only_the_issuer(State(world): Shared, request: Request, next: Next) -> Response {
    let path = request.uri().path();
    let odd = world.ways().odd.iter().find(|(end, _)| path.ends_with(end)).cloned();
    if let Some((end, odd)) = odd {
        world.note(end, BTreeMap::new());
        return match odd {
            Odd::Silence => std::future::pending().await,
            Odd::Says(status, header, body) => {
                let status = StatusCode::from_u16(status).expect("a status");
                (status, [header], body).into_response()
            }
        };
    }
    let endpoint =
        ["/authorize", "/token", "/register"].iter().find_map(|name| path.strip_suffix(name));
    if endpoint.is_some_and(|issuer| issuer != world.ways().issuer) {
        return StatusCode::NOT_FOUND.into_response();
    }
    next.run(request).await
}

async fn no_resource() -> StatusCode {
    StatusCode::NOT_FOUND
}

async fn resource(State(world): Shared) -> Response {
    world.note("resource", BTreeMap::new());
    let Some(over) = world.ways().resource.clone() else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let base = json!({
        "resource": format!("{}/mcp", world.origin),
        "authorization_servers": [world.issuer()],
    });
    world.json(StatusCode::OK, &merged(base, &over))
}

async fn metadata(State(world): Shared, request: Request) -> Response {
    let ways = world.ways().clone();
    let expected = format!("/.well-known/oauth-authorization-server{}", ways.issuer);
    if !ways.publishes || request.uri().path() != expected {
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
    world.json(StatusCode::OK, &merged(base, &ways.metadata))
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
    let over = world.ways().registered.clone();
    world.json(StatusCode::CREATED, &merged(base, &over))
}

/// The page at which somebody logs in: says yes by itself.
async fn authorize(State(world): Shared, request: Request) -> Response {
    let said = form(request.uri().query().unwrap_or_default());
    world.note("authorize", said.clone());
    let ways = world.ways().clone();
    let of = |name: &str| said.get(name).cloned().unwrap_or_default();
    let code = {
        let mut facts = world.facts();
        let code = format!("hunter-code-{}", facts.codes.len());
        let kept = (of("code_challenge"), of("redirect_uri"), of("scope"));
        facts.codes.insert(code.clone(), kept);
        code
    };
    let base = json!({"code": code, "state": of("state"), "iss": world.issuer()});
    let brings = merged(base, &ways.brings);
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
    let mut ways = world.ways().clone();
    if !ways.refusals.is_empty() {
        let (status, mut body) = ways.refusals.remove(0);
        // Careless ones repeat what they were told.
        if body["error_description"] == "ECHO" {
            body["error_description"] = format!("{said:?}").into();
        }
        world.ways().refusals = ways.refusals;
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
    let scope = ways.gives.map_or(scope, str::to_owned);
    let access = format!("hunter-access-{number}");
    facts.tokens.insert(access.clone(), (scope.clone(), issuer));
    let mut given =
        json!({"access_token": access, "token_type": "Bearer", "expires_in": ways.lasts});
    if !scope.is_empty() {
        given["scope"] = scope.clone().into();
    }
    if ways.renews && of("grant_type") != "client_credentials" {
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

/// The MCP server, and before it whoever looks at the tokens.
async fn mcp(State(world): Shared, request: Request) -> Response {
    let ways = world.ways().clone();
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.expect("a body");
    let shown = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let shown = shown.and_then(|text| text.strip_prefix("Bearer ")).map(str::to_owned);
    let known = shown.as_ref().and_then(|token| world.facts().tokens.get(token).cloned());
    let known = known.filter(|(_, issuer)| *issuer == world.issuer() && !ways.stubborn);
    let never = |word: &str| parts.method == word || contains(&body, word.as_bytes());
    let never = ways.never.is_some_and(never);
    let everybody = ways.open.then(Default::default);
    let Some((scope, _)) = known.or(everybody).filter(|_| !never) else {
        world.note("401", BTreeMap::new());
        let error = shown.as_ref().map(|token| format!("the token {token} is not good"));
        return world.dated(challenge(&world, StatusCode::UNAUTHORIZED, ways.scope, error));
    };
    if ways.greedy && contains(&body, b"tools/call") {
        world.note("403", BTreeMap::new());
        let wanted = format!("more-{}", world.times("403"));
        return challenge(&world, StatusCode::FORBIDDEN, Some(&wanted), None);
    }
    let wanted = ways.for_tools.filter(|_| contains(&body, b"tools/call"));
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
    if world.ways().points {
        let url = format!("{}/.well-known/oauth-protected-resource/mcp", world.origin);
        parameters.push(format!("resource_metadata=\"{url}\""));
    }
    parameters.extend(scope.map(|scope| format!("scope=\"{scope}\"")));
    parameters.extend(description.clone().map(|text| format!("error_description=\"{text}\"")));
    let value = format!("Bearer {}", parameters.join(", "));
    // Careless servers repeat what they were shown.
    (status, [(header::WWW_AUTHENTICATE, value)], description.unwrap_or_default()).into_response()
}
