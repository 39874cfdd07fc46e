//! Tokens that outlive the client that asked for them.

use serde_json::json;
use sparring_transport::http::{HttpTarget, OAuth};

use super::world::{Ways, World};
use super::{connect, kept_in, must_echo, oauth, refused};

#[tokio::test]
async fn the_next_client_needs_no_login() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(Ways::default()).await;
    for _ in 0..2 {
        let client = connect(&world, kept_in(folder.path())).await.unwrap();
        must_echo(&client).await;
        client.close().await;
    }
    let story = ["401", "resource", "metadata", "register", "authorize", "token"];
    assert_eq!(world.story(), story, "the second one is let in at once");
    // Another client has tokens of its own.
    let client_id = Some("me".to_owned());
    let oauth = OAuth { client_id, ..kept_in(folder.path()) };
    must_echo(&connect(&world, oauth).await.unwrap()).await;
    assert_eq!(world.said("authorize")[1]["client_id"], "me");
}

#[tokio::test]
async fn a_token_that_is_about_to_expire_is_renewed_first() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(Ways { lasts: 0, ..Ways::default() }).await;
    connect(&world, kept_in(folder.path())).await.unwrap().close().await;
    world.change(|ways| ways.lasts = 3600);
    let before = world.story().len();
    let client = connect(&world, kept_in(folder.path())).await.unwrap();
    must_echo(&client).await;
    let story = world.story();
    let story = &story[before..];
    assert_eq!(story, ["resource", "metadata", "token"], "with no 401, and no login");
    let renewed = world.said("token");
    assert_eq!(renewed.last().unwrap()["client_id"], "client-1");
}

#[tokio::test]
async fn a_token_that_is_taken_back_is_renewed_or_asked_for_anew() {
    for renewals in [false, true] {
        let world = World::new(Ways::default()).await;
        let client = connect(&world, oauth()).await.unwrap();
        world.revoke(renewals);
        must_echo(&client).await;
        assert_eq!(world.said("authorize").len(), 1 + usize::from(renewals));
        assert_eq!(world.said("register").len(), 1, "the client is still the same");
    }
}

#[tokio::test]
async fn a_client_that_is_forgotten_registers_anew() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(Ways { lasts: 0, ..Ways::default() }).await;
    connect(&world, kept_in(folder.path())).await.unwrap().close().await;
    world.change(|ways| ways.refusals = vec![(401, json!({"error": "invalid_client"}))]);
    world.revoke(true);
    let client = connect(&world, kept_in(folder.path())).await.unwrap();
    world.change(|ways| ways.lasts = 3600);
    must_echo(&client).await;
    let ids: Vec<_> =
        world.said("authorize").into_iter().map(|said| said["client_id"].clone()).collect();
    assert_eq!(ids[..2], ["client-1", "client-2"]);
}

#[tokio::test]
async fn two_that_share_a_file_do_not_renew_the_same_token_twice() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(Ways { lasts: 0, ..Ways::default() }).await;
    connect(&world, kept_in(folder.path())).await.unwrap().close().await;
    world.change(|ways| ways.lasts = 3600);
    let one = connect(&world, kept_in(folder.path()));
    let other = connect(&world, kept_in(folder.path()));
    let (one, other) = tokio::join!(one, other);
    must_echo(&one.unwrap()).await;
    must_echo(&other.unwrap()).await;
    assert_eq!(world.said("token").len(), 2, "the login, and one renewal");
    assert_eq!(world.said("authorize").len(), 1);
}

#[tokio::test]
async fn a_folder_that_cannot_be_written_to_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let world = World::new(Ways::default()).await;
    let told = refused(&world, kept_in(&file)).await;
    assert!(
        told.contains("not authorized: the credentials in") && told.contains("file/"),
        "{told}"
    );
    assert_eq!(world.said("authorize").len(), 0, "before anybody logs in");
}

#[test]
fn settings_are_shown_without_their_secrets() {
    let mut target = HttpTarget::new("http://localhost/mcp");
    let proof = sparring_transport::http::Proof::Secret("hunter2".to_owned());
    let oauth = OAuth::client_credentials("me", proof);
    target.credentials = Some(sparring_transport::http::Credentials::OAuth(Box::new(oauth)));
    let shown = format!("{target:?}");
    assert!(shown.contains("ClientCredentials") && !shown.contains("hunter"), "{shown}");
}
