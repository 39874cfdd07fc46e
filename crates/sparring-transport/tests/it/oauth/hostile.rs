//! Hostile servers and authorization servers: limits on the client's attempts, on the user's
//! logins, and on the disclosure of secrets.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use sparring_peer::Client;
use sparring_transport::http::{BrowserOpener, ClientAuth, HttpLink, OAuth};
use sparring_wire::Revision;

use super::scripted_servers::{Behavior, Replacement, ScriptedServers};
use super::{connect, connect_as, echo, must_echo, oauth, oauth_stored_in, refused, target};

fn default_behavior() -> Behavior {
    Behavior::default()
}

fn legacy_client() -> sparring_peer::ClientBuilder {
    Client::builder().revision(Revision::V2025_11_25)
}

fn client_credentials() -> OAuth {
    OAuth::client_credentials("me", ClientAuth::Secret("hunter2".into()))
}

/// A user who never completes the login; counts the login pages.
fn absent_user() -> (BrowserOpener, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let visitor = BrowserOpener::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    (visitor, asked)
}

#[tokio::test]
async fn the_client_limits_the_tokens_for_one_request() {
    for oauth in [oauth(), client_credentials()] {
        let servers =
            ScriptedServers::new(Behavior { needs_new_scope_per_call: true, ..default_behavior() })
                .await;
        let client = connect(&servers, oauth).await.unwrap();
        let error =
            echo(&client).await.expect_err("it needs another scope for each call").to_string();
        assert!(error.contains("rejected 5 tokens in a row"), "{error}");
        assert_eq!(servers.event_params("token").len(), 6);
    }
}

#[tokio::test]
async fn a_request_that_is_always_refused_causes_one_login() {
    for issues_refresh_tokens in [true, false] {
        let behavior = Behavior {
            always_rejected: Some("tools/call"),
            issues_refresh_tokens,
            ..default_behavior()
        };
        let servers = ScriptedServers::new(behavior).await;
        let client = connect(&servers, oauth()).await.unwrap();
        let others = async {
            loop {
                client.list_tools().await.unwrap();
            }
        };
        let error = tokio::select! {
            error = echo(&client) => error.expect_err("always rejected").to_string(),
            () = others => unreachable!("it goes on"),
        };
        assert!(error.contains("rejected a new token"), "{error}");
        assert_eq!(servers.event_params("authorize").len(), 2, "to begin with, and for this");
    }
}

#[tokio::test]
async fn no_login_for_requests_that_need_none() {
    for (always_rejected, renewals) in [("GET", 1), ("notifications/", 1), ("DELETE", 0)] {
        let servers = ScriptedServers::new(Behavior {
            always_rejected: Some(always_rejected),
            ..default_behavior()
        })
        .await;
        let client = connect_as(&servers, oauth(), legacy_client()).await.unwrap();
        while servers.event_names().iter().filter(|what| **what == "401").count() < 1 + 2 * renewals
        {
            tokio::task::yield_now().await;
        }
        must_echo(&client).await;
        client.close().await;
        assert_eq!(servers.event_params("authorize").len(), 1, "{always_rejected}");
        assert_eq!(servers.event_params("token").len(), 1 + renewals, "{always_rejected}");
    }
    // The same if no other request needs a token.
    for always_rejected in ["GET", "notifications/"] {
        let servers = ScriptedServers::new(Behavior {
            needs_no_token: true,
            always_rejected: Some(always_rejected),
            ..default_behavior()
        })
        .await;
        let client = connect_as(&servers, oauth(), legacy_client()).await.unwrap();
        while servers.event_names().is_empty() {
            tokio::task::yield_now().await;
        }
        must_echo(&client).await;
        client.close().await;
        assert_eq!(servers.event_names(), ["401"], "{always_rejected}");
    }
}

