//! Clients: known and registered ones, and their authentication.

use serde_json::{Value, json};
use sparring_mock::Issuer;
use sparring_transport::http::jwt::SigningKey;

use super::test_client::{REDIRECT_URI, TestClient, claims, login, redeem};

const CLIENT_CREDENTIALS: (&str, &str) = ("grant_type", "client_credentials");

#[tokio::test]
async fn client_credentials_with_a_secret() {
    // A colon and a plus in the id reveal wrong decoding.
    let issuer = Issuer::builder().client("me:too", "a+b c").public_client("app", [REDIRECT_URI]);
    let issuer = issuer.start().await.unwrap();
    let test_client = TestClient::new(&issuer);
    let by_post = vec![CLIENT_CREDENTIALS, ("client_id", "me:too"), ("client_secret", "a+b c")];
    for good in [vec![CLIENT_CREDENTIALS, ("basic", "me%3Atoo:a%2Bb+c")], by_post] {
        let (status, given) = test_client.token(&good).await;
        assert_eq!(status, 200, "{given}");
        let claims = claims(given["access_token"].as_str().unwrap());
        assert_eq!((&claims["sub"], &claims["client_id"]), (&json!("me:too"), &json!("me:too")));
        assert_eq!(given.get("refresh_token"), None);
    }
    for (bad, status, error) in [
        (vec![CLIENT_CREDENTIALS, ("basic", "me%3Atoo:wrong")], 401, "invalid_client"),
        (vec![CLIENT_CREDENTIALS, ("basic", "other:a%2Bb+c")], 401, "invalid_client"),
        (vec![CLIENT_CREDENTIALS, ("basic", "")], 401, "invalid_client"),
        (
            vec![CLIENT_CREDENTIALS, ("client_id", "me:too"), ("client_secret", "x")],
            401,
            "invalid_client",
        ),
        (vec![CLIENT_CREDENTIALS, ("client_id", "me:too")], 401, "invalid_client"),
        (vec![CLIENT_CREDENTIALS, ("client_id", "other")], 401, "invalid_client"),
        (vec![CLIENT_CREDENTIALS, ("client_id", "app")], 400, "unauthorized_client"),
        (vec![CLIENT_CREDENTIALS], 400, "invalid_request"),
        (vec![CLIENT_CREDENTIALS, ("client_secret", "a+b c")], 400, "invalid_request"),
        (
            vec![CLIENT_CREDENTIALS, ("basic", "me%3Atoo:a%2Bb+c"), ("client_secret", "a+b c")],
            400,
            "invalid_request",
        ),
        (
            vec![CLIENT_CREDENTIALS, ("basic", "me%3Atoo:a%2Bb+c"), ("client_id", "app")],
            400,
            "invalid_request",
        ),
    ] {
        let (came, response) = test_client.token(&bad).await;
        assert_eq!((came, &response["error"]), (status, &json!(error)), "{bad:?}");
    }
}

#[tokio::test]
async fn client_credentials_with_a_key() {
    let folder = tempfile::tempdir().unwrap();
    let (key, other) = (rcgen::KeyPair::generate().unwrap(), SigningKey::generate());
    let file = folder.path().join("key.pem");
    std::fs::write(&file, key.public_key_pem()).unwrap();
    let clients = json!([{"id": "robot", "key": file.to_str().unwrap()}]);
    let issuer = Issuer::builder().with("clients", clients).start().await.unwrap();
    let test_client = TestClient::new(&issuer);
    let key = SigningKey::from_pem(&key.serialize_pem()).unwrap();
    let far = 4_102_444_800_u64;
    let good = json!({
        "iss": "robot", "sub": "robot", "aud": issuer.url(), "exp": far, "jti": "1"
    });
    let ask = async |key: &SigningKey, statement: &Value| {
        let statement = key.sign(&json!({}), statement).unwrap();
        let kind = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
        let pairs = vec![
            CLIENT_CREDENTIALS,
            ("client_assertion_type", kind),
            ("client_assertion", &statement),
        ];
        test_client.token(&pairs).await
    };
    assert_eq!(ask(&key, &good).await.0, 200);
    assert_eq!(
        ask(&key, &good).await.1["error_description"],
        "the client assertion was used before"
    );
    let endpoint = format!("{}/token", issuer.url());
    for (name, value, status) in [
        ("aud", json!([endpoint, "x"]), 200),
        ("aud", json!("https://elsewhere.example"), 401),
        ("aud", json!(null), 401),
        ("iss", json!("app"), 401),
        ("sub", json!("app"), 401),
        ("exp", json!(1), 401),
        ("exp", json!(null), 401),
    ] {
        let mut statement = good.clone();
        statement["jti"] = json!(format!("{name}{value}"));
        statement[name] = value;
        assert_eq!(ask(&key, &statement).await.0, status, "{statement}");
    }
    let mut stolen = good.clone();
    stolen["jti"] = json!("other");
    assert_eq!(ask(&other, &stolen).await.0, 401);
    let (_, response) =
        test_client.token(&vec![CLIENT_CREDENTIALS, ("client_assertion", "x")]).await;
    assert_eq!(response["error"], "invalid_request");
}

