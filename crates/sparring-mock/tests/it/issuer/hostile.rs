//! What nobody should do: each is refused by its name, and nothing is given.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::json;
use sparring_mock::Issuer;

use super::visitor::{BACK, CHALLENGE, VERIFIER, Visitor, but, login, redeem};
use crate::fixture::PATIENCE;

async fn issuer() -> Issuer {
    let builder = Issuer::builder().public_client("app", [BACK]).public_client("other", [BACK]);
    builder.client("me", "hush").scopes(["read", "write"]).start().await.unwrap()
}

#[tokio::test]
async fn a_code_is_good_once_and_for_whom_it_was_given() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    let code = visitor.code("app", &vec![("resource", "https://a.example/mcp")]).await;
    let good = redeem("app", &code);
    for (bad, error) in [
        (but(&good, "client_id", "other"), "invalid_grant"),
        (but(&good, "client_id", "nobody"), "invalid_client"),
        (but(&good, "code", "made up"), "invalid_grant"),
        (but(&good, "code", ""), "invalid_request"),
        (but(&good, "code_verifier", CHALLENGE), "invalid_grant"),
        (but(&good, "code_verifier", ""), "invalid_request"),
        (but(&good, "redirect_uri", "http://127.0.0.1:8/back"), "invalid_grant"),
        (but(&good, "grant_type", "password"), "unsupported_grant_type"),
        (but(&good, "grant_type", ""), "invalid_request"),
        ([&good[..], &[("resource", "https://b.example/mcp")]].concat(), "invalid_target"),
        ([&good[..], &[("code", &*code)]].concat(), "invalid_request"),
    ] {
        let (_, told) = visitor.token(&bad).await;
        assert_eq!(told["error"], error, "{bad:?}");
        assert_eq!(told.get("access_token"), None);
    }
    // None of that has used it up, and its own client may leave the address out.
    let (status, given) = visitor.token(&but(&good, "redirect_uri", "")).await;
    assert_eq!(status, 200, "{given}");
    let token = given["access_token"].as_str().unwrap();
    assert!(issuer.check(token).is_ok());
    let (status, told) = visitor.token(&good).await;
    assert_eq!((status, &told["error"]), (400, &json!("invalid_grant")));
    assert_eq!(issuer.check(token), Err("it was revoked"), "somebody else has the code");
    let refresh = given["refresh_token"].as_str().unwrap();
    let renewal =
        vec![("grant_type", "refresh_token"), ("client_id", "app"), ("refresh_token", refresh)];
    assert_eq!(visitor.token(&renewal).await.1["error"], "invalid_grant");
}

#[tokio::test]
async fn of_many_who_have_the_same_code_one_gets_a_token() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    let code = visitor.code("app", &vec![]).await;
    let asked = redeem("app", &code);
    let all = futures_util::future::join_all((0..20).map(|_| visitor.token(&asked))).await;
    assert_eq!(all.iter().filter(|(status, _)| *status == 200).count(), 1);
}

#[tokio::test]
async fn a_token_for_renewing_is_its_clients() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    let given = visitor.log_in("app", &vec![]).await;
    let refresh = given["refresh_token"].as_str().unwrap();
    let stolen =
        vec![("grant_type", "refresh_token"), ("client_id", "other"), ("refresh_token", refresh)];
    assert_eq!(visitor.token(&stolen).await.1["error"], "invalid_grant");
    assert_eq!(visitor.token(&but(&stolen, "client_id", "app")).await.0, 200);
}

#[tokio::test]
async fn nobody_is_sent_where_the_client_is_not() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    for bad in [
        but(&login("app"), "redirect_uri", "http://evil.example/back"),
        but(&login("app"), "redirect_uri", "http://127.0.0.1:7/other"),
        but(&login("app"), "redirect_uri", "http://127.0.0.1:7/back#x"),
        but(&login("app"), "redirect_uri", "http://127.0.0.1:7@evil.example/back"),
        but(&login("app"), "redirect_uri", "http://127.0.0.1:7/back\r\nx: y"),
        but(&login("app"), "client_id", "nobody"),
        but(&login("app"), "client_id", ""),
        [&login("app")[..], &[("redirect_uri", "http://evil.example/")]].concat(),
        [&login("app")[..], &[("client_id", "other")]].concat(),
        // One that named no address comes from this machine.
        but(&login("me"), "redirect_uri", "https://evil.example/back"),
    ] {
        let sent = visitor.browse(&bad).await;
        assert_eq!((sent.status, sent.to), (400, None), "{bad:?}");
    }
    // The only address of a client need not be named.
    let sent = visitor.browse(&but(&login("app"), "redirect_uri", "")).await;
    assert_eq!(sent.to.as_deref(), Some(BACK));
}

#[tokio::test]
async fn a_login_that_makes_no_sense_is_sent_back_with_the_reason() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    let good = login("app");
    for (bad, error) in [
        (but(&good, "response_type", "token"), "unsupported_response_type"),
        (but(&good, "response_type", ""), "invalid_request"),
        (but(&good, "code_challenge", ""), "invalid_request"),
        (but(&good, "code_challenge", VERIFIER.split_at(20).0), "invalid_request"),
        (but(&good, "code_challenge_method", "plain"), "invalid_request"),
        (but(&good, "code_challenge_method", ""), "invalid_request"),
        ([&good[..], &[("scope", "read admin")]].concat(), "invalid_scope"),
        ([&good[..], &[("resource", "not absolute")]].concat(), "invalid_target"),
        ([&good[..], &[("resource", "https://a.example/#x")]].concat(), "invalid_target"),
        ([&good[..], &[("state", "again")]].concat(), "invalid_request"),
    ] {
        let sent = visitor.browse(&bad).await;
        assert_eq!(sent.to.as_deref(), Some(BACK), "{bad:?}");
        let came = sent.brings.get("error").map(String::as_str);
        assert_eq!(came, Some(error), "{bad:?}");
        assert_eq!((&*sent.brings["state"], &*sent.brings["iss"]), ("xyz", &*issuer.url()));
        assert!(!sent.brings.contains_key("code"));
    }
}

/// Sends these bytes, and gives the first line of what comes back.
fn raw(issuer: &Issuer, head: &str, body: &[u8]) -> String {
    let address = issuer.url().trim_start_matches("http://").to_owned();
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!("{head} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n", body.len());
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(b"connection: close\r\n\r\n").unwrap();
    stream.write_all(body).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_request_is_refused() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    let (status, told) = visitor.json("/token", json!({"grant_type": "client_credentials"})).await;
    assert_eq!((status, &told["error"]), (400, &json!("invalid_request")));
    let huge = "x".repeat(1024 * 1024);
    let (status, _) = visitor.token(&vec![("grant_type", &*huge)]).await;
    assert_eq!(status, 413);
    assert_eq!(issuer.requests().last().unwrap().body, b"", "what is huge is not kept");
    assert_eq!(visitor.json("/register", json!({"x": huge})).await.0, 413);
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
async fn no_secret_is_shown() {
    let issuer = issuer().await;
    assert!(!format!("{issuer:?}").contains("hush"));
    let builder = Issuer::builder().with("clients", json!([{"id": "a", "secret": "hush", "x": 1}]));
    let error = builder.start().await.unwrap_err().to_string();
    assert!(error.contains("unknown key `x` in a client"), "{error}");
}