#[tokio::test]
async fn a_notification_causes_no_login() {
    let servers = ScriptedServers::new(default_behavior()).await;
    let client = connect_as(&servers, oauth(), legacy_client()).await.unwrap();
    must_echo(&client).await;
    servers.revoke(true);
    for _ in 0..2 {
        client.notify("notifications/roots/list_changed", None);
    }
    while servers.event_names().iter().filter(|what| **what == "401").count() < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(servers.event_params("authorize").len(), 1);
    must_echo(&client).await;
    assert_eq!(servers.event_params("authorize").len(), 2);
}

#[tokio::test]
async fn a_failed_login_fails_all_waiting_requests() {
    let servers = ScriptedServers::new(default_behavior()).await;
    let client = connect(&servers, oauth()).await.unwrap();
    servers.revoke(true);
    servers.change(|behavior| {
        behavior.redirect_query = json!({"code": null, "error": "access_denied"})
    });
    let calls: Vec<_> = (0..50).map(|_| echo(&client)).collect();
    for error in futures_util::future::join_all(calls).await {
        let error = error.expect_err("access is denied").to_string();
        assert!(error.contains("access_denied"), "{error}");
    }
    assert_eq!(servers.event_params("authorize").len(), 2, "the user is not asked 50 times");
    // A later request may try again.
    servers.change(|behavior| behavior.redirect_query = json!({}));
    must_echo(&client).await;
}

#[tokio::test]
async fn a_failed_step_up_keeps_the_current_token() {
    let behavior =
        Behavior { scope: Some("read"), tool_scope: Some("write"), ..default_behavior() };
    let servers = ScriptedServers::new(behavior).await;
    let client = connect(&servers, oauth()).await.unwrap();
    servers.change(|behavior| {
        behavior.redirect_query = json!({"code": null, "error": "access_denied"})
    });
    echo(&client).await.expect_err("the user denied it");
    let before = servers.event_params("authorize").len();
    client.list_tools().await.unwrap();
    assert_eq!(servers.event_params("authorize").len(), before, "the token is still good");
}

#[tokio::test]
async fn the_client_uses_an_expired_token_while_the_server_accepts_it() {
    let servers = ScriptedServers::new(Behavior {
        token_lifetime: 0,
        issues_refresh_tokens: false,
        ..default_behavior()
    })
    .await;
    let client = connect(&servers, oauth()).await.unwrap();
    must_echo(&client).await;
    must_echo(&client).await;
    assert_eq!(servers.event_params("authorize").len(), 1);
    servers.revoke(false);
    must_echo(&client).await;
    assert_eq!(servers.event_params("authorize").len(), 2, "and asked for anew when it is not");
}

#[tokio::test]
async fn the_client_retries_a_failed_refresh_before_a_login() {
    let servers = ScriptedServers::new(Behavior { token_lifetime: 0, ..default_behavior() }).await;
    let client = connect(&servers, oauth()).await.unwrap();
    servers.change(|behavior| behavior.refusals = vec![(503, json!("hunter"))]);
    let error = echo(&client).await.expect_err("it is down").to_string();
    assert!(error.contains("the authorization server is unavailable"), "{error}");
    must_echo(&client).await;
    assert_eq!(servers.event_params("authorize").len(), 1);
}

#[tokio::test]
async fn registers_again_after_a_login_without_a_redirect() {
    let folder = tempfile::tempdir().unwrap();
    let servers =
        ScriptedServers::new(Behavior { issues_refresh_tokens: false, ..default_behavior() }).await;
    connect(&servers, oauth_stored_in(folder.path())).await.unwrap();
    servers.revoke(true);
    let (visitor, _) = absent_user();
    let login_timeout = Duration::from_millis(50);
    let error = refused(
        &servers,
        OAuth { browser: visitor, login_timeout, ..oauth_stored_in(folder.path()) },
    )
    .await;
    assert!(error.contains("no login within"), "{error}");
    must_echo(&connect(&servers, oauth_stored_in(folder.path())).await.unwrap()).await;
    assert_eq!(servers.event_params("register").len(), 2);
}

