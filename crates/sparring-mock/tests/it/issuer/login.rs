//! Logins and what comes of them: codes, tokens, tokens for renewing.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use sparring_mock::Issuer;

use super::visitor::{BACK, Visitor, claims, login};
use crate::fixture::within;

async fn issuer() -> Issuer {
    let builder = Issuer::builder().public_client("app", [BACK]).scopes(["read", "write"]);
    builder.start().await.unwrap()
}

#[tokio::test]
async fn the_metadata_is_where_clients_look() {
    for path in ["", "/as", "/tenants/one"] {
        let issuer = Issuer::builder().with("path", path.to_owned()).start().await;
        let issuer = match path {
            "" => Issuer::start().await.unwrap(),
            _ => issuer.unwrap(),
        };
        let visitor = Visitor::of(&issuer);
        let origin = visitor.url.strip_suffix(path).unwrap();
        for place in [
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
            format!("{origin}/.well-known/openid-configuration{path}"),
            format!("{origin}{path}/.well-known/openid-configuration"),
        ] {
            let (status, told) = visitor.get(&place).await;
            assert_eq!((status, &told["issuer"]), (200, &json!(issuer.url())), "{place}");
            assert_eq!(told["token_endpoint"], format!("{}/token", issuer.url()));
            assert_eq!(told["code_challenge_methods_supported"], json!(["S256"]));
            assert_eq!(told["client_id_metadata_document_supported"], false);
        }
        for elsewhere in ["/.well-known/oauth-authorization-server/other", "/as/as/token", "/x"] {
            assert_eq!(visitor.get(&format!("{origin}{elsewhere}")).await.0, 404, "{elsewhere}");
        }
    }
}

#[tokio::test]
async fn it_stands_at_other_addresses_of_this_machine_as_well() {
    let builder = Issuer::builder().client("me", "hush").address("[::1]:0".parse().unwrap());
    let issuer = builder.start().await.unwrap();
    assert!(issuer.url().starts_with("http://[::1]:"), "{}", issuer.url());
    let visitor = Visitor::of(&issuer);
    let asked = vec![("grant_type", "client_credentials"), ("basic", "me:hush")];
    let (status, given) = visitor.token(&asked).await;
    assert_eq!(status, 200, "{given}");
    let known = issuer.check(given["access_token"].as_str().unwrap()).unwrap();
    assert_eq!(known["iss"], issuer.url());
    let taken = issuer.url().trim_start_matches("http://").parse().unwrap();
    let error = Issuer::builder().address(taken).start().await.unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot listen on {taken}: ")), "{error}");
}

#[tokio::test]
async fn a_login_brings_a_code_and_the_code_a_token() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    let resource = ("resource", "https://server.example/mcp");
    let sent = visitor.browse(&[&login("app")[..], &[("scope", "read"), resource]].concat()).await;
    assert_eq!((sent.status, sent.to.as_deref()), (302, Some(BACK)));
    assert_eq!((&*sent.brings["state"], &*sent.brings["iss"]), ("xyz", &*issuer.url()));
    let given = visitor.log_in("app", &vec![("scope", "read"), resource]).await;
    assert_eq!((&given["token_type"], &given["scope"]), (&json!("Bearer"), &json!("read")));
    assert_eq!(given["expires_in"], 3600);
    assert_eq!(given.get("id_token"), None);
    let token = given["access_token"].as_str().unwrap();
    let said = claims(token);
    for (name, value) in [
        ("iss", json!(issuer.url())),
        ("aud", json!("https://server.example/mcp")),
        ("scope", json!("read")),
        ("client_id", json!("app")),
        ("sub", json!("somebody")),
    ] {
        assert_eq!(said[name], value);
    }
    assert_eq!(said["exp"].as_u64().unwrap() - said["iat"].as_u64().unwrap(), 3600);
    assert!(is_signed(token, &visitor.get(&format!("{}/jwks.json", issuer.url())).await.1));
    // Who asks for no scope gets all that there are.
    assert_eq!(visitor.log_in("app", &vec![]).await["scope"], "read write");
}

/// Checks a signature by the keys that an issuer publishes, as a server does.
fn is_signed(token: &str, keys: &Value) -> bool {
    let bytes = |value: &Value| URL_SAFE_NO_PAD.decode(value.as_str().unwrap()).unwrap();
    let (signed, signature) = token.rsplit_once('.').unwrap();
    let header: Value =
        serde_json::from_slice(&bytes(&json!(signed.split('.').next().unwrap()))).unwrap();
    let all = keys["keys"].as_array().unwrap();
    let key = all.iter().find(|key| key["kid"] == header["kid"]).unwrap();
    assert_eq!((&header["alg"], &key["alg"]), (&json!("ES256"), &json!("ES256")));
    let point = [&[4], &bytes(&key["x"])[..], &bytes(&key["y"])].concat();
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(signed.as_bytes(), &bytes(&json!(signature))).is_ok()
}

