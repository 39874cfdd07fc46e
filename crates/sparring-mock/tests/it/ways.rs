//! How a mock is reached, and who may come in.

use std::time::Duration;

use serde_json::json;
use sparring_peer::Client;
use sparring_transport::http::{Credentials, HttpLink, HttpTarget};
use sparring_wire::Revision;

use crate::fixture::{connect, listen, mock, said, within};

#[tokio::test]
async fn paths_are_where_the_script_puts_them() {
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
        assert_eq!(said(&client, "a", json!({})).await, "x");
        within(client.close()).await;
    }
    within(serving.stop(Duration::ZERO)).await;
}

#[tokio::test]
async fn only_those_come_in_whom_the_script_names() {
    let mock = mock("auth: {bearer: [secret], basic: {ann: pw}}\ntools: [{name: a, text: x}]");
    let serving = listen(&mock).await;
    let url = mock.urls(serving.address().unwrap()).mcp;
    for (credentials, good) in [
        (None, false),
        (Some(Credentials::Bearer("wrong".to_owned())), false),
        (Some(Credentials::Bearer("secret".to_owned())), true),
        (Some(Credentials::Basic("ann:pw".to_owned())), true),
    ] {
        let target = HttpTarget { credentials, ..HttpTarget::new(url.clone()) };
        let connected = within(Client::connect(HttpLink::new(&target).unwrap())).await;
        assert_eq!(connected.is_ok(), good);
    }
}

#[tokio::test]
async fn many_clients_have_one_mock() {
    let mock = mock("tools: [{name: a, text: \"${call}\"}]");
    let mut numbers = Vec::new();
    for revision in Revision::ALL {
        let client = connect(&mock, revision).await;
        numbers.push(said(&client, "a", json!({})).await);
    }
    assert_eq!(numbers, ["1", "2", "3", "4", "5"]);
}

#[tokio::test]
async fn a_mock_that_is_dropped_leaves_its_clients() {
    let mock = mock("tools: [{name: a, text: x}]");
    let client = connect(&mock, Revision::LATEST).await;
    drop(mock);
    within(client.closed()).await;
}