#[tokio::test]
async fn closing_does_not_wait_for_a_login() {
    let servers = ScriptedServers::new(Behavior { token_lifetime: 0, ..default_behavior() }).await;
    let link = HttpLink::new(&target(&servers, oauth())).unwrap();
    let client = legacy_client().connect(link).await.unwrap();
    must_echo(&client).await;
    // The session is ended with a token that must be refreshed first.
    servers.change(|behavior| behavior.replacements = vec![("/token", Replacement::Silence)]);
    let closing = client.close();
    tokio::time::timeout(Duration::from_secs(10), closing).await.expect("soon");
}

#[tokio::test]
async fn the_client_does_not_guess_temporarily_unavailable_metadata() {
    for status in [503, 429] {
        for (end, resource) in [
            ("/oauth-protected-resource/mcp", Some(json!({}))),
            ("/oauth-authorization-server", None),
        ] {
            let replacements = vec![(end, Replacement::json(status, "hunter"))];
            let behavior = Behavior {
                challenge_has_metadata_url: false,
                resource,
                issuer: "",
                replacements,
                ..default_behavior()
            };
            let servers = ScriptedServers::new(behavior).await;
            let error = refused(&servers, client_credentials()).await;
            assert!(error.contains(&format!("{end} answered {status}")), "{error}");
            assert_eq!(servers.event_params("token").len(), 0, "no server receives the secret");
            assert!(!error.contains("hunter"), "{error}");
        }
    }
}

#[tokio::test]
async fn the_client_limits_the_authorization_servers_that_it_tries() {
    let servers =
        ScriptedServers::new(Behavior { publishes_metadata: false, ..default_behavior() }).await;
    let many: Vec<_> = (0..1000).map(|number| format!("{}/{number}", servers.origin())).collect();
    servers.change(|behavior| {
        behavior.resource = Some(json!({"authorization_servers": many}));
        behavior.replacements =
            vec![("/5", Replacement::json(404, "")), ("/4", Replacement::json(404, ""))];
    });
    let error = refused(&servers, oauth()).await;
    assert!(error.contains("no authorization server was found"), "{error}");
    assert!(servers.event_names().contains(&"/4") && !servers.event_names().contains(&"/5"));
}

#[tokio::test]
async fn reports_an_invalid_token() {
    for token in ["hunter\n2", "hunter\u{1b}[2J", "hünter2", "hunter\0"] {
        let given = json!({"access_token": token, "token_type": "Bearer"});
        let servers =
            ScriptedServers::new(Behavior { refusals: vec![(200, given)], ..default_behavior() })
                .await;
        let error = refused(&servers, client_credentials()).await;
        assert!(error.contains("the token contains invalid characters"), "{error}");
    }
}

#[tokio::test]
async fn the_client_accepts_odd_token_lifetimes() {
    let lives = [json!(0), json!(-1), json!(1e300), json!("abc"), json!("3600"), json!(null)];
    for (expires_in, scope) in lives
        .into_iter()
        .flat_map(|life| [json!(null), json!("")].map(|scope| (life.clone(), scope)))
    {
        let servers = ScriptedServers::new(default_behavior()).await;
        connect(&servers, client_credentials()).await.unwrap();
        let token = "hunter-access-1";
        let given = json!({
            "access_token": token, "token_type": "bearer", "expires_in": expires_in,
            "scope": scope, "refresh_token": null,
        });
        servers.change(|behavior| behavior.refusals = vec![(200, given)]);
        let client = connect(&servers, client_credentials()).await.unwrap();
        must_echo(&client).await;
        must_echo(&client).await;
        assert_eq!(servers.event_params("token").len(), 2, "{expires_in}");
    }
}

