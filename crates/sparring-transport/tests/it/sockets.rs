//! Client and server joined by a real socket.

use sparring_peer::{Client, Handler, Server};
use sparring_transport::{connect_unix, listen_unix};
use sparring_wire::Revision;

use crate::script::within;

struct Empty;

impl Handler for Empty {}

#[tokio::test]
async fn client_and_server_talk_over_a_unix_socket_in_every_revision() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = listen_unix(&path).unwrap();
    let server = Server::new(Empty);
    for revision in Revision::ALL {
        let (here, there) = tokio::join!(connect_unix(&path), listener.accept());
        let _running = server.spawn(there.unwrap());
        let client = Client::builder().revision(revision).connect(here.unwrap());
        let client = within(client).await.unwrap();
        within(client.ping()).await.unwrap();
        assert_eq!(client.transcript().violations(), [], "{revision}");
        within(client.close()).await;
    }
    drop(listener);
    assert!(!path.exists(), "the socket's file goes with its listener");
    let error = connect_unix(&path).await.err().unwrap();
    assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
}
