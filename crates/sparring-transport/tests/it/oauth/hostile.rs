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
use super::{connect, connect_as, echo, kept_in, must_echo, oauth, refused, target};

fn usual() -> Behavior {
    Behavior::default()
}

fn of_a_session() -> sparring_peer::ClientBuilder {
    Client::builder().revision(Revision::V2025_11_25)
}

fn itself() -> OAuth {
    OAuth::client_credentials("me", ClientAuth::Secret("hunter2".to_owned()))
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
    for oauth in [oauth(), itself()] {
        let world = ScriptedServers::new(Behavior { greedy: true, ..usual() }).await;
        let client = connect(&world, oauth).await.unwrap();
        let error = echo(&client).await.expect_err("it never has enough").to_string();
        assert!(error.contains("rejected 5 tokens in a row"), "{error}");
        assert_eq!(world.said("token").len(), 6);
    }
}

#[tokio::test]
async fn a_request_that_is_always_refused_causes_one_login() {
    for renews in [true, false] {
        let behavior = Behavior { never: Some("tools/call"), renews, ..usual() };
        let world = ScriptedServers::new(behavior).await;
        let client = connect(&world, oauth()).await.unwrap();
        let others = async {
            loop {
                client.list_tools().await.unwrap();
            }
        };
        let error = tokio::select! {
            error = echo(&client) => error.expect_err("never").to_string(),
            () = others => unreachable!("it goes on"),
        };
        assert!(error.contains("rejected a new token"), "{error}");
        assert_eq!(world.said("authorize").len(), 2, "to begin with, and for this");
    }
}

#[tokio::test]
async fn no_login_for_requests_that_need_none() {
    for (never, renewals) in [("GET", 1), ("notifications/", 1), ("DELETE", 0)] {
        let world = ScriptedServers::new(Behavior { never: Some(never), ..usual() }).await;
        let client = connect_as(&world, oauth(), of_a_session()).await.unwrap();
        while world.story().iter().filter(|what| **what == "401").count() < 1 + 2 * renewals {
            tokio::task::yield_now().await;
        }
        must_echo(&client).await;
        client.close().await;
        assert_eq!(world.said("authorize").len(), 1, "{never}");
        assert_eq!(world.said("token").len(), 1 + renewals, "{never}");
    }
    // The same if no other request needs a token.
    for never in ["GET", "notifications/"] {
        let world =
            ScriptedServers::new(Behavior { open: true, never: Some(never), ..usual() }).await;
        let client = connect_as(&world, oauth(), of_a_session()).await.unwrap();
        while world.story().is_empty() {
            tokio::task::yield_now().await;
        }
        must_echo(&client).await;
        client.close().await;
        assert_eq!(world.story(), ["401"], "{never}");
    }
}

#[tokio::test]
async fn a_notification_causes_no_login() {
    let world = ScriptedServers::new(usual()).await;
    let client = connect_as(&world, oauth(), of_a_session()).await.unwrap();
    must_echo(&client).await;
    world.revoke(true);
    for _ in 0..2 {
        client.notify("notifications/roots/list_changed", None);
    }
    while world.story().iter().filter(|what| **what == "401").count() < 3 {
        tokio::task::yield_now().await;
    }
    assert_eq!(world.said("authorize").len(), 1);
    must_echo(&client).await;
    assert_eq!(world.said("authorize").len(), 2);
}

#[tokio::test]
async fn a_failed_login_fails_all_waiting_requests() {
    let world = ScriptedServers::new(usual()).await;
    let client = connect(&world, oauth()).await.unwrap();
    world.revoke(true);
    world.change(|behavior| behavior.brings = json!({"code": null, "error": "access_denied"}));
    let calls: Vec<_> = (0..50).map(|_| echo(&client)).collect();
    for error in futures_util::future::join_all(calls).await {
        let error = error.expect_err("nobody may").to_string();
        assert!(error.contains("access_denied"), "{error}");
    }
    assert_eq!(world.said("authorize").len(), 2, "and nobody is asked 50 times");
    // A later request may try again.
    world.change(|behavior| behavior.brings = json!({}));
    must_echo(&client).await;
}

