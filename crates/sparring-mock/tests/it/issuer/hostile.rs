//! Attacks: each is rejected with its error.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;
use sparring_mock::Issuer;

use super::test_client::{
    CHALLENGE, REDIRECT_URI, TestClient, VERIFIER, login, redeem, with_param,
};
use crate::fixture::TIMEOUT;

async fn issuer() -> Issuer {
    let builder = Issuer::builder()
        .public_client("app", [REDIRECT_URI])
        .public_client("other", [REDIRECT_URI]);
    builder.client("me", "hush").scopes(["read", "write"]).start().await.unwrap()
}

#[tokio::test]
async fn a_code_is_valid_once_and_only_for_its_client() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    let code = test_client.code("app", &vec![("resource", "https://a.example/mcp")]).await;
    let good = redeem("app", &code);
    for (bad, error) in [
        (with_param(&good, "client_id", "other"), "invalid_grant"),
        (with_param(&good, "client_id", "nobody"), "invalid_client"),
        (with_param(&good, "code", "made up"), "invalid_grant"),
        (with_param(&good, "code", ""), "invalid_request"),
        (with_param(&good, "code_verifier", CHALLENGE), "invalid_grant"),
        (with_param(&good, "code_verifier", ""), "invalid_request"),
        (with_param(&good, "redirect_uri", "http://127.0.0.1:8/back"), "invalid_grant"),
        (with_param(&good, "grant_type", "password"), "unsupported_grant_type"),
        (with_param(&good, "grant_type", ""), "invalid_request"),
        ([&good[..], &[("resource", "https://b.example/mcp")]].concat(), "invalid_target"),
        ([&good[..], &[("code", &*code)]].concat(), "invalid_request"),
    ] {
        let (_, response) = test_client.token(&bad).await;
        assert_eq!(response["error"], error, "{bad:?}");
        assert_eq!(response.get("access_token"), None);
    }
    // The failed attempts did not use up the code, and its client may omit the redirect URI.
    let (status, given) = test_client.token(&with_param(&good, "redirect_uri", "")).await;
    assert_eq!(status, 200, "{given}");
    let token = given["access_token"].as_str().unwrap();
    assert!(issuer.check(token).is_ok());
    let (status, response) = test_client.token(&good).await;
    assert_eq!((status, &response["error"]), (400, &json!("invalid_grant")));
    assert_eq!(issuer.check(token), Err("it was revoked"), "another client has the code");
    let refresh = given["refresh_token"].as_str().unwrap();
    let renewal =
        vec![("grant_type", "refresh_token"), ("client_id", "app"), ("refresh_token", refresh)];
    assert_eq!(test_client.token(&renewal).await.1["error"], "invalid_grant");
}

#[tokio::test]
async fn concurrent_requests_redeem_a_code_once() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    let code = test_client.code("app", &vec![]).await;
    let asked = redeem("app", &code);
    let all = futures_util::future::join_all((0..20).map(|_| test_client.token(&asked))).await;
    assert_eq!(all.iter().filter(|(status, _)| *status == 200).count(), 1);
}

#[tokio::test]
async fn a_refresh_token_is_only_for_its_client() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    let given = test_client.log_in("app", &vec![]).await;
    let refresh = given["refresh_token"].as_str().unwrap();
    let stolen =
        vec![("grant_type", "refresh_token"), ("client_id", "other"), ("refresh_token", refresh)];
    assert_eq!(test_client.token(&stolen).await.1["error"], "invalid_grant");
    assert_eq!(test_client.token(&with_param(&stolen, "client_id", "app")).await.0, 200);
}