#[tokio::test]
async fn who_logged_in_is_told_to_those_who_ask_by_openid() {
    let issuer = Issuer::builder().public_client("app", [BACK]).start().await.unwrap();
    let visitor = Visitor::of(&issuer);
    let given = visitor.log_in("app", &vec![("scope", "openid a"), ("nonce", "n-1")]).await;
    let identity = given["id_token"].as_str().unwrap();
    let said = claims(identity);
    assert_eq!((&said["aud"], &said["nonce"]), (&json!("app"), &json!("n-1")));
    assert_eq!(issuer.check(identity), Err("it is no access token"));
}

#[tokio::test]
async fn a_login_is_denied_when_that_was_asked_for() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    issuer.deny_next();
    let sent = visitor.browse(&login("app")).await;
    assert_eq!((sent.to.as_deref(), &*sent.brings["error"]), (Some(BACK), "access_denied"));
    assert_eq!((&*sent.brings["state"], &*sent.brings["iss"]), ("xyz", &*issuer.url()));
    visitor.code("app", &vec![]).await;
    issuer.change(json!({"login": "deny"})).unwrap();
    for _ in 0..2 {
        assert_eq!(visitor.browse(&login("app")).await.brings["error"], "access_denied");
    }
    issuer.change(json!({"login": "approve"})).unwrap();
    visitor.code("app", &vec![]).await;
}

fn renewal(token: &Value) -> Vec<(&str, &str)> {
    let token = token["refresh_token"].as_str().unwrap();
    vec![("grant_type", "refresh_token"), ("client_id", "app"), ("refresh_token", token)]
}

#[tokio::test]
async fn a_token_for_renewing_is_good_once() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    let first = visitor.log_in("app", &vec![("scope", "read write")]).await;
    let (status, second) = visitor.token(&renewal(&first)).await;
    assert_eq!((status, &second["scope"]), (200, &json!("read write")));
    assert_ne!(first["refresh_token"], second["refresh_token"]);
    // Less may be asked for, and more later on, but not more than at first.
    let (_, less) = visitor.token(&[&renewal(&second)[..], &[("scope", "read")]].concat()).await;
    assert_eq!(less["scope"], "read");
    let more = [&renewal(&less)[..], &[("scope", "read admin")]].concat();
    assert_eq!(visitor.token(&more).await.1["error"], "invalid_scope");
    let (_, all) = visitor.token(&renewal(&less)).await;
    assert_eq!(all["scope"], "read write");
    let token = all["access_token"].as_str().unwrap();
    assert!(issuer.check(token).is_ok());
    // One that comes back ends all that came of the login.
    let (status, told) = visitor.token(&renewal(&first)).await;
    assert_eq!((status, &told["error"]), (400, &json!("invalid_grant")));
    assert_eq!(visitor.token(&renewal(&all)).await.1["error"], "invalid_grant");
    assert_eq!(issuer.check(token), Err("it was revoked"));
}

#[tokio::test]
async fn of_many_who_renew_the_same_token_one_gets_another() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    let given = visitor.log_in("app", &vec![]).await;
    let asked = renewal(&given);
    let all = (0..20).map(|_| visitor.token(&asked));
    let all = within(futures_util::future::join_all(all)).await;
    assert_eq!(all.iter().filter(|(status, _)| *status == 200).count(), 1);
    let refused = all.iter().filter(|(_, told)| told["error"] == "invalid_grant");
    assert_eq!(refused.count(), 19);
}

#[tokio::test]
async fn tokens_for_renewing_stay_or_are_not_given_as_told() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    issuer.change(json!({"refresh": "keep"})).unwrap();
    let given = visitor.log_in("app", &vec![]).await;
    for _ in 0..3 {
        let (status, renewed) = visitor.token(&renewal(&given)).await;
        assert_eq!((status, renewed.get("refresh_token")), (200, None));
    }
    issuer.change(json!({"refresh": "never"})).unwrap();
    assert_eq!(visitor.log_in("app", &vec![]).await.get("refresh_token"), None);
}

#[tokio::test]
async fn what_was_asked_is_kept() {
    let issuer = issuer().await;
    let visitor = Visitor::of(&issuer);
    visitor.log_in("app", &vec![]).await;
    let request = issuer.take_request(Duration::ZERO).await.unwrap();
    assert_eq!((&*request.method, &*request.path), ("GET", "/authorize"));
    assert!(request.query.unwrap().contains("client_id=app"));
    assert_eq!(issuer.requests()[0].path, "/token");
    issuer.reset();
    assert!(issuer.requests().is_empty());
    let waiting = issuer.take_request(Duration::from_secs(10));
    let (came, _) = tokio::join!(waiting, visitor.get(&visitor.url));
    assert_eq!((came.unwrap().path.as_str(), issuer.forgotten()), ("/", 0));
}