#[tokio::test]
async fn a_failed_step_up_keeps_the_current_token() {
    let behavior = Behavior { scope: Some("read"), for_tools: Some("write"), ..usual() };
    let world = ScriptedServers::new(behavior).await;
    let client = connect(&world, oauth()).await.unwrap();
    world.change(|behavior| behavior.brings = json!({"code": null, "error": "access_denied"}));
    echo(&client).await.expect_err("somebody said no");
    let before = world.said("authorize").len();
    client.list_tools().await.unwrap();
    assert_eq!(world.said("authorize").len(), before, "the token is still good");
}

#[tokio::test]
async fn the_client_uses_an_expired_token_while_the_server_accepts_it() {
    let world = ScriptedServers::new(Behavior { lasts: 0, renews: false, ..usual() }).await;
    let client = connect(&world, oauth()).await.unwrap();
    must_echo(&client).await;
    must_echo(&client).await;
    assert_eq!(world.said("authorize").len(), 1);
    world.revoke(false);
    must_echo(&client).await;
    assert_eq!(world.said("authorize").len(), 2, "and asked for anew when it is not");
}

#[tokio::test]
async fn the_client_retries_a_failed_refresh_before_a_login() {
    let world = ScriptedServers::new(Behavior { lasts: 0, ..usual() }).await;
    let client = connect(&world, oauth()).await.unwrap();
    world.change(|behavior| behavior.refusals = vec![(503, json!("hunter"))]);
    let error = echo(&client).await.expect_err("it is down").to_string();
    assert!(error.contains("the authorization server is unavailable"), "{error}");
    must_echo(&client).await;
    assert_eq!(world.said("authorize").len(), 1);
}

#[tokio::test]
async fn registers_again_after_a_login_without_a_redirect() {
    let folder = tempfile::tempdir().unwrap();
    let world = ScriptedServers::new(Behavior { renews: false, ..usual() }).await;
    connect(&world, kept_in(folder.path())).await.unwrap();
    world.revoke(true);
    let (visitor, _) = absent_user();
    let patience = Duration::from_millis(50);
    let error = refused(
        &world,
        OAuth { browser: visitor, login_timeout: patience, ..kept_in(folder.path()) },
    )
    .await;
    assert!(error.contains("no login within"), "{error}");
    must_echo(&connect(&world, kept_in(folder.path())).await.unwrap()).await;
    assert_eq!(world.said("register").len(), 2);
}

#[tokio::test]
async fn closing_does_not_wait_for_a_login() {
    let world = ScriptedServers::new(Behavior { lasts: 0, ..usual() }).await;
    let link = HttpLink::new(&target(&world, oauth())).unwrap();
    let client = of_a_session().connect(link).await.unwrap();
    must_echo(&client).await;
    // The session is ended with a token that must be refreshed first.
    world.change(|behavior| behavior.odd = vec![("/token", Replacement::Silence)]);
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
            let odd = vec![(end, Replacement::says(status, "hunter"))];
            let behavior = Behavior { points: false, resource, issuer: "", odd, ..usual() };
            let world = ScriptedServers::new(behavior).await;
            let error = refused(&world, itself()).await;
            assert!(error.contains(&format!("{end} answered {status}")), "{error}");
            assert_eq!(world.said("token").len(), 0, "nobody is told the secret");
            assert!(!error.contains("hunter"), "{error}");
        }
    }
}

#[tokio::test]
async fn the_client_limits_the_authorization_servers_that_it_tries() {
    let world = ScriptedServers::new(Behavior { publishes: false, ..usual() }).await;
    let many: Vec<_> = (0..1000).map(|number| format!("{}/{number}", world.origin())).collect();
    world.change(|behavior| {
        behavior.resource = Some(json!({"authorization_servers": many}));
        behavior.odd = vec![("/5", Replacement::says(404, "")), ("/4", Replacement::says(404, ""))];
    });
    let error = refused(&world, oauth()).await;
    assert!(error.contains("no authorization server was found"), "{error}");
    assert!(world.story().contains(&"/4") && !world.story().contains(&"/5"));
}

