//! Client and server in one process, joined by memory and by bytes. The server's
//! link is set when the session is created, or later.

use serde_json::json;
use sparring_peer::{Client, LineLink, Link, LinkKind, Server, memory};
use sparring_wire::Revision;

use crate::fixture::{TestServer, within};

async fn ours(here: impl Link, there: impl Link, revision: Revision) {
    let server = Server::new(TestServer::default());
    let running = server.spawn(there);
    let client = within(Client::builder().revision(revision).connect(here)).await.unwrap();
    let response =
        within(client.call_tool("echo", json!({"message": "over"})).into_future()).await.unwrap();
    assert_eq!(response.content(), "over!");
    assert_eq!(within(client.list_tools()).await.unwrap().len(), 7);
    assert_eq!(client.transcript().violations(), []);
    within(client.close()).await;
    within(async move {
        let mut running = running;
        running.wait().await
    })
    .await;
}

#[tokio::test]
async fn client_and_server_talk_over_memory_and_over_bytes() {
    for revision in Revision::ALL {
        for kind in [LinkKind::Shared, LinkKind::Streams] {
            let (here, there) = memory(kind);
            ours(here, there, revision).await;
        }
        for size in [1, 64 * 1024] {
            let (here, there) = tokio::io::duplex(size);
            ours(LineLink::from_stream(here), LineLink::from_stream(there), revision).await;
        }
    }
}

#[tokio::test]
async fn a_link_may_be_given_at_or_after_construction() {
    let server = Server::new(TestServer::default());
    let (here, there) = memory(LinkKind::Shared);
    let mut later = server.session();
    later.set_link(there);
    let serving = tokio::spawn(later.serve());
    let client = within(Client::connect(here)).await.unwrap();
    within(client.ping()).await.unwrap();
    within(client.close()).await;
    within(serving).await.unwrap().unwrap();

    let (here, there) = memory(LinkKind::Shared);
    let serving = tokio::spawn(server.session_on(there).serve());
    let client = within(Client::connect(here)).await.unwrap();
    drop(client);
    within(serving).await.unwrap().unwrap();
}
