//! Client and server over a real socket and over real named pipes.

use sparring_peer::{Client, Handler, Server};
use sparring_transport::{NamedPipes, connect_unix, listen_unix};
use sparring_wire::Revision;

use crate::script::{TEST_TIMEOUT, within};

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

#[tokio::test]
async fn client_and_server_talk_over_named_pipes_in_every_revision() {
    let folder = tempfile::tempdir().unwrap();
    let pipes = NamedPipes::from_base(&folder.path().join("pipe"));
    pipes.create().unwrap();
    let server = Server::new(Empty);
    for revision in Revision::ALL {
        let both = async {
            tokio::join!(pipes.open_as_client(TEST_TIMEOUT), pipes.open_as_server(TEST_TIMEOUT))
        };
        let (here, there) = within(both).await;
        let mut running = server.spawn(there.unwrap());
        let client = Client::builder().revision(revision).connect(here.unwrap());
        let client = within(client).await.unwrap();
        within(client.ping()).await.unwrap();
        assert_eq!(client.transcript().violations(), [], "{revision}");
        within(client.close()).await;
        within(running.wait()).await;
    }
}

#[tokio::test]
async fn reports_a_named_pipe_that_is_not_opened() {
    let folder = tempfile::tempdir().unwrap();
    let pipes = NamedPipes::from_base(&folder.path().join("pipe"));
    let missing = pipes.open_as_client(TEST_TIMEOUT).await.err().unwrap();
    assert!(missing.to_string().contains("pipe.out"), "{missing}");
    pipes.create().unwrap();
    let alone = pipes.open_as_server(std::time::Duration::from_millis(20)).await.err().unwrap();
    assert_eq!(alone.kind(), std::io::ErrorKind::TimedOut);
    assert!(alone.to_string().contains("was not opened within"), "{alone}");
}
