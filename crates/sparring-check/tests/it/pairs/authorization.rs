//! Authorization over HTTP.

use axum::body::{Body, Bytes};
use axum::http::request::Parts;
use axum::response::Response;
use serde_json::{Value, json};
use sparring_check::{CheckError, CheckOptions, CheckReport, check, rules_named};
use sparring_wire::{Revision, Rule};

use super::Case;
use crate::support::{AlteredHttp, bad_rules, check_in, options};

const V2025_03_26: Revision = Revision::V2025_03_26;
const V2025_06_18: Revision = Revision::V2025_06_18;
const V2025_11_25: Revision = Revision::V2025_11_25;
const V2026_07_28: Revision = Revision::V2026_07_28;

/// The token of the protected server.
const TOKEN: &str = "token-4f9aT3bQk2Lm8Zx7";

const RESOURCE_PATH: &str = "/.well-known/oauth-protected-resource/mcp";
const SERVER_PATH: &str = "/.well-known/oauth-authorization-server";

/// Protects the correct server with a token, and publishes the metadata of both servers.
/// Alterations that were made before answer first.
pub(crate) fn protect(server: AlteredHttp) -> AlteredHttp {
    server.token(TOKEN).on_request(|parts, body| match parts.uri.path() {
        RESOURCE_PATH => Some(json_response(&resource(parts))),
        SERVER_PATH => Some(json_response(&authorization_server(parts))),
        "/mcp" => match token_of(parts) {
            None => Some(refuse(401, &challenge(parts))),
            Some(TOKEN) => needs_scope(body).then(|| refuse(403, &insufficient_scope(parts))),
            Some(_) => {
                let challenge = format!("{}, error=\"invalid_token\"", challenge(parts));
                Some(refuse(401, &challenge))
            }
        },
        _ => None,
    })
}

/// The other rules do not depend on the token.
pub(super) fn only_authorization(options: &mut CheckOptions) {
    options.only = rules_named("authorization/");
}

/// The prompt `plain` needs a scope that the token does not have.
fn needs_scope(body: &Bytes) -> bool {
    let text = String::from_utf8_lossy(body);
    text.contains("prompts/get") && text.contains("\"plain\"")
}

fn token_of(parts: &Parts) -> Option<&str> {
    parts.headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")
}

fn origin(parts: &Parts) -> String {
    format!("http://{}", parts.headers["host"].to_str().unwrap())
}

fn resource(parts: &Parts) -> Value {
    let origin = origin(parts);
    json!({
        "resource": format!("{origin}/mcp"),
        "authorization_servers": [origin],
        "scopes_supported": ["read"],
    })
}

fn authorization_server(parts: &Parts) -> Value {
    let origin = origin(parts);
    json!({
        "issuer": origin,
        "authorization_endpoint": format!("{origin}/authorize"),
        "token_endpoint": format!("{origin}/token"),
        "code_challenge_methods_supported": ["S256"],
    })
}

fn challenge(parts: &Parts) -> String {
    let metadata = format!("resource_metadata=\"{}{RESOURCE_PATH}\"", origin(parts));
    format!("Bearer scope=\"read\", {metadata}")
}

fn insufficient_scope(parts: &Parts) -> String {
    let challenge = challenge(parts).replace("read", "write");
    format!("{challenge}, error=\"insufficient_scope\"")
}

fn refuse(status: u16, challenge: &str) -> Response {
    let builder = Response::builder().status(status);
    let builder = match challenge.is_empty() {
        true => builder,
        false => builder.header("www-authenticate", challenge),
    };
    builder.body(Body::empty()).unwrap()
}

fn json_response(value: &Value) -> Response {
    let builder = Response::builder().header("content-type", "application/json");
    builder.body(Body::from(value.to_string())).unwrap()
}

/// Answers the requests at a path.
fn at(
    server: AlteredHttp,
    path: &'static str,
    answer: fn(&Parts, &Bytes) -> Option<Response>,
) -> AlteredHttp {
    server.on_request(move |parts, body| match parts.uri.path() == path {
        true => answer(parts, body),
        false => None,
    })
}

