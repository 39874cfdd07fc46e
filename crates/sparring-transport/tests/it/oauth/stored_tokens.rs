//! Tokens that are stored and used by later clients.

use serde_json::json;
use sparring_transport::http::{BrowserOpener, HttpTarget, OAuth};

use super::scripted_servers::{Behavior, ScriptedServers};
use super::{connect, must_echo, oauth, oauth_stored_in, refused};

#[tokio::test]
async fn the_next_client_needs_no_login() {
    let folder = tempfile::tempdir().unwrap();
    let servers = ScriptedServers::new(Behavior::default()).await;
    for _ in 0..2 {
        let client = connect(&servers, oauth_stored_in(folder.path())).await.unwrap();
        must_echo(&client).await;
        client.close().await;
    }
    let event_names = ["401", "resource", "metadata", "register", "authorize", "token"];
    assert_eq!(servers.event_names(), event_names, "the second one is let in at once");
    // Another client has its own tokens.
    let client_id = Some("me".to_owned());
    let oauth = OAuth { client_id, ..oauth_stored_in(folder.path()) };
    must_echo(&connect(&servers, oauth).await.unwrap()).await;
    assert_eq!(servers.event_params("authorize")[1]["client_id"], "me");
}

#[tokio::test]
async fn the_client_refreshes_a_token_that_is_about_to_expire() {
    let folder = tempfile::tempdir().unwrap();
    let servers = ScriptedServers::new(Behavior { token_lifetime: 0, ..Behavior::default() }).await;
    connect(&servers, oauth_stored_in(folder.path())).await.unwrap().close().await;
    servers.change(|behavior| behavior.token_lifetime = 3600);
    let before = servers.event_names().len();
    let client = connect(&servers, oauth_stored_in(folder.path())).await.unwrap();
    must_echo(&client).await;
    let event_names = servers.event_names();
    let event_names = &event_names[before..];
    assert_eq!(event_names, ["resource", "metadata", "token"], "with no 401, and no login");
    let renewed = servers.event_params("token");
    assert_eq!(renewed.last().unwrap()["client_id"], "client-1");
}

#[tokio::test]
async fn the_client_replaces_a_revoked_token() {
    for renewals in [false, true] {
        let servers = ScriptedServers::new(Behavior::default()).await;
        let client = connect(&servers, oauth()).await.unwrap();
        servers.revoke(renewals);
        must_echo(&client).await;
        assert_eq!(servers.event_params("authorize").len(), 1 + usize::from(renewals));
        assert_eq!(servers.event_params("register").len(), 1, "the client is still the same");
    }
}

#[tokio::test]
async fn an_unknown_client_registers_again() {
    let folder = tempfile::tempdir().unwrap();
    let servers = ScriptedServers::new(Behavior { token_lifetime: 0, ..Behavior::default() }).await;
    connect(&servers, oauth_stored_in(folder.path())).await.unwrap().close().await;
    servers.change(|behavior| behavior.refusals = vec![(401, json!({"error": "invalid_client"}))]);
    servers.revoke(true);
    let client = connect(&servers, oauth_stored_in(folder.path())).await.unwrap();
    servers.change(|behavior| behavior.token_lifetime = 3600);
    must_echo(&client).await;
    let ids: Vec<_> = servers
        .event_params("authorize")
        .into_iter()
        .map(|params| params["client_id"].clone())
        .collect();
    assert_eq!(ids[..2], ["client-1", "client-2"]);
}

#[tokio::test]
async fn two_clients_with_one_file_refresh_a_token_once() {
    let folder = tempfile::tempdir().unwrap();
    let servers = ScriptedServers::new(Behavior { token_lifetime: 0, ..Behavior::default() }).await;
    connect(&servers, oauth_stored_in(folder.path())).await.unwrap().close().await;
    servers.change(|behavior| behavior.token_lifetime = 3600);
    let one = connect(&servers, oauth_stored_in(folder.path()));
    let other = connect(&servers, oauth_stored_in(folder.path()));
    let (one, other) = tokio::join!(one, other);
    must_echo(&one.unwrap()).await;
    must_echo(&other.unwrap()).await;
    assert_eq!(servers.event_params("token").len(), 2, "the login, and one renewal");
    assert_eq!(servers.event_params("authorize").len(), 1);
}

