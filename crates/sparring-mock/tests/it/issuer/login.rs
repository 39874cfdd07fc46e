//! Logins, codes, access tokens and refresh tokens.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use serde_json::{Value, json};
use sparring_mock::Issuer;

use super::test_client::{REDIRECT_URI, TestClient, claims, login};
use crate::fixture::within;

async fn issuer() -> Issuer {
    let builder = Issuer::builder().public_client("app", [REDIRECT_URI]).scopes(["read", "write"]);
    builder.start().await.unwrap()
}

#[tokio::test]
async fn serves_the_metadata_at_well_known_paths() {
    for path in ["", "/as", "/tenants/one"] {
        let issuer = Issuer::builder().with("path", path.to_owned()).start().await;
        let issuer = match path {
            "" => Issuer::start().await.unwrap(),
            _ => issuer.unwrap(),
        };
        let test_client = TestClient::new(&issuer);
        let origin = test_client.url.strip_suffix(path).unwrap();
        for place in [
            format!("{origin}/.well-known/oauth-authorization-server{path}"),
            format!("{origin}/.well-known/openid-configuration{path}"),
            format!("{origin}{path}/.well-known/openid-configuration"),
        ] {
            let (status, response) = test_client.get(&place).await;
            assert_eq!((status, &response["issuer"]), (200, &json!(issuer.url())), "{place}");
            assert_eq!(response["token_endpoint"], format!("{}/token", issuer.url()));
            assert_eq!(response["code_challenge_methods_supported"], json!(["S256"]));
            assert_eq!(response["client_id_metadata_document_supported"], false);
        }
        for elsewhere in ["/.well-known/oauth-authorization-server/other", "/as/as/token", "/x"] {
            assert_eq!(
                test_client.get(&format!("{origin}{elsewhere}")).await.0,
                404,
                "{elsewhere}"
            );
        }
    }
}

#[tokio::test]
async fn listens_on_other_addresses_of_this_machine() {
    let builder = Issuer::builder().client("me", "hush").address("[::1]:0".parse().unwrap());
    let issuer = builder.start().await.unwrap();
    assert!(issuer.url().starts_with("http://[::1]:"), "{}", issuer.url());
    let test_client = TestClient::new(&issuer);
    let asked = vec![("grant_type", "client_credentials"), ("basic", "me:hush")];
    let (status, given) = test_client.token(&asked).await;
    assert_eq!(status, 200, "{given}");
    let known = issuer.check(given["access_token"].as_str().unwrap()).unwrap();
    assert_eq!(known["iss"], issuer.url());
    let taken = issuer.url().trim_start_matches("http://").parse().unwrap();
    let error = Issuer::builder().address(taken).start().await.unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot listen on {taken}: ")), "{error}");
}

#[tokio::test]
async fn a_login_gives_a_code_and_the_code_a_token() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    let resource = ("resource", "https://server.example/mcp");
    let sent =
        test_client.browse(&[&login("app")[..], &[("scope", "read"), resource]].concat()).await;
    assert_eq!((sent.status, sent.to.as_deref()), (302, Some(REDIRECT_URI)));
    assert_eq!((&*sent.params["state"], &*sent.params["iss"]), ("xyz", &*issuer.url()));
    let given = test_client.log_in("app", &vec![("scope", "read"), resource]).await;
    assert_eq!((&given["token_type"], &given["scope"]), (&json!("Bearer"), &json!("read")));
    assert_eq!(given["expires_in"], 3600);
    assert_eq!(given.get("id_token"), None);
    let token = given["access_token"].as_str().unwrap();
    let claims = claims(token);
    for (name, value) in [
        ("iss", json!(issuer.url())),
        ("aud", json!("https://server.example/mcp")),
        ("scope", json!("read")),
        ("client_id", json!("app")),
        ("sub", json!("somebody")),
    ] {
        assert_eq!(claims[name], value);
    }
    assert_eq!(claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap(), 3600);
    assert!(is_signed(token, &test_client.get(&format!("{}/jwks.json", issuer.url())).await.1));
    // A login without a scope gets all scopes.
    assert_eq!(test_client.log_in("app", &vec![]).await["scope"], "read write");
}

/// Verifies a signature with the published keys, as a server does.
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
async fn the_scope_openid_gives_an_id_token() {
    let issuer = Issuer::builder().public_client("app", [REDIRECT_URI]).start().await.unwrap();
    let test_client = TestClient::new(&issuer);
    let given = test_client.log_in("app", &vec![("scope", "openid a"), ("nonce", "n-1")]).await;
    let identity = given["id_token"].as_str().unwrap();
    let claims = claims(identity);
    assert_eq!((&claims["aud"], &claims["nonce"]), (&json!("app"), &json!("n-1")));
    assert_eq!(issuer.check(identity), Err("it is not an access token"));
}