/// Refuses requests without the token with this status and challenge.
fn refuse_with(server: AlteredHttp, refuse: fn(&Parts) -> Response) -> AlteredHttp {
    server.on_request(move |parts, _| {
        let is_refused = parts.uri.path() == "/mcp" && token_of(parts) != Some(TOKEN);
        is_refused.then(|| refuse(parts))
    })
}

/// Changes the metadata of the protected resource.
fn set_resource(server: AlteredHttp, change: fn(&mut Value)) -> AlteredHttp {
    server.on_request(move |parts, _| {
        (parts.uri.path() == RESOURCE_PATH).then(|| {
            let mut document = resource(parts);
            change(&mut document);
            json_response(&document)
        })
    })
}

/// Changes the metadata of the authorization server.
fn set_server(server: AlteredHttp, change: fn(&mut Value)) -> AlteredHttp {
    server.on_request(move |parts, _| {
        (parts.uri.path() == SERVER_PATH).then(|| {
            let mut document = authorization_server(parts);
            change(&mut document);
            json_response(&document)
        })
    })
}

/// Says whether a request begins a session, or discovers the server.
fn is_opening(body: &Bytes) -> bool {
    let text = String::from_utf8_lossy(body);
    text.contains("\"initialize\"") || text.contains("\"server/discover\"")
}

/// Says whether a request has the token in its query.
fn has_token_in_query(parts: &Parts) -> bool {
    parts.uri.query().is_some_and(|it| it.contains(TOKEN))
}

/// Says whether the token is a JSON Web Token without a signature.
fn is_unsigned(parts: &Parts) -> bool {
    token_of(parts).is_some_and(|it| it.matches('.').count() == 2 && it.ends_with('.'))
}

/// Answers the request for a tool as if the token had too few scopes.
fn refuse_tool(server: AlteredHttp, refuse: fn(&Parts) -> Response) -> AlteredHttp {
    server.on_request(move |parts, body| {
        let text = String::from_utf8_lossy(body);
        let is_chosen = token_of(parts) == Some(TOKEN)
            && text.contains("tools/call")
            && text.contains("\"picture\"");
        is_chosen.then(|| refuse(parts))
    })
}