#[tokio::test]
async fn the_store_keeps_the_later_of_two_concurrent_logins() {
    let folder = tempfile::tempdir().unwrap();
    let servers = ScriptedServers::new(Behavior::default()).await;
    let (sender, asked) = tokio::sync::oneshot::channel();
    let sender = std::sync::Mutex::new(Some(sender));
    let visitor = BrowserOpener::new(move |url| {
        sender.lock().unwrap().take().unwrap().send(url.to_owned()).unwrap();
    });
    let slow = connect(&servers, OAuth { browser: visitor, ..oauth_stored_in(folder.path()) });
    let quick = async {
        let page = asked.await.unwrap();
        must_echo(&connect(&servers, oauth_stored_in(folder.path())).await.unwrap()).await;
        reqwest::get(page).await.unwrap();
    };
    let (slow, ()) = tokio::join!(slow, quick);
    must_echo(&slow.unwrap()).await;
    assert_eq!(
        (servers.event_params("register").len(), servers.event_params("authorize").len()),
        (2, 2)
    );
    must_echo(&connect(&servers, oauth_stored_in(folder.path())).await.unwrap()).await;
    assert_eq!(servers.event_params("authorize").len(), 2, "what is kept is good");
}

#[tokio::test]
async fn reports_a_folder_that_is_not_writable() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let servers = ScriptedServers::new(Behavior::default()).await;
    let error = refused(&servers, oauth_stored_in(&file)).await;
    assert!(
        error.contains("not authorized: cannot use the credentials in") && error.contains("file/"),
        "{error}"
    );
    assert_eq!(servers.event_params("authorize").len(), 0, "before anybody logs in");
}

#[tokio::test]
async fn a_server_without_authorization_creates_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let servers =
        ScriptedServers::new(Behavior { needs_no_token: true, ..Behavior::default() }).await;
    let client = connect(&servers, oauth_stored_in(&folder.path().join("new"))).await.unwrap();
    must_echo(&client).await;
    client.close().await;
    assert!(servers.event_names().is_empty(), "{:?}", servers.event_names());
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[cfg(unix)]
#[tokio::test]
async fn the_store_keeps_a_link_to_an_empty_file() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let (link, file) = (folder.path().join("credentials.json"), folder.path().join("file"));
    std::fs::write(&file, "").unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(&file, private).unwrap();
    symlink(&file, &link).unwrap();
    let servers = ScriptedServers::new(Behavior::default()).await;
    must_echo(&connect(&servers, oauth_stored_in(folder.path())).await.unwrap()).await;
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(std::fs::read_to_string(&file).unwrap().contains("hunter-access"));
}

#[cfg(unix)]
#[tokio::test]
async fn reports_a_store_that_is_not_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("credentials.json");
    let servers = ScriptedServers::new(Behavior::default()).await;
    for make in [
        |path: &std::path::Path| std::fs::create_dir(path).unwrap(),
        |path: &std::path::Path| {
            std::fs::remove_dir(path).unwrap();
            let made = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(made.success());
        },
    ] {
        make(&path);
        let error = refused(&servers, oauth_stored_in(folder.path())).await;
        assert!(error.contains("credentials.json: not a regular file"), "{error}");
    }
}

#[test]
fn settings_are_shown_without_their_secrets() {
    let mut target = HttpTarget::new("http://localhost/mcp");
    let proof = sparring_transport::http::ClientAuth::Secret("hunter2".into());
    let oauth = OAuth::client_credentials("me", proof);
    target.credentials = Some(sparring_transport::http::Credentials::OAuth(Box::new(oauth)));
    let shown = format!("{target:?}");
    assert!(shown.contains("ClientCredentials") && !shown.contains("hunter"), "{shown}");
}
