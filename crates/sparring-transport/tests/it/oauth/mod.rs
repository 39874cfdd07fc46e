//! Authorization: a real client, a real listener for the browser, and a world
//! in which everything is as a test wants it.

mod faults;
mod flows;
mod hostile;
mod kept;
mod scopes;
pub(crate) mod world;

use std::path::Path;
use std::time::Duration;

use serde_json::json;
use sparring_peer::client::Error;
use sparring_peer::{Client, ClientBuilder, Response};
use sparring_transport::http::{Credentials, HttpLink, HttpTarget, OAuth, Visitor};
use world::World;

/// Somebody who opens the page and is sent back from it.
fn browser() -> Visitor {
    Visitor::new(|url| drop(tokio::spawn(reqwest::get(url.to_owned()))))
}

/// Somebody logs in; everything else as usual.
fn oauth() -> OAuth {
    OAuth::code(browser())
}

/// The same, and tokens are kept in that folder.
fn kept_in(folder: &Path) -> OAuth {
    OAuth { store: Some(folder.join("credentials.json")), ..oauth() }
}

fn target(world: &World, oauth: OAuth) -> HttpTarget {
    let mut target = HttpTarget::new(world.url());
    target.credentials = Some(Credentials::OAuth(Box::new(oauth)));
    target
}

async fn connect_as(world: &World, oauth: OAuth, builder: ClientBuilder) -> Result<Client, Error> {
    let link = HttpLink::new(&target(world, oauth)).unwrap();
    let connecting = builder.connect(link);
    tokio::time::timeout(Duration::from_secs(20), connecting).await.expect("in time")
}

async fn connect(world: &World, oauth: OAuth) -> Result<Client, Error> {
    connect_as(world, oauth, Client::builder()).await
}

/// Connects in vain, and gives the reason.
async fn refused(world: &World, oauth: OAuth) -> String {
    connect(world, oauth).await.expect_err("it must not work").to_string()
}

async fn echo(client: &Client) -> Result<Response, Error> {
    client.call_tool("echo", json!({"message": "hi"})).await
}

async fn must_echo(client: &Client) {
    let response = echo(client).await.expect("it is let in");
    assert_eq!(response.result().unwrap().at(&["content"]).unwrap().items().count(), 1);
}
