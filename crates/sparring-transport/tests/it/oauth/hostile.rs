//! Servers and authorization servers that mean no good: how long they can keep
//! us busy, what they can make a person do, and what they can have us show.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use sparring_peer::Client;
use sparring_transport::http::{HttpLink, OAuth, Proof, Visitor};
use sparring_wire::Revision;

use super::world::{Odd, Ways, World};
use super::{connect, connect_as, echo, kept_in, must_echo, oauth, refused, target};

fn usual() -> Ways {
    Ways::default()
}

fn of_a_session() -> sparring_peer::ClientBuilder {
    Client::builder().revision(Revision::V2025_11_25)
}

fn itself() -> OAuth {
    OAuth::client_credentials("me", Proof::Secret("hunter2".to_owned()))
}

/// Somebody who never comes back, and who counts how often they are asked.
fn nobody() -> (Visitor, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let visitor = Visitor::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    (visitor, asked)
}

#[tokio::test]
async fn a_server_that_wants_more_each_time_is_given_up() {
    for oauth in [oauth(), itself()] {
        let world = World::new(Ways { greedy: true, ..usual() }).await;
        let client = connect(&world, oauth).await.unwrap();
        let told = echo(&client).await.expect_err("it never has enough").to_string();
        assert!(told.contains("wants still another token after 5 in a row"), "{told}");
        assert_eq!(world.said("token").len(), 6);
    }
}

#[tokio::test]
async fn what_is_never_let_in_costs_one_login_also_while_others_are_let_in() {
    for renews in [true, false] {
        let ways = Ways { never: Some("tools/call"), renews, ..usual() };
        let world = World::new(ways).await;
        let client = connect(&world, oauth()).await.unwrap();
        let others = async {
            loop {
                client.list_tools().await.unwrap();
            }
        };
        let told = tokio::select! {
            told = echo(&client) => told.expect_err("never").to_string(),
            () = others => unreachable!("it goes on"),
        };
        assert!(told.contains("does not accept the token"), "{told}");
        assert_eq!(world.said("authorize").len(), 2, "to begin with, and for this");
    }
}

