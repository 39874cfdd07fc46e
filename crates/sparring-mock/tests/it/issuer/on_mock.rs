//! A mock that accepts the tokens of its own issuer.

use std::future::IntoFuture as _;

use serde_json::{Value, json};
use sparring_mock::{MockServer, Token, TokenFault};
use sparring_transport::http::HttpServerHandle;

use super::test_client::{REDIRECT_URI, TestClient, claims, login};
use crate::fixture::{listen, mock, within};

const SCRIPT: &str = "
control: {token: operator}
auth:
  oauth:
    scopes: [read, write]
    requires: read
    tools: {wipe: write}
    clients: [{id: robot, secret: hush}, {id: app}]
tools: [{name: look, text: seen}, {name: wipe, text: gone}]
";

/// The response: status, challenge and body.
#[derive(Debug)]
struct HttpResult {
    status: u16,
    challenge: String,
    body: Value,
}

/// Sends a request with additional headers.
async fn ask(url: &str, more: &[(&str, &str)], token: Option<&str>, body: Value) -> HttpResult {
    let request = reqwest::Client::new().post(url).body(body.to_string());
    let mut request = request
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    for (name, value) in more {
        request = request.header(*name, *value);
    }
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    let response = within(request.send()).await.unwrap();
    let status = response.status().as_u16();
    let challenge = response.headers().get("www-authenticate");
    let challenge = challenge.map(|it| it.to_str().unwrap().to_owned()).unwrap_or_default();
    let text = within(response.text()).await.unwrap();
    HttpResult { status, challenge, body: serde_json::from_str(&text).unwrap_or_default() }
}

fn call(tool: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "t", "version": "1"},
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
           "params": {"name": tool, "arguments": {}, "_meta": meta}})
}

/// Calls a tool with 2026-07-28.
async fn call_tool(url: &str, token: Option<&str>, tool: &str) -> HttpResult {
    let revision = ("mcp-protocol-version", "2026-07-28");
    let headers = [revision, ("mcp-method", "tools/call"), ("mcp-name", tool)];
    ask(url, &headers, token, call(tool)).await
}

fn url(mock: &MockServer, serving: &HttpServerHandle) -> String {
    mock.urls(serving.address().unwrap()).mcp
}

#[tokio::test]
async fn a_request_without_a_token_gets_the_metadata_url() {
    let mock = mock(SCRIPT);
    let serving = listen(&mock).await;
    let url = url(&mock, &serving);
    let origin = url.strip_suffix("/mcp").unwrap();
    let response = call_tool(&url, None, "look").await;
    let metadata = format!("{origin}/.well-known/oauth-protected-resource/mcp");
    let challenge = format!("Bearer scope=\"read\", resource_metadata=\"{metadata}\"");
    assert_eq!((response.status, response.challenge), (401, challenge));
    let test_client = TestClient::at(origin.to_owned());
    for (path, resource) in [("/mcp", "/mcp"), ("", "/mcp"), ("/sse", "/sse")] {
        let metadata_url = format!("{origin}/.well-known/oauth-protected-resource{path}");
        let response = test_client.get(&metadata_url).await.1;
        assert_eq!(response["resource"], format!("{origin}{resource}"));
        assert_eq!(response["authorization_servers"], json!([origin]));
        assert_eq!(response["scopes_supported"], json!(["read", "write"]));
    }
    assert_eq!(mock.issuer().unwrap().url(), origin);
    let sse = within(reqwest::get(format!("{origin}/sse")).into_future()).await.unwrap();
    let challenge = sse.headers()["www-authenticate"].to_str().unwrap();
    assert!(challenge.ends_with("/oauth-protected-resource/sse\""), "{challenge}");
}

#[tokio::test]
async fn reports_why_a_token_is_rejected() {
    let mock = mock(SCRIPT);
    let serving = listen(&mock).await;
    let url = url(&mock, &serving);
    let issuer = mock.issuer().unwrap();
    let good = issuer.token(Token::default());
    let response = call_tool(&url, Some(&good), "look").await;
    assert_eq!(response.status, 200, "{response:?}");
    for (token, status, expected) in [
        (Token::default().fault(TokenFault::Signature), 401, "the signature is not the issuer's"),
        (Token::default().fault(TokenFault::Issuer), 401, "it is from another issuer"),
        (Token::default().fault(TokenFault::Audience), 401, "it is for another audience"),
        (Token::for_server(format!("{url}/other")), 401, "it is for another audience"),
        (Token::for_server(url.replace("http", "https")), 401, "it is for another audience"),
        (Token::default().fault(TokenFault::Expired), 401, "it has expired"),
        (Token::default().fault(TokenFault::Scope), 403, "insufficient_scope"),
        (Token::default().scopes(["write"]), 403, "insufficient_scope"),
        (Token::default().scopes(["read"]), 200, ""),
        (Token::for_server(url.strip_suffix("/mcp").unwrap()), 200, ""),
        (Token::for_server(url.replace("/mcp", "/sse")), 200, ""),
    ] {
        let response = call_tool(&url, Some(&issuer.token(token.clone())), "look").await;
        assert_eq!(response.status, status, "{token:?}: {response:?}");
        assert!(response.challenge.contains(expected), "{token:?}: {response:?}");
        let invalid = response.challenge.contains("error=\"invalid_token\"");
        assert_eq!(invalid, status == 401, "{token:?}");
    }
    for bad in ["x", "a.b.c", "..", "ä"] {
        assert_eq!(call_tool(&url, Some(bad), "look").await.status, 401, "{bad}");
    }
    issuer.expire_all();
    assert!(call_tool(&url, Some(&good), "look").await.challenge.contains("it has expired"));
    let good = issuer.token(Token::default());
    mock.reset();
    assert_eq!(call_tool(&url, Some(&good), "look").await.status, 401, "reset knows no token");
}