pub(super) const CASES: &[Case] = &[
    // A wrong status.
    Case::protected(Rule::Unauthorized, V2025_11_25, |server| {
        server.on_request(|parts, _| {
            let is_refused = parts.uri.path() == "/mcp" && token_of(parts).is_none();
            is_refused.then(|| refuse(403, &challenge(parts)))
        })
    }),
    Case::protected(Rule::Unauthorized, V2026_07_28, |server| {
        server.on_request(|parts, _| {
            let is_refused = parts.uri.path() == "/mcp" && token_of(parts).is_none();
            is_refused.then(|| refuse(400, ""))
        })
    }),
    // No refusal.
    Case::protected(Rule::Unauthorized, V2025_06_18, |server| {
        server.pass(|parts, _| parts.uri.path() == "/mcp" && token_of(parts).is_none())
    }),
    Case::protected(Rule::Unauthorized, V2026_07_28, |server| {
        server.pass(|parts, _| parts.uri.path() == "/mcp" && token_of(parts).is_none())
    }),
    // Only the first request is refused.
    Case::protected(Rule::Unauthorized, V2025_03_26, |server| {
        server.pass(|parts, body| {
            parts.uri.path() == "/mcp"
                && token_of(parts).is_none()
                && !is_opening(body)
                && !has_token_in_query(parts)
        })
    }),
    Case::protected(Rule::Unauthorized, V2025_11_25, |server| {
        server.pass(|parts, _| parts.method == "DELETE")
    }),
    Case::protected(Rule::InvalidToken, V2025_03_26, |server| {
        server.on_request(|parts, _| {
            let is_refused = token_of(parts).is_some_and(|it| it != TOKEN);
            is_refused.then(|| refuse(403, ""))
        })
    }),
    Case::protected(Rule::InvalidToken, V2025_11_25, |server| {
        server.pass(|parts, _| {
            parts.uri.path() == "/mcp" && token_of(parts).is_some_and(|it| it != TOKEN)
        })
    }),
    Case::protected(Rule::InvalidToken, V2026_07_28, |server| {
        server.pass(|parts, _| is_unsigned(parts))
    }),
    Case::protected(Rule::InvalidToken, V2025_06_18, |server| {
        server.pass(|parts, body| {
            parts.uri.path() == "/mcp"
                && token_of(parts).is_some_and(|it| it != TOKEN)
                && !is_opening(body)
        })
    }),
    Case::protected(Rule::TokenInQuery, V2025_03_26, |server| {
        server.pass(|parts, _| has_token_in_query(parts))
    }),
    Case::protected(Rule::TokenInQuery, V2026_07_28, |server| {
        server.pass(|parts, _| has_token_in_query(parts))
    }),
    // Lets anyone open a session.
    Case::protected(Rule::TokenInQuery, V2025_06_18, |server| {
        server.pass(|parts, body| {
            has_token_in_query(parts) || token_of(parts).is_none() && is_opening(body)
        })
    }),
    Case::protected(Rule::MissingChallenge, V2025_03_26, |server| {
        refuse_with(server, |_| refuse(401, ""))
    }),
    Case::protected(Rule::MissingChallenge, V2026_07_28, |server| {
        refuse_with(server, |_| refuse(401, "Basic realm=\"mcp\""))
    }),
    Case::protected(Rule::MissingMetadataUrl, V2025_06_18, |server| {
        refuse_with(server, |_| refuse(401, "Bearer scope=\"read\""))
    }),
    // The metadata is not at the URL of the challenge, or not at a well-known path.
    Case::protected(Rule::MissingResourceMetadata, V2025_06_18, |server| {
        at(server, RESOURCE_PATH, |_, _| Some(refuse(404, "")))
    }),
    Case::protected(Rule::MissingResourceMetadata, V2026_07_28, |server| {
        let server = refuse_with(server, |_| refuse(401, "Bearer scope=\"read\""));
        at(server, RESOURCE_PATH, |_, _| Some(refuse(404, "")))
    }),
    Case::protected(Rule::MissingResourceMetadata, V2025_11_25, |server| {
        at(server, RESOURCE_PATH, |parts, _| Some(refuse(401, &challenge(parts))))
    }),
    Case::protected(Rule::MissingAuthorizationServers, V2025_06_18, |server| {
        set_resource(server, |document| {
            document.as_object_mut().unwrap().remove("authorization_servers");
        })
    }),
    Case::protected(Rule::MissingAuthorizationServers, V2026_07_28, |server| {
        set_resource(server, |document| document["authorization_servers"] = json!([]))
    }),
    Case::protected(Rule::InvalidResource, V2025_06_18, |server| {
        set_resource(server, |document| document["resource"] = json!("127.0.0.1/mcp"))
    }),
    Case::protected(Rule::InvalidResource, V2025_11_25, |server| {
        set_resource(server, |document| {
            let url = document["resource"].as_str().unwrap();
            document["resource"] = json!(format!("{url}#part"));
        })
    }),
    Case::protected(Rule::InvalidResource, V2026_07_28, |server| {
        set_resource(server, |document| document["resource"] = json!("https://other.example/mcp"))
    }),
    Case::protected(Rule::InsecureAuthorization, V2025_03_26, |server| {
        set_server(server, |document| {
            document["token_endpoint"] = json!("http://issuer.example/token");
        })
    }),
    Case::protected(Rule::InsecureAuthorization, V2026_07_28, |server| {
        set_resource(server, |document| {
            document["authorization_servers"]
                .as_array_mut()
                .unwrap()
                .push(json!("http://issuer.example"));
        })
    }),
    Case::protected(Rule::MissingScope, V2025_11_25, |server| {
        refuse_with(server, |parts| refuse(401, &challenge(parts).replace("scope=\"read\", ", "")))
    }),
    Case::protected(Rule::OfflineAccess, V2026_07_28, |server| {
        refuse_with(server, |parts| {
            refuse(401, &challenge(parts).replace("read\"", "read offline_access\""))
        })
    }),
    Case::protected(Rule::OfflineAccess, V2026_07_28, |server| {
        set_resource(server, |document| {
            document["scopes_supported"] = json!(["read", "offline_access"]);
        })
    }),
    Case::protected(Rule::ScopeChallenge, V2025_11_25, |server| {
        refuse_tool(server, |parts| refuse(401, &insufficient_scope(parts)))
    }),
    Case::protected(Rule::ScopeChallenge, V2026_07_28, |server| {
        refuse_tool(server, |parts| refuse(403, &challenge(parts)))
    }),
    Case::protected(Rule::ScopeChallenge, V2026_07_28, |server| {
        refuse_tool(server, |_| refuse(403, ""))
    }),
    Case::protected(Rule::MissingServerMetadata, V2025_03_26, |server| {
        let server = at(server, RESOURCE_PATH, |_, _| Some(refuse(404, "")));
        at(server, SERVER_PATH, |_, _| Some(refuse(404, "")))
    }),
    Case::protected(Rule::MissingServerMetadata, V2025_11_25, |server| {
        at(server, SERVER_PATH, |_, _| Some(refuse(404, "")))
    }),
    Case::protected(Rule::MissingPkce, V2025_11_25, |server| {
        set_server(server, |document| {
            document.as_object_mut().unwrap().remove("code_challenge_methods_supported");
        })
    }),
];

