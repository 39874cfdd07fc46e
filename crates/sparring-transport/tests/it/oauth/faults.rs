//! Failures of obtaining a token; each error names the problem.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_peer::Client;
use sparring_transport::http::{
    BrowserOpener, ClientAuth, Credentials, HttpLink, HttpTarget, OAuth,
};

use super::scripted_servers::{Behavior, ScriptedServers};
use super::{connect, connect_as, echo, oauth, refused};

fn default_behavior() -> Behavior {
    Behavior::default()
}

/// Connects and checks the error.
async fn check(behavior: Behavior, oauth: OAuth, expected: &str) {
    let servers = ScriptedServers::new(behavior).await;
    let error = refused(&servers, oauth).await.replace(servers.origin(), "");
    assert!(error.contains(&format!("not authorized: {expected}")), "{error}\nwanted: {expected}");
    assert!(!error.contains("hunter"), "{error}");
}

#[tokio::test]
async fn reports_wrong_metadata() {
    let resource = |value: Value| Behavior { resource: Some(value), ..default_behavior() };
    let metadata = |value: Value| Behavior { metadata: value, ..default_behavior() };
    let metadata_path = "/.well-known/oauth-protected-resource/mcp";
    let of_server = "/.well-known/oauth-authorization-server/as";
    for (behavior, expected) in [
        (
            Behavior { resource: None, ..default_behavior() },
            format!(
                "the server requires a token, but no authorization server was found: {metadata_path} answered 404"
            ),
        ),
        (
            Behavior { publishes_metadata: false, ..default_behavior() },
            format!(
                "the server requires a token, but no authorization server was found: {metadata_path} names /as, but {of_server} answered 404"
            ),
        ),
        (
            Behavior {
                resource: None,
                challenge_has_metadata_url: false,
                publishes_metadata: false,
                ..default_behavior()
            },
            format!(
                "the server requires a token, but no authorization server was found: {metadata_path} answered 404 \
                 Not Found, /.well-known/oauth-protected-resource answered 404 Not Found, \
                 /.well-known/oauth-authorization-server answered 404 Not Found, \
                 /.well-known/openid-configuration answered 404 Not Found, \
                 /register answered 404 Not Found"
            ),
        ),
        (
            resource(json!({"authorization_servers": []})),
            format!("invalid response of {metadata_path}: it names no authorization server"),
        ),
        (
            resource(json!({"authorization_servers": ["nowhere"]})),
            "invalid response of nowhere: ".to_owned(),
        ),
        (
            resource(json!({"resource": null})),
            format!("invalid response of {metadata_path}: missing field resource"),
        ),
        (
            resource(json!({"resource": "https://evil.example/mcp"})),
            format!(
                "wrong resource: {metadata_path} names https://evil.example/mcp instead of /mcp"
            ),
        ),
        (
            metadata(json!({"issuer": "https://evil.example"})),
            format!("wrong issuer: {of_server} names https://evil.example instead of /as"),
        ),
        (
            metadata(json!({"token_endpoint": null})),
            "the server requires a token, but no authorization server was found: ".to_owned(),
        ),
        (
            metadata(json!({"code_challenge_methods_supported": null})),
            "/as does not offer PKCE with S256 (code_challenge_methods_supported)".to_owned(),
        ),
        (
            metadata(json!({"code_challenge_methods_supported": ["plain"]})),
            "/as does not offer PKCE".to_owned(),
        ),
        (
            metadata(json!({"authorization_endpoint": null})),
            "/as does not offer an authorization_endpoint".to_owned(),
        ),
        (
            metadata(json!({"grant_types_supported": ["implicit"]})),
            "/as does not offer authorization_code".to_owned(),
        ),
        (
            metadata(json!({"registration_endpoint": null})),
            "/as does not support client registration".to_owned(),
        ),
    ] {
        check(behavior, oauth(), &expected).await;
    }
}

#[tokio::test]
async fn reports_a_wrong_redirect() {
    for (redirect_query, expected) in [
        (
            json!({"iss": "https://evil.example"}),
            "wrong issuer: the redirect names https://evil.example instead of /as",
        ),
        (json!({"iss": null}), "the redirect lacks the parameter iss, which /as announces"),
        (
            json!({"code": null, "error": "access_denied", "error_description": "no"}),
            "the login at /as failed: access_denied: no",
        ),
        (json!({"code": null}), "the login at /as failed: the redirect has no code"),
    ] {
        check(Behavior { redirect_query, ..default_behavior() }, oauth(), expected).await;
    }
}

#[tokio::test]
async fn a_login_may_take_longer_than_a_request() {
    let servers = ScriptedServers::new(default_behavior()).await;
    let (request, login_timeout) = (Duration::from_secs(1), Duration::from_millis(1500));
    let oauth = OAuth { login_timeout, browser: BrowserOpener::new(|_| {}), ..oauth() };
    let connecting = connect_as(&servers, oauth, Client::builder().timeout(request));
    let error = connecting.await.expect_err("no login").to_string();
    assert!(error.contains("no login within 1.5s"), "{error}");
}

#[tokio::test]
async fn reports_a_login_timeout() {
    let visitor = BrowserOpener::new(|_| {});
    let login_timeout = Duration::from_millis(50);
    let oauth = OAuth { login_timeout, browser: visitor, ..oauth() };
    check(default_behavior(), oauth, "no login within 50ms").await;
}