#[tokio::test]
async fn a_tool_can_need_more_scopes() {
    let mock = mock(SCRIPT);
    let serving = listen(&mock).await;
    let url = url(&mock, &serving);
    let issuer = mock.issuer().unwrap();
    let (less, more) =
        (issuer.token(Token::default().scopes(["read"])), issuer.token(Token::default()));
    let response = call_tool(&url, Some(&less), "wipe").await;
    assert_eq!((response.status, &response.body["id"]), (403, &json!(1)));
    let challenge = "Bearer error=\"insufficient_scope\", scope=\"read write\", ";
    assert!(response.challenge.starts_with(challenge), "{}", response.challenge);
    assert_eq!(call_tool(&url, Some(&more), "wipe").await.status, 200);
    assert_eq!(call_tool(&url, Some(&less), "look").await.status, 200);
    // A batch does not bypass the check.
    let initialize = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-03-26", "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"}}});
    let batch = json!([initialize, call("look"), call("wipe")]);
    assert_eq!(ask(&url, &[], Some(&less), batch).await.status, 403);
    assert_eq!(mock.received_for("wipe").len(), 1);
}

#[tokio::test]
async fn a_token_is_for_the_host_that_it_was_requested_from() {
    let mock = mock(SCRIPT);
    let serving = listen(&mock).await;
    let url = url(&mock, &serving);
    let port = serving.address().unwrap().port();
    let test_client = TestClient::at(format!("http://localhost:{port}"));
    let asked = vec![("grant_type", "client_credentials"), ("basic", "robot:hush")];
    let token = test_client.token(&asked).await.1["access_token"].as_str().unwrap().to_owned();
    let claims = claims(&token);
    assert_eq!(claims["iss"], format!("http://localhost:{port}"));
    assert_eq!(claims["aud"], format!("http://localhost:{port}/mcp"));
    let by_name = url.replace("127.0.0.1", "localhost");
    assert_eq!(call_tool(&by_name, Some(&token), "look").await.status, 200);
    assert_eq!(call_tool(&url, Some(&token), "look").await.status, 401);
    // A foreign `Host` header is rejected like everywhere else.
    let strange = ask(&url, &[("host", "evil.example")], Some(&token), call("look")).await;
    assert_eq!(strange.status, 403);
    for resource in ["https://other.example/mcp", &format!("{url}/deeper"), &by_name] {
        let test_client = TestClient::at(url.strip_suffix("/mcp").unwrap().to_owned());
        let pairs = [&login("app")[..], &[("resource", resource)]].concat();
        assert_eq!(
            test_client.browse(&pairs).await.params["error"],
            "invalid_target",
            "{resource}"
        );
        let asked = [&asked[..], &[("resource", resource)]].concat();
        assert_eq!(test_client.token(&asked).await.1["error"], "invalid_target", "{resource}");
    }
}

#[tokio::test]
async fn an_issuer_can_have_a_path_and_a_mock_other_credentials() {
    let script = "
auth: {bearer: [plain], oauth: {path: /as}}
paths: {mcp: /a/mcp, sse: /a/sse, messages: /a/post}
tools: [{name: look, text: seen}]";
    let mock = mock(script);
    let serving = listen(&mock).await;
    let url = url(&mock, &serving);
    let origin = url.strip_suffix("/a/mcp").unwrap();
    let test_client = TestClient::at(format!("{origin}/as"));
    let metadata_url = format!("{origin}/.well-known/oauth-protected-resource/a/mcp");
    let response = test_client.get(&metadata_url).await.1;
    assert_eq!(response["authorization_servers"], json!([format!("{origin}/as")]));
    let metadata_url = format!("{origin}/.well-known/oauth-authorization-server/as");
    assert_eq!(test_client.get(&metadata_url).await.1["issuer"], format!("{origin}/as"));
    let body = json!({"redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": "none"});
    let id = test_client.json("/register", body).await.1["client_id"].as_str().unwrap().to_owned();
    let given = test_client.log_in(&id, &vec![]).await;
    let token = given["access_token"].as_str().unwrap();
    for good in [token, "plain"] {
        assert_eq!(call_tool(&url, Some(good), "look").await.status, 200);
    }
    let response = call_tool(&url, Some("other"), "look").await;
    assert_eq!(response.status, 401, "only the issuer can tell the fault: {response:?}");
}