#[tokio::test]
async fn reports_an_invalid_token() {
    for token in ["hunter\n2", "hunter\u{1b}[2J", "hünter2", "hunter\0"] {
        let given = json!({"access_token": token, "token_type": "Bearer"});
        let world =
            ScriptedServers::new(Behavior { refusals: vec![(200, given)], ..usual() }).await;
        let error = refused(&world, itself()).await;
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
        let world = ScriptedServers::new(usual()).await;
        connect(&world, itself()).await.unwrap();
        let token = "hunter-access-1";
        let given = json!({
            "access_token": token, "token_type": "bearer", "expires_in": expires_in,
            "scope": scope, "refresh_token": null,
        });
        world.change(|behavior| behavior.refusals = vec![(200, given)]);
        let client = connect(&world, itself()).await.unwrap();
        must_echo(&client).await;
        must_echo(&client).await;
        assert_eq!(world.said("token").len(), 2, "{expires_in}");
    }
}

#[tokio::test]
async fn shows_texts_of_servers_on_one_short_line() {
    let escape = "\u{1b}]0;title\u{7}\u{9b}2J\r\n";
    let long = "x".repeat(100_000);
    for words in [escape, &long] {
        let error = json!({"error": words, "error_description": words});
        let brings = json!({"code": null, "error": words, "error_description": words});
        let resource = Some(json!({"resource": words}));
        let metadata = json!({"issuer": words});
        for behavior in [
            Behavior { refusals: vec![(400, error)], ..usual() },
            Behavior { brings, ..usual() },
            Behavior { resource, ..usual() },
            Behavior { metadata, ..usual() },
        ] {
            // A URL cannot be that long.
            let world = ScriptedServers::new(behavior).await;
            let patience = Duration::from_secs(1);
            let error = refused(&world, OAuth { login_timeout: patience, ..oauth() }).await;
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
        let world = ScriptedServers::new(Behavior { metadata, ..usual() }).await;
        let (visitor, asked) = absent_user();
        let error = refused(&world, OAuth { browser: visitor, ..oauth() }).await;
        assert!(error.contains("invalid response of"), "{error}");
        assert_eq!(asked.load(Ordering::Relaxed), 0);
    }
}

#[tokio::test]
async fn shows_no_secret_of_a_redirect() {
    let to = |url: &str| Replacement::Says(307, ("location", url.to_owned()), String::new());
    for location in ["/hunter2/there", "http://hunter2.example/hunter2?hunter2", "//hunter2:x"] {
        let odd = vec![("/token", to(location))];
        let world = ScriptedServers::new(Behavior { odd, ..usual() }).await;
        let link = HttpLink::new(&target(&world, itself())).unwrap();
        let client = Client::builder().start(link);
        let error = client.ready().await.expect_err("there is nothing").to_string();
        let shown = format!("{error} {:?}", client.transcript().exchanges());
        assert!(!shown.contains("hunter") && shown.contains("(hidden)"), "{shown}");
    }
}

#[tokio::test]
async fn masks_a_secret_that_a_server_repeats_in_another_form() {
    let secret = "hunter/2 &\"é";
    let said = [
        secret.to_owned(),
        "hunter%2F2+%26%22%C3%A9".to_owned(),
        "hunter%2F2%20%26%22%C3%A9".to_owned(),
    ];
    for said in said {
        let error = json!({"error": "invalid_client", "error_description": said});
        let world =
            ScriptedServers::new(Behavior { refusals: vec![(401, error)], ..usual() }).await;
        let proof = ClientAuth::Secret(secret.to_owned());
        let error = refused(&world, OAuth::client_credentials("me", proof)).await;
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
        let world =
            ScriptedServers::new(Behavior { odd: vec![(end, Replacement::Silence)], ..usual() })
                .await;
        let client = Client::builder().start(HttpLink::new(&target(&world, oauth())).unwrap());
        while !world.story().contains(&end) {
            tokio::task::yield_now().await;
        }
        tokio::time::pause();
        let error = client.ready().await.expect_err("nobody answers").to_string();
        tokio::time::resume();
        let url = format!("{}{folder}{end}", world.origin());
        assert!(error.contains(&format!("{url} did not answer within 30s")), "{error}");
    }
}