#[tokio::test]
async fn redirects_only_to_uris_of_the_client() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    for bad in [
        with_param(&login("app"), "redirect_uri", "http://evil.example/back"),
        with_param(&login("app"), "redirect_uri", "http://127.0.0.1:7/other"),
        with_param(&login("app"), "redirect_uri", "http://127.0.0.1:7/back#x"),
        with_param(&login("app"), "redirect_uri", "http://127.0.0.1:7@evil.example/back"),
        with_param(&login("app"), "redirect_uri", "http://127.0.0.1:7/back\r\nx: y"),
        with_param(&login("app"), "client_id", "nobody"),
        with_param(&login("app"), "client_id", ""),
        [&login("app")[..], &[("redirect_uri", "http://evil.example/")]].concat(),
        [&login("app")[..], &[("client_id", "other")]].concat(),
        // A client without redirect URIs must be on this machine.
        with_param(&login("me"), "redirect_uri", "https://evil.example/back"),
    ] {
        let sent = test_client.browse(&bad).await;
        assert_eq!((sent.status, sent.to), (400, None), "{bad:?}");
    }
    // The only redirect URI of a client need not be sent.
    let sent = test_client.browse(&with_param(&login("app"), "redirect_uri", "")).await;
    assert_eq!(sent.to.as_deref(), Some(REDIRECT_URI));
}

#[tokio::test]
async fn redirects_invalid_logins_with_the_error() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    let good = login("app");
    for (bad, error) in [
        (with_param(&good, "response_type", "token"), "unsupported_response_type"),
        (with_param(&good, "response_type", ""), "invalid_request"),
        (with_param(&good, "code_challenge", ""), "invalid_request"),
        (with_param(&good, "code_challenge", VERIFIER.split_at(20).0), "invalid_request"),
        (with_param(&good, "code_challenge_method", "plain"), "invalid_request"),
        (with_param(&good, "code_challenge_method", ""), "invalid_request"),
        ([&good[..], &[("scope", "read admin")]].concat(), "invalid_scope"),
        ([&good[..], &[("resource", "not absolute")]].concat(), "invalid_target"),
        ([&good[..], &[("resource", "https://a.example/#x")]].concat(), "invalid_target"),
        ([&good[..], &[("state", "again")]].concat(), "invalid_request"),
    ] {
        let sent = test_client.browse(&bad).await;
        assert_eq!(sent.to.as_deref(), Some(REDIRECT_URI), "{bad:?}");
        let found = sent.params.get("error").map(String::as_str);
        assert_eq!(found, Some(error), "{bad:?}");
        assert_eq!((&*sent.params["state"], &*sent.params["iss"]), ("xyz", &*issuer.url()));
        assert!(!sent.params.contains_key("code"));
    }
}

/// Sends raw bytes and returns the first line of the response.
fn raw(issuer: &Issuer, head: &str, body: &[u8]) -> String {
    let address = issuer.url().trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    let head = format!("{head} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(b"connection: close\r\n\r\n").unwrap();
    stream.write_all(body).unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).unwrap();
    String::from_utf8_lossy(&response).lines().next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn rejects_malformed_requests() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    let (status, response) =
        test_client.json("/token", json!({"grant_type": "client_credentials"})).await;
    assert_eq!((status, &response["error"]), (400, &json!("invalid_request")));
    let huge = "x".repeat(1024 * 1024);
    let (status, _) = test_client.token(&vec![("grant_type", &*huge)]).await;
    assert_eq!(status, 413);
    assert_eq!(issuer.requests().last().unwrap().body, b"", "what is huge is not kept");
    assert_eq!(test_client.json("/register", json!({"x": huge})).await.0, 413);
    assert_eq!(raw(&issuer, "POST /token", &[0xff; 100]), "HTTP/1.1 400 Bad Request");
    assert_eq!(raw(&issuer, "GET /token", b""), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(raw(&issuer, "DELETE /authorize", b""), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(raw(&issuer, "POST /jwks.json", b""), "HTTP/1.1 405 Method Not Allowed");
    assert_eq!(raw(&issuer, "OPTIONS /token", b""), "HTTP/1.1 204 No Content");
    assert_eq!(raw(&issuer, "GET /nothing", b""), "HTTP/1.1 404 Not Found");
    let deep = "[".repeat(10_000);
    assert_eq!(raw(&issuer, "POST /register", deep.as_bytes()), "HTTP/1.1 400 Bad Request");
}

#[tokio::test]
async fn debug_output_has_no_secrets() {
    let issuer = issuer().await;
    assert!(!format!("{issuer:?}").contains("hush"));
    let builder = Issuer::builder().with("clients", json!([{"id": "a", "secret": "hush", "x": 1}]));
    let error = builder.start().await.unwrap_err().to_string();
    assert!(error.contains("unknown key `x` in a client"), "{error}");
}