#[tokio::test]
async fn controls_the_issuer_over_http() {
    let mock = mock(SCRIPT);
    let serving = listen(&mock).await;
    let url = url(&mock, &serving);
    let test_client =
        TestClient::at(url.strip_suffix("/mcp").unwrap().to_owned()).with_bearer("operator");
    let made = async |body: Value| {
        let (status, response) = test_client.json("/_spar/oauth/token", body).await;
        assert_eq!(status, 200, "{response}");
        response["access_token"].as_str().unwrap().to_owned()
    };
    let good = made(json!({})).await;
    assert_eq!(call_tool(&url, Some(&good), "wipe").await.status, 200);
    let bad = made(json!({"wrong": "audience", "scopes": "read"})).await;
    assert!(
        call_tool(&url, Some(&bad), "look").await.challenge.contains("it is for another audience")
    );
    let claims = claims(&made(json!({"subject": "ann", "client_id": "c", "lifetime": "5s"})).await);
    assert_eq!((&claims["sub"], &claims["client_id"]), (&json!("ann"), &json!("c")));
    assert_eq!(test_client.json("/_spar/oauth/expire", json!({})).await.0, 200);
    assert!(call_tool(&url, Some(&good), "look").await.challenge.contains("it has expired"));
    let change = json!({"refuse": ["invalid_grant"], "wrong": "signature"});
    assert_eq!(test_client.json("/_spar/oauth", change).await.0, 200);
    let asked = vec![("grant_type", "client_credentials"), ("basic", "robot:hush")];
    assert_eq!(test_client.token(&asked).await.1["error"], "invalid_grant");
    let token = test_client.token(&asked).await.1["access_token"].as_str().unwrap().to_owned();
    assert!(call_tool(&url, Some(&token), "look").await.challenge.contains("signature"));
    let journal = test_client.get(&format!("{}/_spar/oauth", test_client.url)).await.1;
    assert_eq!(journal["received"][0]["params"], json!({"grant_type": "client_credentials"}));
    assert_eq!(journal["received"][0]["authorization"], "Basic (hidden)");
    assert_eq!(test_client.json("/_spar/reset", json!({})).await.0, 200);
    assert_eq!(test_client.token(&asked).await.0, 200);
    for (path, body, status) in [
        ("/_spar/oauth", json!({"lifetime": 5}), 400),
        ("/_spar/oauth", json!({"scopes": []}), 400),
        ("/_spar/oauth/token", json!({"audiance": "x"}), 400),
        ("/_spar/oauth/nothing", json!({}), 404),
    ] {
        assert_eq!(test_client.json(path, body).await.0, status, "{path}");
    }
    let plain = crate::fixture::mock("tools: [{name: look, text: seen}]");
    let serving = listen(&plain).await;
    let test_client = TestClient::at(format!("http://{}", serving.address().unwrap()));
    assert_eq!(test_client.json("/_spar/oauth/expire", json!({})).await.0, 404);
    assert_eq!(test_client.json("/token", json!({})).await.0, 404, "the mock has no issuer");
}

#[tokio::test]
async fn the_journal_has_no_secrets() {
    let mock = mock(SCRIPT);
    let serving = listen(&mock).await;
    let url = url(&mock, &serving);
    let test_client =
        TestClient::at(url.strip_suffix("/mcp").unwrap().to_owned()).with_bearer("operator");
    let given = test_client.log_in("app", &vec![]).await;
    let refresh = given["refresh_token"].as_str().unwrap();
    let renewal =
        vec![("grant_type", "refresh_token"), ("client_id", "app"), ("refresh_token", refresh)];
    let given = test_client.token(&renewal).await.1;
    let by_secret = vec![
        ("grant_type", "client_credentials"),
        ("client_id", "robot"),
        ("client_secret", "hush"),
    ];
    assert_eq!(test_client.token(&by_secret).await.0, 200);
    let token = given["access_token"].as_str().unwrap();
    assert_eq!(call_tool(&url, Some(token), "look").await.status, 200);
    assert_eq!(test_client.post("/introspect", &vec![("token", token)]).await.0, 200);
    let journal = test_client.get(&format!("{}/_spar/oauth", test_client.url)).await.1.to_string();
    let received =
        test_client.get(&format!("{}/_spar/journal", test_client.url)).await.1.to_string();
    assert!(journal.contains("/token") && received.contains("look"));
    let shown = format!("{journal}{received}{mock:?}");
    for secret in ["hush", token, refresh, super::test_client::VERIFIER] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
}