#[tokio::test]
async fn nobody_logs_in_for_what_is_not_needed() {
    for (never, renewals) in [("GET", 1), ("notifications/", 1), ("DELETE", 0)] {
        let world = World::new(Ways { never: Some(never), ..usual() }).await;
        let client = connect_as(&world, oauth(), of_a_session()).await.unwrap();
        while world.story().iter().filter(|what| **what == "401").count() < 1 + 2 * renewals {
            tokio::task::yield_now().await;
        }
        must_echo(&client).await;
        client.close().await;
        assert_eq!(world.said("authorize").len(), 1, "{never}");
        assert_eq!(world.said("token").len(), 1 + renewals, "{never}");
    }
    // Nor where nobody needs a token otherwise.
    for never in ["GET", "notifications/"] {
        let world = World::new(Ways { open: true, never: Some(never), ..usual() }).await;
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
async fn a_notification_is_not_worth_a_login() {
    let world = World::new(usual()).await;
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
async fn a_login_that_fails_fails_for_all_who_waited_for_it() {
    let world = World::new(usual()).await;
    let client = connect(&world, oauth()).await.unwrap();
    world.revoke(true);
    world.change(|ways| ways.brings = json!({"code": null, "error": "access_denied"}));
    let calls: Vec<_> = (0..50).map(|_| echo(&client)).collect();
    for told in futures_util::future::join_all(calls).await {
        let told = told.expect_err("nobody may").to_string();
        assert!(told.contains("access_denied"), "{told}");
    }
    assert_eq!(world.said("authorize").len(), 2, "and nobody is asked 50 times");
    // Whoever comes later may try again.
    world.change(|ways| ways.brings = json!({}));
    must_echo(&client).await;
}

#[tokio::test]
async fn a_step_up_in_vain_takes_nothing_away() {
    let ways = Ways { scope: Some("read"), for_tools: Some("write"), ..usual() };
    let world = World::new(ways).await;
    let client = connect(&world, oauth()).await.unwrap();
    world.change(|ways| ways.brings = json!({"code": null, "error": "access_denied"}));
    echo(&client).await.expect_err("somebody said no");
    let before = world.said("authorize").len();
    client.list_tools().await.unwrap();
    assert_eq!(world.said("authorize").len(), before, "the token is still good");
}

#[tokio::test]
async fn a_token_that_cannot_be_renewed_is_shown_for_as_long_as_it_is_accepted() {
    let world = World::new(Ways { lasts: 0, renews: false, ..usual() }).await;
    let client = connect(&world, oauth()).await.unwrap();
    must_echo(&client).await;
    must_echo(&client).await;
    assert_eq!(world.said("authorize").len(), 1);
    world.revoke(false);
    must_echo(&client).await;
    assert_eq!(world.said("authorize").len(), 2, "and asked for anew when it is not");
}

#[tokio::test]
async fn a_renewal_that_fails_is_tried_again_before_anybody_logs_in() {
    let world = World::new(Ways { lasts: 0, ..usual() }).await;
    let client = connect(&world, oauth()).await.unwrap();
    world.change(|ways| ways.refusals = vec![(503, json!("hunter"))]);
    let told = echo(&client).await.expect_err("it is down").to_string();
    assert!(told.contains("the authorization server is down"), "{told}");
    must_echo(&client).await;
    assert_eq!(world.said("authorize").len(), 1);
}

#[tokio::test]
async fn a_page_that_sends_nobody_back_may_not_know_the_client() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(Ways { renews: false, ..usual() }).await;
    connect(&world, kept_in(folder.path())).await.unwrap();
    world.revoke(true);
    let (visitor, _) = nobody();
    let patience = Duration::from_millis(50);
    let told = refused(&world, OAuth { visitor, patience, ..kept_in(folder.path()) }).await;
    assert!(told.contains("nobody came back"), "{told}");
    must_echo(&connect(&world, kept_in(folder.path())).await.unwrap()).await;
    assert_eq!(world.said("register").len(), 2);
}

#[tokio::test]
async fn whoever_closes_waits_for_no_login() {
    let world = World::new(Ways { lasts: 0, ..usual() }).await;
    let link = HttpLink::new(&target(&world, oauth())).unwrap();
    let client = of_a_session().connect(link).await.unwrap();
    must_echo(&client).await;
    // The end of the session is told with a token that is to be renewed first.
    world.change(|ways| ways.odd = vec![("/token", Odd::Silence)]);
    let closing = client.close();
    tokio::time::timeout(Duration::from_secs(10), closing).await.expect("soon");
}

#[tokio::test]
async fn metadata_that_is_not_there_for_now_is_not_guessed() {
    for status in [503, 429] {
        for (end, resource) in [
            ("/oauth-protected-resource/mcp", Some(json!({}))),
            ("/oauth-authorization-server", None),
        ] {
            let odd = vec![(end, Odd::says(status, "hunter"))];
            let ways = Ways { points: false, resource, issuer: "", odd, ..usual() };
            let world = World::new(ways).await;
            let told = refused(&world, itself()).await;
            assert!(told.contains(&format!("{end} answered {status}")), "{told}");
            assert_eq!(world.said("token").len(), 0, "nobody is told the secret");
            assert!(!told.contains("hunter"), "{told}");
        }
    }
}

#[tokio::test]
async fn of_many_authorization_servers_only_some_are_asked() {
    let world = World::new(Ways { publishes: false, ..usual() }).await;
    let many: Vec<_> = (0..1000).map(|number| format!("{}/{number}", world.origin())).collect();
    world.change(|ways| {
        ways.resource = Some(json!({"authorization_servers": many}));
        ways.odd = vec![("/5", Odd::says(404, "")), ("/4", Odd::says(404, ""))];
    });
    let told = refused(&world, oauth()).await;
    assert!(told.contains("nothing says where to get one"), "{told}");
    assert!(world.story().contains(&"/4") && !world.story().contains(&"/5"));
}

#[tokio::test]
async fn a_token_that_is_none_is_told_as_such() {
    for token in ["hunter\n2", "hunter\u{1b}[2J", "hünter2", "hunter\0"] {
        let given = json!({"access_token": token, "token_type": "Bearer"});
        let world = World::new(Ways { refusals: vec![(200, given)], ..usual() }).await;
        let told = refused(&world, itself()).await;
        assert!(told.contains("the token has characters that no token may have"), "{told}");
    }
}

#[tokio::test]
async fn odd_lives_of_tokens_are_no_trouble() {
    let lives = [json!(0), json!(-1), json!(1e300), json!("abc"), json!("3600"), json!(null)];
    for (expires_in, scope) in lives
        .into_iter()
        .flat_map(|life| [json!(null), json!("")].map(|scope| (life.clone(), scope)))
    {
        let world = World::new(usual()).await;
        connect(&world, itself()).await.unwrap();
        let token = "hunter-access-1";
        let given = json!({
            "access_token": token, "token_type": "bearer", "expires_in": expires_in,
            "scope": scope, "refresh_token": null,
        });
        world.change(|ways| ways.refusals = vec![(200, given)]);
        let client = connect(&world, itself()).await.unwrap();
        must_echo(&client).await;
        must_echo(&client).await;
        assert_eq!(world.said("token").len(), 2, "{expires_in}");
    }
}

#[tokio::test]
async fn the_words_of_others_are_told_plainly_and_shortly() {
    let escape = "\u{1b}]0;title\u{7}\u{9b}2J\r\n";
    let long = "x".repeat(100_000);
    for words in [escape, &long] {
        let error = json!({"error": words, "error_description": words});
        let brings = json!({"code": null, "error": words, "error_description": words});
        let resource = Some(json!({"resource": words}));
        let metadata = json!({"issuer": words});
        for ways in [
            Ways { refusals: vec![(400, error)], ..usual() },
            Ways { brings, ..usual() },
            Ways { resource, ..usual() },
            Ways { metadata, ..usual() },
        ] {
            // An address cannot be that long.
            let world = World::new(ways).await;
            let patience = Duration::from_secs(1);
            let told = refused(&world, OAuth { patience, ..oauth() }).await;
            assert!(!told.contains(char::is_control), "{told:?}");
            assert!(told.chars().count() < 3_000, "{}", told.len());
        }
    }
}

#[tokio::test]
async fn a_page_is_shown_only_if_a_terminal_can_show_it() {
    for page in ["http://127.0.0.1:1/\u{9b}2J", "http://127.0.0.1:1/\u{7f}", "http://127.0.0.1:1/ü"]
    {
        let metadata = json!({"authorization_endpoint": page});
        let world = World::new(Ways { metadata, ..usual() }).await;
        let (visitor, asked) = nobody();
        let told = refused(&world, OAuth { visitor, ..oauth() }).await;
        assert!(told.contains("cannot be used"), "{told}");
        assert_eq!(asked.load(Ordering::Relaxed), 0);
    }
}

#[tokio::test]
async fn what_leads_elsewhere_shows_no_secret() {
    let to = |url: &str| Odd::Says(307, ("location", url.to_owned()), String::new());
    for location in ["/hunter2/there", "http://hunter2.example/hunter2?hunter2", "//hunter2:x"] {
        let odd = vec![("/token", to(location))];
        let world = World::new(Ways { odd, ..usual() }).await;
        let link = HttpLink::new(&target(&world, itself())).unwrap();
        let client = Client::builder().start(link);
        let told = client.ready().await.expect_err("there is nothing").to_string();
        let shown = format!("{told} {:?}", client.transcript().exchanges());
        assert!(!shown.contains("hunter") && shown.contains("(hidden)"), "{shown}");
    }
}

#[tokio::test]
async fn a_secret_is_hidden_also_when_it_is_repeated_in_another_spelling() {
    let secret = "hunter/2 &\"é";
    let said = [
        secret.to_owned(),
        "hunter%2F2+%26%22%C3%A9".to_owned(),
        "hunter%2F2%20%26%22%C3%A9".to_owned(),
    ];
    for said in said {
        let error = json!({"error": "invalid_client", "error_description": said});
        let world = World::new(Ways { refusals: vec![(401, error)], ..usual() }).await;
        let proof = Proof::Secret(secret.to_owned());
        let told = refused(&world, OAuth::client_credentials("me", proof)).await;
        assert!(told.contains("invalid_client: (hidden)"), "{told}");
    }
}

#[tokio::test]
async fn whoever_never_answers_is_told_by_name() {
    for (end, folder) in [
        ("/oauth-protected-resource/mcp", "/.well-known"),
        ("/oauth-authorization-server/as", "/.well-known"),
        ("/register", "/as"),
        ("/token", "/as"),
    ] {
        let world = World::new(Ways { odd: vec![(end, Odd::Silence)], ..usual() }).await;
        let client = Client::builder().start(HttpLink::new(&target(&world, oauth())).unwrap());
        while !world.story().contains(&end) {
            tokio::task::yield_now().await;
        }
        tokio::time::pause();
        let told = client.ready().await.expect_err("nobody answers").to_string();
        tokio::time::resume();
        let url = format!("{}{folder}{end}", world.origin());
        assert!(told.contains(&format!("{url} did not answer within 30s")), "{told}");
    }
}