#[tokio::test]
async fn denies_logins_on_demand() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    issuer.deny_next_login();
    let sent = test_client.browse(&login("app")).await;
    assert_eq!((sent.to.as_deref(), &*sent.params["error"]), (Some(REDIRECT_URI), "access_denied"));
    assert_eq!((&*sent.params["state"], &*sent.params["iss"]), ("xyz", &*issuer.url()));
    test_client.code("app", &vec![]).await;
    issuer.change(json!({"login": "deny"})).unwrap();
    for _ in 0..2 {
        assert_eq!(test_client.browse(&login("app")).await.params["error"], "access_denied");
    }
    issuer.change(json!({"login": "approve"})).unwrap();
    test_client.code("app", &vec![]).await;
}

fn renewal(token: &Value) -> Vec<(&str, &str)> {
    let token = token["refresh_token"].as_str().unwrap();
    vec![("grant_type", "refresh_token"), ("client_id", "app"), ("refresh_token", token)]
}

#[tokio::test]
async fn a_refresh_token_is_valid_once() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    let first = test_client.log_in("app", &vec![("scope", "read write")]).await;
    let (status, second) = test_client.token(&renewal(&first)).await;
    assert_eq!((status, &second["scope"]), (200, &json!("read write")));
    assert_ne!(first["refresh_token"], second["refresh_token"]);
    // A refresh can request fewer scopes, later more, but never more than the login.
    let (_, less) =
        test_client.token(&[&renewal(&second)[..], &[("scope", "read")]].concat()).await;
    assert_eq!(less["scope"], "read");
    let more = [&renewal(&less)[..], &[("scope", "read admin")]].concat();
    assert_eq!(test_client.token(&more).await.1["error"], "invalid_scope");
    let (_, all) = test_client.token(&renewal(&less)).await;
    assert_eq!(all["scope"], "read write");
    let token = all["access_token"].as_str().unwrap();
    assert!(issuer.check(token).is_ok());
    // Reusing a refresh token revokes all tokens of the login.
    let (status, response) = test_client.token(&renewal(&first)).await;
    assert_eq!((status, &response["error"]), (400, &json!("invalid_grant")));
    assert_eq!(test_client.token(&renewal(&all)).await.1["error"], "invalid_grant");
    assert_eq!(issuer.check(token), Err("it was revoked"));
}

#[tokio::test]
async fn concurrent_requests_use_a_refresh_token_once() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    let given = test_client.log_in("app", &vec![]).await;
    let asked = renewal(&given);
    let all = (0..20).map(|_| test_client.token(&asked));
    let all = within(futures_util::future::join_all(all)).await;
    assert_eq!(all.iter().filter(|(status, _)| *status == 200).count(), 1);
    let refused = all.iter().filter(|(_, response)| response["error"] == "invalid_grant");
    assert_eq!(refused.count(), 19);
}

#[tokio::test]
async fn refresh_tokens_can_stay_or_not_be_issued() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    issuer.change(json!({"refresh": "keep"})).unwrap();
    let given = test_client.log_in("app", &vec![]).await;
    for _ in 0..3 {
        let (status, renewed) = test_client.token(&renewal(&given)).await;
        assert_eq!((status, renewed.get("refresh_token")), (200, None));
    }
    issuer.change(json!({"refresh": "never"})).unwrap();
    assert_eq!(test_client.log_in("app", &vec![]).await.get("refresh_token"), None);
}

#[tokio::test]
async fn records_requests() {
    let issuer = issuer().await;
    let test_client = TestClient::new(&issuer);
    test_client.log_in("app", &vec![]).await;
    let request = issuer.take_request(Duration::ZERO).await.unwrap();
    assert_eq!((&*request.method, &*request.path), ("GET", "/authorize"));
    assert!(request.query.unwrap().contains("client_id=app"));
    assert_eq!(issuer.requests()[0].path, "/token");
    issuer.reset();
    assert!(issuer.requests().is_empty());
    let waiting = issuer.take_request(Duration::from_secs(10));
    let (came, _) = tokio::join!(waiting, test_client.get(&test_client.url));
    assert_eq!((came.unwrap().path.as_str(), issuer.dropped_requests()), ("/", 0));
}
