//! Faulty tokens, refusals and malformed replies on demand.

use std::time::Duration;

use serde_json::json;
use sparring_mock::{HttpReply, Issuer, Token, TokenFault};

use super::test_client::{TestClient, claims};

const ALL: [(TokenFault, &str); 4] = [
    (TokenFault::Signature, "the signature is not the issuer's"),
    (TokenFault::Issuer, "it is from another issuer"),
    (TokenFault::Expired, "it has expired"),
    (TokenFault::None, ""),
];

#[tokio::test]
async fn issues_a_token_as_described() {
    let issuer = Issuer::builder().scopes(["read", "write"]).start().await.unwrap();
    let server = "https://server.example/mcp";
    let token = issuer.token(Token::for_server(server));
    let accepted = issuer.check(&token).unwrap();
    assert_eq!((&accepted["aud"], &accepted["scope"]), (&json!(server), &json!("read write")));
    let token = Token::for_server(server).scopes(["read"]).subject("ann").client("app");
    let accepted = issuer.check(&issuer.token(token.lifetime(Duration::from_secs(5)))).unwrap();
    assert_eq!((&accepted["sub"], &accepted["client_id"]), (&json!("ann"), &json!("app")));
    assert_eq!(accepted["scope"], "read");
    assert_eq!(accepted["exp"].as_u64().unwrap() - accepted["iat"].as_u64().unwrap(), 5);
    for (wrong, why) in ALL {
        let token = issuer.token(Token::for_server(server).fault(wrong));
        match issuer.check(&token) {
            Ok(_) => assert_eq!(wrong, TokenFault::None),
            Err(response) => assert_eq!(response, why),
        }
    }
    let audience = claims(&issuer.token(Token::for_server(server).fault(TokenFault::Audience)));
    assert_ne!(audience["aud"], server);
    let scope = claims(&issuer.token(Token::for_server(server).fault(TokenFault::Scope)));
    assert_eq!(scope.get("scope"), None);
    let over = issuer.token(Token::for_server(server).lifetime(Duration::ZERO));
    assert_eq!(issuer.check(&over).unwrap_err(), "it has expired");
    // Less than a second is rounded up.
    let short = Token::for_server(server).lifetime(Duration::from_millis(1));
    let short = claims(&issuer.token(short));
    assert_eq!(short["exp"].as_u64().unwrap() - short["iat"].as_u64().unwrap(), 1);
}

#[tokio::test]
async fn faults_apply_as_often_as_scripted() {
    let issuer = Issuer::builder().client("me", "hush").start().await.unwrap();
    let test_client = TestClient::new(&issuer);
    let asked = vec![("grant_type", "client_credentials"), ("basic", "me:hush")];
    let token = async || {
        let (status, given) = test_client.token(&asked).await;
        match status {
            200 => issuer.check(given["access_token"].as_str().unwrap()).err().unwrap_or("good"),
            _ if given["error"] == "invalid_grant" => "invalid_grant",
            _ => "something else",
        }
    };
    issuer.fault_next_token(TokenFault::Signature);
    issuer.fault_next_token(TokenFault::Expired);
    assert_eq!(token().await, "the signature is not the issuer's");
    assert_eq!(token().await, "it has expired");
    assert_eq!(token().await, "good");
    issuer.change(json!({"wrong": ["nothing", "issuer"]})).unwrap();
    assert_eq!(token().await, "good");
    assert_eq!(token().await, "it is from another issuer");
    assert_eq!(token().await, "good");
    issuer.change(json!({"wrong": "expired", "refuse": ["invalid_grant"]})).unwrap();
    assert_eq!(token().await, "invalid_grant");
    for _ in 0..3 {
        assert_eq!(token().await, "it has expired");
    }
    issuer.change(json!({"wrong": []})).unwrap();
    assert_eq!(token().await, "good");
    issuer.refuse_next_token_request("invalid_grant");
    issuer.enqueue(HttpReply::new(503));
    assert_eq!(token().await, "something else");
    assert_eq!(token().await, "invalid_grant");
    assert_eq!(token().await, "good");
    issuer.change(json!({"lifetime": "0s"})).unwrap();
    assert_eq!(token().await, "it has expired");
    issuer.reset();
    assert_eq!(token().await, "good", "as at first");
    for bad in [json!({"wrong": "sideways"}), json!({"scopes": []}), json!({"refuse": "a b"})] {
        assert!(issuer.change(bad.clone()).is_err(), "{bad}");
    }
    assert_eq!(token().await, "good", "what is refused changes nothing");
}

#[tokio::test]
async fn all_tokens_expire_at_once() {
    let issuer = Issuer::start().await.unwrap();
    let old = issuer.token(Token::for_server("https://a.example/"));
    assert!(issuer.check(&old).is_ok());
    issuer.expire_all();
    assert_eq!(issuer.check(&old), Err("it has expired"));
    let new = issuer.token(Token::for_server("https://a.example/"));
    assert!(issuer.check(&new).is_ok());
    issuer.reset();
    assert_eq!(issuer.check(&new), Err("it has expired"));
    let other = Issuer::start().await.unwrap();
    assert_eq!(other.check(&new), Err("the signature is not the issuer's"));
}