#[tokio::test]
async fn shows_texts_of_servers_on_one_short_line() {
    let escape = "\u{1b}]0;title\u{7}\u{9b}2J\r\n";
    let long = "x".repeat(100_000);
    for words in [escape, &long] {
        let error = json!({"error": words, "error_description": words});
        let redirect_query = json!({"code": null, "error": words, "error_description": words});
        let resource = Some(json!({"resource": words}));
        let metadata = json!({"issuer": words});
        for behavior in [
            Behavior { refusals: vec![(400, error)], ..default_behavior() },
            Behavior { redirect_query, ..default_behavior() },
            Behavior { resource, ..default_behavior() },
            Behavior { metadata, ..default_behavior() },
        ] {
            // A URL cannot be that long.
            let servers = ScriptedServers::new(behavior).await;
            let login_timeout = Duration::from_secs(1);
            let error = refused(&servers, OAuth { login_timeout, ..oauth() }).await;
            assert!(!error.contains(char::is_control), "{error:?}");
            assert!(error.chars().count() < 3_000, "{}", error.len());
        }
    }
}

#[tokio::test]
async fn the_client_refuses_a_login_page_with_unprintable_characters() {
    for page in ["http://127.0.0.1:1/\u{9b}2J", "http://127.0.0.1:1/\u{7f}", "http://127.0.0.1:1/ü"]
    {
        let metadata = json!({"authorization_endpoint": page});
        let servers = ScriptedServers::new(Behavior { metadata, ..default_behavior() }).await;
        let (visitor, asked) = absent_user();
        let error = refused(&servers, OAuth { browser: visitor, ..oauth() }).await;
        assert!(error.contains("invalid response of"), "{error}");
        assert_eq!(asked.load(Ordering::Relaxed), 0);
    }
}

#[tokio::test]
async fn shows_no_secret_of_a_redirect() {
    let to = |url: &str| Replacement::Response(307, ("location", url.to_owned()), String::new());
    for location in ["/hunter2/there", "http://hunter2.example/hunter2?hunter2", "//hunter2:x"] {
        let replacements = vec![("/token", to(location))];
        let servers = ScriptedServers::new(Behavior { replacements, ..default_behavior() }).await;
        let link = HttpLink::new(&target(&servers, client_credentials())).unwrap();
        let client = Client::builder().start(link);
        let error = client.ready().await.expect_err("there is nothing").to_string();
        let shown = format!("{error} {:?}", client.transcript().exchanges());
        assert!(!shown.contains("hunter") && shown.contains("(hidden)"), "{shown}");
    }
}

#[tokio::test]
async fn masks_a_secret_that_a_server_repeats_in_another_form() {
    let secret = "hunter/2 &\"é";
    let descriptions = [
        secret.to_owned(),
        "hunter%2F2+%26%22%C3%A9".to_owned(),
        "hunter%2F2%20%26%22%C3%A9".to_owned(),
    ];
    for description in descriptions {
        let error = json!({"error": "invalid_client", "error_description": description});
        let servers =
            ScriptedServers::new(Behavior { refusals: vec![(401, error)], ..default_behavior() })
                .await;
        let proof = ClientAuth::Secret(secret.into());
        let error = refused(&servers, OAuth::client_credentials("me", proof)).await;
        assert!(error.contains("invalid_client: (hidden)"), "{error}");
    }
}

#[tokio::test]
async fn names_the_server_that_never_answers() {
    for (end, folder) in [
        ("/oauth-protected-resource/mcp", "/.well-known"),
        ("/oauth-authorization-server/as", "/.well-known"),
        ("/register", "/as"),
        ("/token", "/as"),
    ] {
        let servers = ScriptedServers::new(Behavior {
            replacements: vec![(end, Replacement::Silence)],
            ..default_behavior()
        })
        .await;
        let client = Client::builder().start(HttpLink::new(&target(&servers, oauth())).unwrap());
        while !servers.event_names().contains(&end) {
            tokio::task::yield_now().await;
        }
        tokio::time::pause();
        let error = client.ready().await.expect_err("no answer").to_string();
        tokio::time::resume();
        let url = format!("{}{folder}{end}", servers.origin());
        assert!(error.contains(&format!("{url} did not answer within 30s")), "{error}");
    }
}
