//! What can go wrong on the way to a token, each told by its name.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_peer::Client;
use sparring_transport::http::{Credentials, HttpLink, HttpTarget, OAuth, Proof, Visitor};

use super::world::{Ways, World};
use super::{connect, connect_as, echo, oauth, refused};

fn usual() -> Ways {
    Ways::default()
}

/// Tries to get in, and looks at the reason why not.
async fn check(ways: Ways, oauth: OAuth, expected: &str) {
    let world = World::new(ways).await;
    let told = refused(&world, oauth).await.replace(world.origin(), "");
    assert!(told.contains(&format!("not authorized: {expected}")), "{told}\nwanted: {expected}");
    assert!(!told.contains("hunter"), "{told}");
}

#[tokio::test]
async fn what_is_published_and_wrong() {
    let resource = |value: Value| Ways { resource: Some(value), ..usual() };
    let metadata = |value: Value| Ways { metadata: value, ..usual() };
    let place = "/.well-known/oauth-protected-resource/mcp";
    let of_server = "/.well-known/oauth-authorization-server/as";
    for (ways, expected) in [
        (
            Ways { resource: None, ..usual() },
            format!("the server wants a token, and nothing says where to get one: {place} answered 404"),
        ),
        (
            Ways { publishes: false, ..usual() },
            format!("the server wants a token, and nothing says where to get one: {place} names /as, but {of_server} answered 404"),
        ),
        (
            Ways { resource: None, points: false, publishes: false, ..usual() },
            format!(
                "the server wants a token, and nothing says where to get one: {place} answered 404 \
                 Not Found, /.well-known/oauth-protected-resource answered 404 Not Found, \
                 /.well-known/oauth-authorization-server answered 404 Not Found, \
                 /.well-known/openid-configuration answered 404 Not Found, \
                 /register answered 404 Not Found"
            ),
        ),
        (resource(json!({"authorization_servers": []})), format!("what {place} answers cannot be used: it names no authorization server")),
        (resource(json!({"authorization_servers": ["nowhere"]})), "what nowhere answers cannot be used: ".to_owned()),
        (resource(json!({"resource": null})), format!("what {place} answers cannot be used: it has no resource")),
        (
            resource(json!({"resource": "https://evil.example/mcp"})),
            format!("wrong resource: {place} is about https://evil.example/mcp, and not about the server at /mcp"),
        ),
        (
            metadata(json!({"issuer": "https://evil.example"})),
            format!("wrong issuer: {of_server} says that it is about https://evil.example, and not about /as"),
        ),
        (metadata(json!({"token_endpoint": null})), "the server wants a token, and nothing says where to get one: ".to_owned()),
        (
            metadata(json!({"code_challenge_methods_supported": null})),
            "/as does not offer PKCE with S256 (code_challenge_methods_supported), which this needs".to_owned(),
        ),
        (metadata(json!({"code_challenge_methods_supported": ["plain"]})), "/as does not offer PKCE".to_owned()),
        (metadata(json!({"authorization_endpoint": null})), "/as does not offer an authorization_endpoint".to_owned()),
        (metadata(json!({"grant_types_supported": ["implicit"]})), "/as does not offer authorization_code".to_owned()),
        (
            metadata(json!({"registration_endpoint": null})),
            "/as knows no way to register a client; say which one to be".to_owned(),
        ),
    ] {
        check(ways, oauth(), &expected).await;
    }
}

#[tokio::test]
async fn what_the_browser_brings_and_is_wrong() {
    for (brings, expected) in [
        (
            json!({"state": "other"}),
            "state mismatch: the browser came back from a login that this one did not begin",
        ),
        (
            json!({"iss": "https://evil.example"}),
            "wrong issuer: the browser comes from https://evil.example, and was sent to /as",
        ),
        (
            json!({"iss": null}),
            "the browser came back without the name of its issuer, which /as promises to give",
        ),
        (
            json!({"code": null, "error": "access_denied", "error_description": "no"}),
            "the login at /as failed: access_denied: no",
        ),
        (json!({"code": null}), "the login at /as failed: the browser came back without a code"),
    ] {
        check(Ways { brings, ..usual() }, oauth(), expected).await;
    }
}

#[tokio::test]
async fn whoever_logs_in_may_take_longer_than_a_request() {
    let world = World::new(usual()).await;
    let (request, patience) = (Duration::from_secs(1), Duration::from_millis(1500));
    let oauth = OAuth { patience, visitor: Visitor::new(|_| {}), ..oauth() };
    let connecting = connect_as(&world, oauth, Client::builder().timeout(request));
    let told = connecting.await.expect_err("nobody came").to_string();
    assert!(told.contains("nobody came back from the login within 1.5s"), "{told}");
}