#[tokio::test]
async fn a_client_registers_itself() {
    let issuer = Issuer::start().await.unwrap();
    let test_client = TestClient::new(&issuer);
    for method in ["none", "client_secret_post", "client_secret_basic"] {
        let body = json!({
            "redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": method,
            "grant_types": ["authorization_code", "refresh_token"], "client_name": "It",
        });
        let (status, response) = test_client.json("/register", body).await;
        assert_eq!((status, &response["client_name"]), (201, &json!("It")), "{response}");
        assert_eq!(response["redirect_uris"], json!([REDIRECT_URI]));
        let id = response["client_id"].as_str().unwrap();
        let secret = response.get("client_secret").map(|it| it.as_str().unwrap());
        assert_eq!(secret.is_none(), method == "none");
        let code = test_client.code(id, &vec![]).await;
        let pair = format!("{id}:{}", secret.unwrap_or_default());
        let ways = [
            ("none", redeem(id, &code)),
            ("client_secret_post", {
                let secret = ("client_secret", secret.unwrap_or("made up"));
                [&redeem(id, &code)[..], &[secret]].concat()
            }),
            ("client_secret_basic", [&redeem(id, &code)[..], &[("basic", &*pair)]].concat()),
        ];
        // The client uses the method that it registered.
        for (way, pairs) in ways.iter().filter(|way| way.0 != method) {
            let (status, response) = test_client.token(pairs).await;
            assert_eq!((status, &response["error"]), (401, &json!("invalid_client")), "{way}");
        }
        let (_, pairs) = ways.iter().find(|way| way.0 == method).unwrap();
        let (status, given) = test_client.token(pairs).await;
        assert_eq!(status, 200, "{given}");
        assert!(given.get("refresh_token").is_some());
    }
    // A client without the grant refresh_token gets no refresh token.
    let body = json!({"redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": "none"});
    let id = test_client.json("/register", body).await.1["client_id"].as_str().unwrap().to_owned();
    let given = test_client.log_in(&id, &vec![]).await;
    assert_eq!(given.get("refresh_token"), None);
    issuer.reset();
    assert_eq!(test_client.browse(&login(&id)).await.status, 400, "it is known no more");
}

#[tokio::test]
async fn rejects_invalid_registrations() {
    let issuer = Issuer::start().await.unwrap();
    let test_client = TestClient::new(&issuer);
    let many: Vec<_> = (0..101).map(|number| format!("http://127.0.0.1/{number}")).collect();
    for (body, error) in [
        (json!([]), "invalid_client_metadata"),
        (json!({}), "invalid_redirect_uri"),
        (json!({"redirect_uris": "http://127.0.0.1/"}), "invalid_client_metadata"),
        (json!({"redirect_uris": [1]}), "invalid_client_metadata"),
        (json!({"redirect_uris": ["http://evil.example/"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": ["https://a.example/#x"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": ["javascript:alert(1)"]}), "invalid_redirect_uri"),
        (json!({"redirect_uris": many}), "invalid_redirect_uri"),
        (
            json!({"redirect_uris": [REDIRECT_URI], "token_endpoint_auth_method": "tls_client_auth"}),
            "invalid_client_metadata",
        ),
    ] {
        let (status, response) = test_client.json("/register", body.clone()).await;
        assert_eq!((status, &response["error"]), (400, &json!(error)), "{body}");
    }
    let closed = Issuer::builder().with("registration", false).start().await.unwrap();
    let test_client = TestClient::new(&closed);
    let (status, _) = test_client.json("/register", json!({"redirect_uris": [REDIRECT_URI]})).await;
    assert_eq!(status, 404);
    let metadata_url = format!("{}/.well-known/oauth-authorization-server", closed.url());
    assert_eq!(test_client.get(&metadata_url).await.1.get("registration_endpoint"), None);
}

#[tokio::test]
async fn accepts_a_client_id_metadata_document_without_fetching_it() {
    let id = "https://app.example.com/client.json";
    let issuer = Issuer::builder().public_client(id, [REDIRECT_URI]).start().await.unwrap();
    let test_client = TestClient::new(&issuer);
    let metadata_url = format!("{}/.well-known/oauth-authorization-server", issuer.url());
    assert_eq!(
        test_client.get(&metadata_url).await.1["client_id_metadata_document_supported"],
        true
    );
    test_client.log_in(id, &vec![]).await;
    assert_eq!(test_client.browse(&login("https://other.example/c.json")).await.status, 400);
}

#[tokio::test]
async fn introspects_and_revokes_tokens() {
    let issuer = Issuer::builder()
        .public_client("app", [REDIRECT_URI])
        .public_client("other", [REDIRECT_URI]);
    let issuer = issuer.start().await.unwrap();
    let test_client = TestClient::new(&issuer);
    let given = test_client.log_in("app", &vec![("scope", "a")]).await;
    let token = given["access_token"].as_str().unwrap();
    let look = async |token: &str| test_client.post("/introspect", &vec![("token", token)]).await.1;
    let known = look(token).await;
    assert_eq!((&known["active"], &known["scope"]), (&json!(true), &json!("a")));
    assert_eq!(known["client_id"], "app");
    for bad in ["x", "a.b.c"] {
        assert_eq!(look(bad).await, json!({"active": false}));
    }
    let end = async |client: &str, token: &str| {
        test_client.post("/revoke", &vec![("client_id", client), ("token", token)]).await.0
    };
    assert_eq!(end("other", token).await, 200);
    assert_eq!(look(token).await["active"], true, "it is another's");
    assert_eq!(end("nobody", token).await, 401);
    assert_eq!(end("app", "unknown").await, 200);
    assert_eq!(end("app", given["refresh_token"].as_str().unwrap()).await, 200);
    assert_eq!(look(token).await, json!({"active": false}));
    let other = test_client.log_in("app", &vec![]).await;
    let other = other["access_token"].as_str().unwrap();
    issuer.expire_all();
    assert_eq!(look(other).await, json!({"active": false}));
    assert_eq!(test_client.post("/introspect", &vec![]).await.0, 400);
}
