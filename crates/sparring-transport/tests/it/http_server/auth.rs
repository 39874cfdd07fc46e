//! Authorization: accepted credentials, and the responses to all others.

use std::sync::Arc;

use http::{Request, StatusCode};
use serde_json::json;
use sparring_transport::http::{Auth, HttpOptions, ProtectedResource, TokenVerifier};
use sparring_wire::{Frame, Revision};

use super::fixture::{TestServer, options};
use super::requests::{
    bare, call, get_in, initialize, modern_body, modern_post, post, post_in, request, with,
};

fn list_request(credentials: Option<&str>) -> Request<http_body_util::Full<bytes::Bytes>> {
    let body = modern_body(request("tools/list", json!({})));
    let builder = modern_post(&body);
    let builder = match credentials {
        Some(credentials) => builder.header("authorization", credentials),
        None => builder,
    };
    with(builder, body.to_string())
}

#[tokio::test]
async fn bearer_tokens_are_asked_for_and_checked() {
    let metadata = ProtectedResource {
        resource: Some("https://mcp.example.com/mcp".to_owned()),
        authorization_servers: vec!["https://login.example.com".to_owned()],
        scopes: vec!["tools".to_owned()],
    };
    let auth = Auth::default().bearer("right");
    let test_server =
        TestServer::with(HttpOptions { auth, metadata: Some(metadata), ..options() }).await;
    let mut connection = test_server.connect().await;
    let url = "https://mcp.example.com/.well-known/oauth-protected-resource/mcp";

    let none = connection.ask(list_request(None)).await;
    assert_eq!(none.status, StatusCode::UNAUTHORIZED);
    let challenge = format!("Bearer resource_metadata=\"{url}\"");
    assert_eq!(none.header("www-authenticate"), challenge);
    let wrong = connection.ask(list_request(Some("Bearer wrong"))).await;
    assert_eq!(wrong.status, StatusCode::FORBIDDEN);
    let challenge = format!("Bearer error=\"invalid_token\", resource_metadata=\"{url}\"");
    assert_eq!(wrong.header("www-authenticate"), challenge);
    assert!(!format!("{:?}", test_server.http).contains("right"));
    assert_eq!(connection.ask(list_request(Some("Bearer right"))).await.status, StatusCode::OK);

    // The metadata is available without a token.
    for path in
        ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]
    {
        let response = connection.ask(bare(Request::get(path).header("host", "localhost"))).await;
        assert_eq!(
            response.json(),
            json!({
                "resource": "https://mcp.example.com/mcp",
                "authorization_servers": ["https://login.example.com"],
                "scopes_supported": ["tools"],
                "bearer_methods_supported": ["header"],
            })
        );
        let head = connection.ask(bare(Request::head(path).header("host", "localhost"))).await;
        assert_eq!((head.status, head.bytes.len()), (StatusCode::OK, 0));
    }
    let other = Request::get("/.well-known/oauth-protected-resource/x").header("host", "localhost");
    assert_eq!(connection.ask(bare(other)).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn basic_credentials_are_asked_for_and_checked() {
    let auth = Auth::default().basic("ann", "secret");
    let test_server = TestServer::with(HttpOptions { auth, ..options() }).await;
    let mut connection = test_server.connect().await;
    let none = connection.ask(list_request(None)).await;
    assert_eq!(none.status, StatusCode::UNAUTHORIZED);
    assert_eq!(none.header("www-authenticate"), "Basic realm=\"mcp\", charset=\"UTF-8\"");
    // ann:secret and ann:wrong
    assert_eq!(
        connection.ask(list_request(Some("Basic YW5uOnNlY3JldA=="))).await.status,
        StatusCode::OK
    );
    let wrong = connection.ask(list_request(Some("Basic YW5uOndyb25n"))).await;
    assert_eq!(wrong.status, StatusCode::FORBIDDEN);
    assert_eq!(
        connection.ask(list_request(Some("Bearer ann"))).await.status,
        StatusCode::UNAUTHORIZED
    );
}

#[tokio::test]
async fn metadata_names_the_address_of_the_request() {
    let metadata = Some(ProtectedResource::default());
    let auth = Auth::default().bearer("right");
    let test_server = TestServer::with(HttpOptions { auth, metadata, ..options() }).await;
    let none = test_server.connect().await.ask(list_request(None)).await;
    let url = "http://localhost/.well-known/oauth-protected-resource/mcp";
    assert_eq!(none.header("www-authenticate"), format!("Bearer resource_metadata=\"{url}\""));
}

#[tokio::test]
async fn the_challenge_names_the_url_of_the_metadata_for_every_address() {
    let resource = Some("https://mcp.example.com/behind/a/proxy/".to_owned());
    let metadata = Some(ProtectedResource { resource, ..ProtectedResource::default() });
    let auth = Auth::default().bearer("right");
    let test_server = TestServer::with(HttpOptions { auth, metadata, ..options() }).await;
    let mut connection = test_server.connect().await;
    let path = "/.well-known/oauth-protected-resource/behind/a/proxy";
    let challenge = format!("Bearer resource_metadata=\"https://mcp.example.com{path}\"");
    assert_eq!(connection.ask(list_request(None)).await.header("www-authenticate"), challenge);
    let response = connection.ask(bare(Request::get(path).header("host", "localhost"))).await;
    assert_eq!(response.json()["resource"], "https://mcp.example.com/behind/a/proxy/");

    // An invalid host must not appear between the quotes.
    let metadata = Some(ProtectedResource::default());
    let auth = Auth::default().bearer("right");
    let any = Some(vec!["*".to_owned()]);
    let options = HttpOptions { auth, metadata, allowed_hosts: any, ..options() };
    let test_server = TestServer::with(options).await;
    let mut malformed = list_request(None);
    malformed.headers_mut().insert("host", "a\", error=\"b".parse().unwrap());
    let url = "http://localhost/.well-known/oauth-protected-resource/mcp";
    let challenge = format!("Bearer resource_metadata=\"{url}\"");
    let response = test_server.connect().await.ask(malformed).await;
    assert_eq!(response.header("www-authenticate"), challenge);
}

/// Accepts tokens that consist of the resource URL and the scopes.
#[derive(Debug)]
struct ScopeTokens(Vec<String>);

impl TokenVerifier for ScopeTokens {
    fn verify(&self, token: &str, resource: &str) -> Result<Vec<String>, String> {
        let rest = token.strip_prefix(resource).ok_or("it is for somebody else")?;
        Ok(rest.split(',').map(str::to_owned).collect())
    }

    fn required_scopes(&self) -> &[String] {
        &self.0
    }

    fn required_scopes_for(&self, frame: &Frame) -> Vec<String> {
        let lists = frame.method() == Some("tools/list");
        if lists { vec!["list".to_owned()] } else { Vec::new() }
    }
}

#[tokio::test]
async fn accepts_tokens_that_a_verifier_accepts() {
    let auth = Auth::default().bearer("plain").tokens(Arc::new(ScopeTokens(vec!["in".to_owned()])));
    let servers = vec!["/".to_owned(), "/as".to_owned(), "https://a.example".to_owned()];
    let metadata =
        ProtectedResource { authorization_servers: servers, ..ProtectedResource::default() };
    let test_server =
        TestServer::with(HttpOptions { auth, metadata: Some(metadata), ..options() }).await;
    let mut connection = test_server.connect().await;
    let url = "http://localhost/.well-known/oauth-protected-resource/mcp";
    let response = connection.ask(bare(Request::get(url).header("host", "localhost"))).await;
    let servers = json!(["http://localhost", "http://localhost/as", "https://a.example"]);
    assert_eq!(response.json()["authorization_servers"], servers);
    let pointer = format!("resource_metadata=\"{url}\"");
    let wrong = "error=\"invalid_token\", error_description=\"it is for somebody else\"";
    let little = "error=\"insufficient_scope\"";
    for (token, status, challenge) in [
        (None, 401, format!("Bearer scope=\"in\", {pointer}")),
        (Some("http://other/mcp,in"), 401, format!("Bearer {wrong}, scope=\"in\", {pointer}")),
        (Some("http://localhost/mcp,x"), 403, format!("Bearer {little}, scope=\"in\", {pointer}")),
        (
            Some("http://localhost/mcp,in"),
            403,
            format!("Bearer {little}, scope=\"in list\", {pointer}"),
        ),
        (Some("http://localhost/mcp,in,list"), 200, String::new()),
        (Some("plain"), 200, String::new()),
    ] {
        let credentials = token.map(|token| format!("Bearer {token}"));
        let response = connection.ask(list_request(credentials.as_deref())).await;
        assert_eq!(response.status.as_u16(), status, "{token:?}");
        if status != 200 {
            assert_eq!(response.header("www-authenticate"), challenge, "{token:?}");
        }
    }
}

#[tokio::test]
async fn a_session_is_only_for_the_credential_that_opened_it() {
    let auth = Auth::default().bearer("one").bearer("two").basic("ann", "secret");
    let auth = auth.tokens(Arc::new(ScopeTokens(vec!["in".to_owned()])));
    let test_server = TestServer::with(HttpOptions { auth, ..options() }).await;
    let mut connection = test_server.connect().await;
    let owners = [
        "Bearer one",
        "Bearer two",
        // ann:secret
        "Basic YW5uOnNlY3JldA==",
        "Bearer http://localhost/mcp,in",
        "Bearer http://localhost/mcp,in,more",
    ];
    let with_owner = |mut request: Request<http_body_util::Full<bytes::Bytes>>, owner: &str| {
        request.headers_mut().insert("authorization", owner.parse().unwrap());
        request
    };
    for owner in owners {
        let opening = with_owner(post(&initialize(Revision::LATEST_LEGACY)), owner);
        let opened = connection.ask(opening).await;
        let id = opened.header("mcp-session-id").to_owned();
        for other in owners.into_iter().filter(|other| *other != owner) {
            let delete = Request::delete("/mcp").header("host", "localhost");
            for request in [
                post_in(&id, &call(2, "echo")),
                bare(get_in(&id)),
                bare(delete.header("mcp-session-id", &id)),
            ] {
                let refused = connection.ask(with_owner(request, other)).await;
                assert_eq!(refused.status, StatusCode::NOT_FOUND, "{other} used that of {owner}");
            }
        }
        let answer = connection.ask(with_owner(post_in(&id, &call(3, "echo")), owner)).await;
        assert_eq!(answer.status, StatusCode::OK, "{owner}");
    }
}
