//! Requests without a token and with invalid tokens, and how the server refuses them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sparring_transport::http::{Credentials, HttpTarget, RawCredentials, RawRequest};
use sparring_wire::json::parse_value;

use super::bearer_challenge::BearerChallenge;
use crate::context::{Context, Stopped};
use crate::http::{self, Body, Exchange, HttpServer, RequestExt as _, Session};

/// A token that no server has issued.
const UNKNOWN_TOKEN: &str = "sparring-invalid-token";

/// The bytes of a refusal that are searched for a reason.
const MAX_REASON: usize = 4_000;

/// Words of a refusal that show its reason, in lower case.
const WORDS_OF_AUTHORIZATION: [&str; 11] = [
    "unauthorized",
    "unauthorised",
    "authenticat",
    "credentials",
    "access token",
    "bearer",
    "invalid token",
    "missing token",
    "no token",
    "token required",
    "token is required",
];

/// The credentials of the target.
pub(super) enum Given {
    /// None.
    Nothing,
    /// A bearer token.
    Token(String),
    /// Tokens of an authorization server, that only the transport knows.
    OAuth,
    /// Credentials that the specification says nothing about.
    Other,
}

/// A request that differs from a correct one in its token, with the response.
pub(super) struct Attempt {
    /// The request, such as "`initialize` without a token".
    pub(super) name: String,
    pub(super) exchange: Exchange,
}

/// A correct session, or none in revisions without sessions.
pub(super) enum Conversation {
    Session(Box<Session>),
    Requests,
}

impl Given {
    pub(super) fn of(target: &HttpTarget) -> Given {
        match &target.credentials {
            Some(Credentials::Bearer(token)) => return Given::Token(token.reveal().to_owned()),
            Some(Credentials::Basic(_)) => return Given::Other,
            // Only with OAuth there are others.
            #[allow(unreachable_patterns, reason = "the feature may be off")]
            Some(_) => return Given::OAuth,
            None => {}
        }
        let is_name = |name: &str| name.eq_ignore_ascii_case("authorization");
        let header = target.headers.iter().find(|(name, _)| is_name(name));
        match header.map(|(_, value)| value.trim().split_once(' ')) {
            None => Given::Nothing,
            Some(Some((scheme, token))) if scheme.eq_ignore_ascii_case("bearer") => {
                Given::Token(token.trim().to_owned())
            }
            Some(_) => Given::Other,
        }
    }

    /// Returns true if the client sends a token.
    pub(super) fn is_token(&self) -> bool {
        matches!(self, Given::Token(_) | Given::OAuth)
    }
}

impl Attempt {
    pub(super) fn challenge(&self) -> Option<BearerChallenge> {
        BearerChallenge::of(&self.exchange)
    }

    /// Returns true if the server did what the request asks for.
    pub(super) fn is_accepted(&self) -> bool {
        is_accepted(&self.exchange)
    }

    /// Returns true if the server refused the request with status 401.
    pub(super) fn is_unauthorized(&self) -> bool {
        self.exchange.status == 401
    }

    /// Returns true if the server refused the request, and says that it needs credentials.
    pub(super) fn asks_for_credentials(&self) -> bool {
        let Exchange { status, .. } = self.exchange;
        status == 401
            || self.exchange.header("www-authenticate").is_some()
            || !self.is_accepted() && self.says_words_of_authorization()
    }

    fn says_words_of_authorization(&self) -> bool {
        let text = match &self.exchange.body {
            Body::Whole(bytes) => String::from_utf8_lossy(&bytes[..bytes.len().min(MAX_REASON)]),
            Body::Stream { events, .. } => {
                let first = events.first().and_then(|it| it.data.as_deref());
                String::from_utf8_lossy(first.unwrap_or_default())
            }
        };
        let text = text.to_lowercase();
        WORDS_OF_AUTHORIZATION.iter().any(|words| text.contains(words))
    }

    /// Returns true if the load of the server, not the token, explains the response.
    pub(super) fn is_unrelated(&self) -> bool {
        self.exchange.is_unrelated_refusal() && !self.is_unauthorized()
    }
}

/// Returns true if the server did what a request asks for.
pub(super) fn is_accepted(exchange: &Exchange) -> bool {
    let refuses = exchange.messages().iter().any(|it| it.get("error").is_some());
    let is_answer = exchange.has_result() || exchange.is_stream() || exchange.is_empty();
    exchange.is_success() && is_answer && !refuses
}

/// Sends a request without any credentials.
pub(super) async fn without_token(
    server: &HttpServer,
    name: &str,
    request: RawRequest,
) -> Result<Attempt, Stopped> {
    let request = RawRequest { credentials: RawCredentials::Nothing, ..request };
    let name = format!("{name} without a token");
    Ok(Attempt { name, exchange: server.send(&request).await? })
}

