//! The scopes that a client requests.

use serde_json::json;
use sparring_transport::http::{ClientAuth, OAuth};

use super::scripted_servers::{Behavior, ScriptedServers};
use super::{connect, echo, must_echo, oauth};

#[tokio::test]
async fn the_client_requests_the_scopes_that_the_server_needs() {
    let listed = Some(json!({"scopes_supported": ["c", "d"]}));
    for (scope, resource, given, expected) in [
        (Some("a b"), listed.clone(), vec![], Some("a b")),
        (None, listed.clone(), vec![], Some("c d")),
        (None, Some(json!({"scopes_supported": null})), vec![], None),
        (Some("a b"), listed, vec!["e"], Some("e")),
    ] {
        let servers =
            ScriptedServers::new(Behavior { scope, resource, ..Behavior::default() }).await;
        let scopes = given.into_iter().map(str::to_owned).collect();
        let client = connect(&servers, OAuth { scopes, ..oauth() }).await.unwrap();
        must_echo(&client).await;
        assert_eq!(servers.event_params("authorize")[0].get("scope").map(String::as_str), expected);
    }
}

#[tokio::test]
async fn the_client_requests_offline_access_if_the_server_offers_it() {
    let metadata = json!({"scopes_supported": ["a", "offline_access"]});
    let servers =
        ScriptedServers::new(Behavior { metadata, scope: Some("a"), ..Behavior::default() }).await;
    connect(&servers, oauth()).await.unwrap();
    let asked = &servers.event_params("authorize")[0];
    assert_eq!((&*asked["scope"], &*asked["prompt"]), ("a offline_access", "consent"));
}

#[tokio::test]
async fn the_client_requests_more_scopes_when_the_server_needs_them() {
    let behavior =
        Behavior { scope: Some("read"), tool_scope: Some("write"), ..Behavior::default() };
    let servers = ScriptedServers::new(behavior.clone()).await;
    let client = connect(&servers, oauth()).await.unwrap();
    must_echo(&client).await;
    must_echo(&client).await;
    let asked: Vec<_> = servers
        .event_params("authorize")
        .into_iter()
        .map(|params| params["scope"].clone())
        .collect();
    assert_eq!(asked, ["read", "read write"], "and what was allowed before stays allowed");

    let servers = ScriptedServers::new(behavior).await;
    let oauth = OAuth::client_credentials("me", ClientAuth::Secret("hunter2".into()));
    let client = connect(&servers, oauth).await.unwrap();
    must_echo(&client).await;
    let asked: Vec<_> =
        servers.event_params("token").into_iter().map(|params| params["scope"].clone()).collect();
    assert_eq!(asked, ["read", "read write"]);
}

#[tokio::test]
async fn does_not_request_a_refused_scope_again() {
    let granted_scope = Some("read");
    let behavior = Behavior {
        scope: Some("read"),
        tool_scope: Some("write"),
        granted_scope,
        ..Behavior::default()
    };
    let servers = ScriptedServers::new(behavior).await;
    let client = connect(&servers, oauth()).await.unwrap();
    for _ in 0..2 {
        let error = echo(&client).await.expect_err("not allowed").to_string();
        let expected = "wrong scope: the server requires \"write\", but";
        assert!(error.contains(expected) && error.contains("granted \"read\""), "{error}");
    }
    assert_eq!(servers.event_params("authorize").len(), 2);
    // Requests that need no further scope still work.
    client.list_tools().await.unwrap();
}