#[test]
fn reports_unusable_settings_before_anything_is_sent() {
    let error = |oauth: OAuth| {
        let mut target = HttpTarget::new("http://localhost/mcp");
        target.credentials = Some(Credentials::OAuth(Box::new(oauth)));
        HttpLink::new(&target).expect_err("it cannot be used").to_string()
    };
    let redirect = "https://example.com/".to_owned();
    assert_eq!(
        error(OAuth { redirect_url: redirect, ..oauth() }),
        "cannot use the redirect URL https://example.com/: it must be http:// on this machine"
    );
    let key = ClientAuth::Key("hunter".to_owned());
    assert_eq!(
        error(OAuth::client_credentials("me", key)),
        "invalid key: not a private key in PEM"
    );
}

#[tokio::test]
async fn reports_a_refusal_of_the_token_endpoint() {
    let behavior = |status, body| Behavior { refusals: vec![(status, body)], ..default_behavior() };
    let detail = json!({"error": "invalid_grant", "error_description": "the code is old"});
    for (behavior, expected) in [
        (
            behavior(400, detail),
            "/as/token refused to exchange the code for a token: invalid_grant: the code is old",
        ),
        (
            behavior(401, json!({"error": "invalid_client"})),
            "/as/token refused to exchange the code for a token: invalid_client",
        ),
        (
            behavior(418, json!("hunter")),
            "/as/token refused to exchange the code for a token: it answered 418",
        ),
        (
            behavior(503, json!("hunter")),
            "the authorization server is unavailable: /as/token answered 503",
        ),
        (
            behavior(200, json!({"access_token": "hunter", "token_type": "mac"})),
            "invalid response of /as/token: the token type is not Bearer",
        ),
        (
            behavior(200, json!({"token_type": "bearer"})),
            "invalid response of /as/token: missing field access_token",
        ),
        (behavior(200, json!(["hunter"])), "invalid response of /as/token: "),
    ] {
        check(behavior, oauth(), expected).await;
    }
}

#[tokio::test]
async fn reports_a_clock_skew() {
    let secret = ClientAuth::Secret("hunter-secret".into());
    let refusals =
        vec![(401, json!({"error": "invalid_client", "error_description": "hunter-secret"}))];
    let behavior = Behavior { clock_offset_seconds: 7200, refusals, ..default_behavior() };
    let servers = ScriptedServers::new(behavior).await;
    let error = refused(&servers, OAuth::client_credentials("me", secret)).await;
    assert!(error.contains("invalid_client: (hidden) (clock skew: its clock is 7"), "{error}");
    assert!(error.contains("s ahead of ours)") && !error.contains("hunter"), "{error}");

    let servers = ScriptedServers::new(Behavior {
        clock_offset_seconds: -7200,
        rejects_every_token: true,
        ..default_behavior()
    })
    .await;
    let error = refused(&servers, oauth()).await;
    let expected = "/as (the token (hidden) is not good; clock skew: its clock is 7";
    assert!(error.contains(expected) && error.contains("behind ours"), "{error}");
}

#[tokio::test]
async fn reports_a_server_that_accepts_no_token() {
    let behavior = Behavior { rejects_every_token: true, ..default_behavior() };
    check(behavior, oauth(), "server rejected a new token of /as").await;
}

#[tokio::test]
async fn reports_an_unreachable_authorization_server() {
    let unused = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = format!("http://{}", unused.local_addr().unwrap());
    drop(unused);
    let resource = Some(json!({"authorization_servers": [nowhere]}));
    let expected = format!("the authorization server is unavailable: cannot connect to {nowhere}");
    check(Behavior { resource, ..default_behavior() }, oauth(), &expected).await;
}

#[tokio::test]
async fn reports_unsupported_client_credentials() {
    let metadata = |value: Value| Behavior { metadata: value, ..default_behavior() };
    let ours = |proof| OAuth::client_credentials("me", proof);
    let secret = || ClientAuth::Secret("hunter2".into());
    let key = || ClientAuth::Key(rcgen::KeyPair::generate().unwrap().serialize_pem());
    let methods =
        |method: &str| metadata(json!({"token_endpoint_auth_methods_supported": [method]}));
    let algorithms = json!({"token_endpoint_auth_signing_alg_values_supported": ["RS256"]});
    for (behavior, oauth, expected) in [
        (
            metadata(json!({"grant_types_supported": ["authorization_code"]})),
            ours(secret()),
            "/as does not offer client_credentials",
        ),
        (
            methods("none"),
            ours(secret()),
            "/as does not offer client_secret_basic or client_secret_post",
        ),
        (methods("none"), ours(key()), "/as does not offer private_key_jwt"),
        (metadata(algorithms), ours(key()), "/as does not offer ES256"),
    ] {
        check(behavior, oauth, expected).await;
    }
}

#[tokio::test]
async fn reports_an_expired_token_that_cannot_be_replaced() {
    let servers =
        ScriptedServers::new(Behavior { issues_refresh_tokens: false, ..default_behavior() }).await;
    let client = connect(&servers, oauth()).await.unwrap();
    servers.revoke(true);
    servers.change(|behavior| {
        behavior.redirect_query = json!({"code": null, "error": "access_denied"})
    });
    let error = echo(&client).await.expect_err("no more").to_string();
    assert!(error.contains("failed: access_denied"), "{error}");
}
