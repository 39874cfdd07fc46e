//! Authorization with a real client, a real redirect listener and scripted servers.

mod faults;
mod flows;
mod hostile;
mod scopes;
pub(crate) mod scripted_servers;
mod stored_tokens;

use std::path::Path;
use std::time::Duration;

use scripted_servers::ScriptedServers;
use serde_json::json;
use sparring_peer::client::Error;
use sparring_peer::{Client, ClientBuilder, Response};
use sparring_transport::http::{BrowserOpener, Credentials, HttpLink, HttpTarget, OAuth};

/// A browser that opens the page and follows the redirect.
fn browser() -> BrowserOpener {
    BrowserOpener::new(|url| drop(tokio::spawn(reqwest::get(url.to_owned()))))
}

/// Returns settings for a login, otherwise with defaults.
fn oauth() -> OAuth {
    OAuth::authorization_code(browser())
}

/// The same, with tokens stored in this folder.
fn oauth_stored_in(folder: &Path) -> OAuth {
    OAuth { store_path: Some(folder.join("credentials.json")), ..oauth() }
}

fn target(servers: &ScriptedServers, oauth: OAuth) -> HttpTarget {
    let mut target = HttpTarget::new(servers.url());
    target.credentials = Some(Credentials::OAuth(Box::new(oauth)));
    target
}

async fn connect_as(
    servers: &ScriptedServers,
    oauth: OAuth,
    builder: ClientBuilder,
) -> Result<Client, Error> {
    let link = HttpLink::new(&target(servers, oauth)).unwrap();
    let connecting = builder.connect(link);
    tokio::time::timeout(Duration::from_secs(20), connecting).await.expect("in time")
}

async fn connect(servers: &ScriptedServers, oauth: OAuth) -> Result<Client, Error> {
    connect_as(servers, oauth, Client::builder()).await
}

/// Fails to connect and returns the error.
async fn refused(servers: &ScriptedServers, oauth: OAuth) -> String {
    connect(servers, oauth).await.expect_err("it must not work").to_string()
}

async fn echo(client: &Client) -> Result<Response, Error> {
    client.call_tool("echo", json!({"message": "hi"})).await
}

async fn must_echo(client: &Client) {
    let response = echo(client).await.expect("it is let in");
    assert_eq!(response.result().unwrap().get_path(&["content"]).unwrap().items().count(), 1);
}