#[tokio::test]
async fn nobody_comes_back() {
    let visitor = Visitor::new(|_| {});
    let patience = Duration::from_millis(50);
    let oauth = OAuth { patience, visitor, ..oauth() };
    check(usual(), oauth, "nobody came back from the login within 50ms").await;
}

#[test]
fn what_cannot_be_used_at_all_is_told_before_anything_is_sent() {
    let told = |oauth: OAuth| {
        let mut target = HttpTarget::new("http://localhost/mcp");
        target.credentials = Some(Credentials::OAuth(Box::new(oauth)));
        HttpLink::new(&target).expect_err("it cannot be used").to_string()
    };
    let redirect = "https://example.com/".to_owned();
    assert_eq!(
        told(OAuth { redirect, ..oauth() }),
        "the browser cannot come back to https://example.com/: it must be http:// on this machine"
    );
    let key = Proof::Key("hunter".to_owned());
    assert_eq!(
        told(OAuth::client_credentials("me", key)),
        "the key cannot be used: it is no private key in PEM"
    );
}

#[tokio::test]
async fn the_token_endpoint_says_no() {
    let ways = |status, body| Ways { refusals: vec![(status, body)], ..usual() };
    let detail = json!({"error": "invalid_grant", "error_description": "the code is old"});
    for (ways, expected) in [
        (
            ways(400, detail),
            "/as/token refused to give a token for the code: invalid_grant: the code is old",
        ),
        (
            ways(401, json!({"error": "invalid_client"})),
            "/as/token refused to give a token for the code: invalid_client",
        ),
        (
            ways(418, json!("hunter")),
            "/as/token refused to give a token for the code: it answered 418",
        ),
        (ways(503, json!("hunter")), "the authorization server is down: /as/token answered 503"),
        (
            ways(200, json!({"access_token": "hunter", "token_type": "mac"})),
            "what /as/token answers cannot be used: the token is not one for bearers",
        ),
        (
            ways(200, json!({"token_type": "bearer"})),
            "what /as/token answers cannot be used: it has no access_token",
        ),
        (ways(200, json!(["hunter"])), "what /as/token answers cannot be used: "),
    ] {
        check(ways, oauth(), expected).await;
    }
}

#[tokio::test]
async fn the_clocks_are_apart() {
    let secret = Proof::Secret("hunter-secret".to_owned());
    let refusals =
        vec![(401, json!({"error": "invalid_client", "error_description": "hunter-secret"}))];
    let ways = Ways { ahead: 7200, refusals, ..usual() };
    let world = World::new(ways).await;
    let told = refused(&world, OAuth::client_credentials("me", secret)).await;
    assert!(told.contains("invalid_client: (hidden) (clock skew: its clock is 7"), "{told}");
    assert!(told.contains("s ahead of ours)") && !told.contains("hunter"), "{told}");

    let world = World::new(Ways { ahead: -7200, stubborn: true, ..usual() }).await;
    let told = refused(&world, oauth()).await;
    let expected = "/as has just given (the token (hidden) is not good; clock skew: its clock is 7";
    assert!(told.contains(expected) && told.contains("behind ours"), "{told}");
}

#[tokio::test]
async fn the_server_accepts_no_token() {
    let ways = Ways { stubborn: true, ..usual() };
    check(ways, oauth(), "the server does not accept the token that /as has just given").await;
}

#[tokio::test]
async fn the_authorization_server_is_down() {
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nowhere = format!("http://{}", nobody.local_addr().unwrap());
    drop(nobody);
    let resource = Some(json!({"authorization_servers": [nowhere]}));
    let expected = format!("the authorization server is down: cannot connect to {nowhere}");
    check(Ways { resource, ..usual() }, oauth(), &expected).await;
}

#[tokio::test]
async fn a_client_that_cannot_ask_for_itself() {
    let metadata = |value: Value| Ways { metadata: value, ..usual() };
    let ours = |proof| OAuth::client_credentials("me", proof);
    let secret = || Proof::Secret("hunter2".to_owned());
    let key = || Proof::Key(rcgen::KeyPair::generate().unwrap().serialize_pem());
    let methods =
        |method: &str| metadata(json!({"token_endpoint_auth_methods_supported": [method]}));
    let algorithms = json!({"token_endpoint_auth_signing_alg_values_supported": ["RS256"]});
    for (ways, oauth, expected) in [
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
        check(ways, oauth, expected).await;
    }
}

#[tokio::test]
async fn a_token_that_ends_in_the_middle_is_told_when_it_cannot_be_had_again() {
    let world = World::new(Ways { renews: false, ..usual() }).await;
    let client = connect(&world, oauth()).await.unwrap();
    world.revoke(true);
    world.change(|ways| ways.brings = json!({"code": null, "error": "access_denied"}));
    let told = echo(&client).await.expect_err("no more").to_string();
    assert!(told.contains("failed: access_denied"), "{told}");
}