/// Sends a request with another token.
pub(super) async fn with_token(
    server: &HttpServer,
    name: String,
    request: RawRequest,
    token: &str,
) -> Result<Attempt, Stopped> {
    let request = RawRequest { credentials: RawCredentials::Nothing, ..request };
    let request = request.with("authorization", format!("Bearer {token}"));
    Ok(Attempt { name, exchange: server.send(&request).await? })
}

/// The name of the first request in messages, in every revision.
pub(super) const OPENING: &str = "a request";

/// Sends the first request of a client without a token. If the server accepts it, sends the
/// request for the first list that the server declares, and returns the response to this one if
/// it is a refusal. Also returns whether it is.
pub(super) async fn first_refusal(
    context: &Context,
    server: &HttpServer,
) -> Result<(Attempt, bool), Stopped> {
    let opening = without_token(server, OPENING, server.opening_request()).await?;
    if !opening.is_accepted() || !context.is_connected() {
        return Ok((opening, false));
    }
    let conversation = match server.revision.is_modern() {
        true => Conversation::Requests,
        false => match server.session_of(&opening.exchange) {
            Ok(session) => Conversation::Session(Box::new(session)),
            Err(_) => return Ok((opening, false)),
        },
    };
    let method = later_method(context);
    let later = conversation.request(server, method);
    let later = without_token(server, &format!("`{method}`"), later).await?;
    if let Conversation::Session(session) = conversation
        && session.id.is_some()
    {
        without_token(server, "", session.delete()).await?;
    }
    Ok(match later.is_unauthorized() {
        true => (later, true),
        false => (opening, false),
    })
}

/// Returns a method that every session of this server allows.
pub(super) fn later_method(context: &Context) -> &'static str {
    let lists =
        [("tools", "tools/list"), ("resources", "resources/list"), ("prompts", "prompts/list")];
    let declared = lists.iter().find(|(capability, _)| context.facts().declares(capability));
    match declared {
        Some((_, method)) => method,
        None if context.revision.is_modern() => "server/discover",
        None => "ping",
    }
}

impl Conversation {
    /// Opens a session with the credentials of the target.
    pub(super) async fn open(server: &HttpServer) -> Result<Conversation, Stopped> {
        match server.revision.is_modern() {
            true => Ok(Conversation::Requests),
            false => Ok(Conversation::Session(Box::new(server.another_session().await?))),
        }
    }

    /// Returns a request of the session.
    pub(super) fn request(&self, server: &HttpServer, method: &str) -> RawRequest {
        self.request_with(server, method, json!({}))
    }

    /// Returns a request of the session with parameters.
    pub(super) fn request_with(
        &self,
        server: &HttpServer,
        method: &str,
        params: Value,
    ) -> RawRequest {
        let id = json!("authorization");
        match self {
            Conversation::Session(session) => {
                session.post(&http::request(id, method, Some(params)))
            }
            Conversation::Requests => http::modern(server.revision, id, method, params),
        }
    }
}

/// Returns tokens that a server must not accept, each with its fault.
pub(super) fn invalid_tokens(given: &Given, resource: Option<&Value>) -> Vec<(String, String)> {
    let known = match given {
        Given::Token(token) => Some(token.as_str()),
        _ => None,
    };
    let mut tokens = vec![("an unknown token".to_owned(), UNKNOWN_TOKEN.to_owned())];
    if let Some(token) = known {
        tokens.push(("a token with a wrong end".to_owned(), format!("{token}x")));
    }
    let claims = known.and_then(claims_of).unwrap_or_else(|| usual_claims(resource));
    let encode = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let header = encode(&json!({"alg": "HS256", "typ": "JWT"}));
    let signature = URL_SAFE_NO_PAD.encode([7; 32]);
    let signed = format!("{header}.{}.{signature}", encode(&claims));
    tokens.push(("a token with a wrong signature".to_owned(), signed));
    let header = encode(&json!({"alg": "none", "typ": "JWT"}));
    tokens
        .push(("a token without a signature".to_owned(), format!("{header}.{}.", encode(&claims))));
    tokens
}

/// Returns the claims of a token that is a JSON Web Token.
fn claims_of(token: &str) -> Option<Value> {
    let mut parts = token.split('.');
    let (_, claims, _) = (parts.next()?, parts.next()?, parts.next()?);
    parse_value(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok().filter(Value::is_object)
}

/// Returns the claims of a token that a server might accept if it verifies no signature.
fn usual_claims(resource: Option<&Value>) -> Value {
    let member = |name: &str| resource.map(|it| it[name].clone()).unwrap_or_default();
    let scopes = member("scopes_supported");
    let scopes = scopes.as_array().map(Vec::as_slice).unwrap_or_default();
    let scopes: Vec<&str> = scopes.iter().filter_map(Value::as_str).collect();
    json!({
        "iss": member("authorization_servers")[0],
        "sub": "sparring",
        "client_id": "sparring",
        "aud": member("resource"),
        "iat": 1_700_000_000,
        "exp": 4_100_000_000_u64,
        "scope": scopes.join(" "),
    })
}
