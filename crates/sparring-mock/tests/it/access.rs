//! Paths, credentials and connections of a mock.

use std::time::Duration;

use serde_json::json;
use sparring_peer::Client;
use sparring_transport::http::{Credentials, HttpLink, HttpTarget};
use sparring_wire::Revision;

use crate::fixture::{call_text, connect, listen, mock, within};

#[tokio::test]
async fn serves_the_paths_of_the_script() {
    let mock =
        mock("paths: {mcp: /a/mcp, sse: /a/sse, messages: /a/post}\ntools: [{name: a, text: x}]");
    let serving = listen(&mock).await;
    let address = serving.address().unwrap();
    let urls = mock.urls(address);
    assert_eq!(urls.mcp, format!("http://{address}/a/mcp"));
    assert_eq!(urls.sse, Some(format!("http://{address}/a/sse")));
    for url in [urls.mcp, urls.sse.unwrap()] {
        let link = HttpLink::new(&HttpTarget::new(url)).unwrap();
        let client = within(Client::connect(link)).await.unwrap();
        assert_eq!(call_text(&client, "a", json!({})).await, "x");
        within(client.close()).await;
    }
    within(serving.stop(Duration::ZERO)).await;
}

#[tokio::test]
async fn accepts_only_the_credentials_of_the_script() {
    let mock = mock("auth: {bearer: [secret], basic: {ann: pw}}\ntools: [{name: a, text: x}]");
    let serving = listen(&mock).await;
    let url = mock.urls(serving.address().unwrap()).mcp;
    for (credentials, good) in [
        (None, false),
        (Some(Credentials::Bearer("wrong".into())), false),
        (Some(Credentials::Bearer("secret".into())), true),
        (Some(Credentials::Basic("ann:pw".into())), true),
    ] {
        let target = HttpTarget { credentials, ..HttpTarget::new(url.clone()) };
        let connected = within(Client::connect(HttpLink::new(&target).unwrap())).await;
        assert_eq!(connected.is_ok(), good);
    }
}

#[tokio::test]
async fn serves_many_clients() {
    let mock = mock("tools: [{name: a, text: \"${call}\"}]");
    let mut numbers = Vec::new();
    for revision in Revision::ALL {
        let client = connect(&mock, revision).await;
        numbers.push(call_text(&client, "a", json!({})).await);
    }
    assert_eq!(numbers, ["1", "2", "3", "4", "5"]);
}

#[tokio::test]
async fn dropping_a_mock_disconnects_its_clients() {
    let mock = mock("tools: [{name: a, text: x}]");
    let client = connect(&mock, Revision::LATEST).await;
    drop(mock);
    within(client.closed()).await;
}