#[tokio::test(flavor = "multi_thread")]
async fn a_protected_server_is_clean_in_every_revision() {
    let server = protect(AlteredHttp::default());
    let report = check_in(server.start().await, &Revision::ALL).await;
    assert_eq!(report.revisions.len(), 5);
    assert_eq!(bad_rules(&report), [], "{report:#?}");
}

/// A server that refuses every connection is judged by its challenge.
#[tokio::test(flavor = "multi_thread")]
async fn judges_the_challenge_of_a_server_that_needs_a_token() {
    let report = report_without_token(protect(AlteredHttp::default())).await;
    assert_eq!(bad_rules(&report), []);
    assert!(report.token_needed.is_some());
    assert!(!report.is_clean(false));
    assert!(matches!(report.require_connection(), Err(CheckError::TokenNeeded(_))));

    type Alter = fn(AlteredHttp) -> AlteredHttp;
    let broken: [(Rule, Alter); 5] = [
        (Rule::Unauthorized, |server| refuse_with(server, |it| refuse(403, &challenge(it)))),
        (Rule::MissingChallenge, |server| refuse_with(server, |_| refuse(401, ""))),
        (Rule::MissingResourceMetadata, |server| {
            at(server, RESOURCE_PATH, |_, _| Some(refuse(500, "")))
        }),
        (Rule::MissingAuthorizationServers, |server| {
            set_resource(server, |document| document["authorization_servers"] = json!("a"))
        }),
        (Rule::InvalidToken, |server| {
            server.pass(|parts, _| token_of(parts).is_some_and(|it| it.contains("invalid")))
        }),
    ];
    for (rule, alter) in broken {
        let report = report_without_token(protect(alter(AlteredHttp::default()))).await;
        assert!(bad_rules(&report).contains(&rule), "{rule}: {:?}", bad_rules(&report));
        assert!(report.require_connection().is_ok());
    }
}

/// A server may serve anyone, and more to those with a token.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_needs_no_token_is_not_protected() {
    let server = AlteredHttp::default();
    let server = server.pass(|parts, _| parts.uri.path() == "/mcp" && token_of(parts).is_none());
    let report = report_without_token(protect(server)).await;
    assert_eq!(report.revisions.len(), 5);
    assert_eq!(bad_rules(&report), []);
}

/// Checks a server without a token.
async fn report_without_token(server: AlteredHttp) -> CheckReport {
    let mut options = options();
    only_authorization(&mut options);
    let target = server.without_token().start().await;
    check(std::sync::Arc::new(target), options).await.unwrap()
}
