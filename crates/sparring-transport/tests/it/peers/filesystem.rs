//! Our client against npm's `server-filesystem` in a temporary folder.

use std::path::Path;

use serde_json::json;
use sparring_peer::Client;
use sparring_wire::Revision;

use super::peer::Peer;
use super::peer_connection::{
    NO_DISCOVERY, PeerConnection, TEST_TIMEOUT, check_negotiates, check_refuses, within,
};
use super::{installed, legacy};

fn target(folder: &Path) -> Option<Peer> {
    let target = installed::npm("server-filesystem")?;
    Some(Peer::Stdio(target.args([folder.to_string_lossy()])))
}

#[tokio::test]
async fn our_client_uses_server_filesystem_in_every_revision_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let Some(target) = target(folder.path()) else { return };
    for revision in legacy() {
        let connection = PeerConnection::in_revision(&target, revision).await;
        let tools = connection.tools().await;
        assert!(tools.contains("write_file") && tools.contains("list_directory"), "{tools:?}");
        // It declares neither resources nor prompts.
        assert!(connection.resources().await.is_empty() && connection.prompts().await.is_empty());

        let file = folder.path().join(revision.name());
        let written = json!({"path": file, "content": "a\nü 😀\n"});
        connection.text("write_file", written).await;
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "a\nü 😀\n", "{revision}");
        let read = connection.text("read_text_file", json!({"path": file})).await;
        assert_eq!(read, "a\nü 😀\n", "{revision}");

        let outside = connection.call("read_text_file", json!({"path": "/etc/passwd"})).await;
        assert!(outside.is_error(), "{revision}");
        assert!(outside.content().contains("outside allowed directories"), "{revision}");
        connection.end().await;
    }
}

#[tokio::test]
async fn our_client_gives_server_filesystem_its_roots() {
    let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let Some(target) = target(first.path()) else { return };
    let root = format!("file://{}", second.path().display());
    for revision in legacy() {
        let client = Client::builder().revision(revision).roots([&*root]);
        let connection = PeerConnection::with_client(client, &target).await;
        let asked = connection.client.requests().wait_for("roots/list", 1, TEST_TIMEOUT);
        within(asked).await.unwrap();
        // The roots take effect only after the answer, so the test waits for them.
        let file = second.path().join(revision.name());
        let write = json!({"path": file, "content": "new"});
        within(async { while !connection.call("write_file", write.clone()).await.success() {} })
            .await;
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "new", "{revision}");
        connection.end().await;
    }
}

#[tokio::test]
async fn our_client_finds_the_newest_revision_of_server_filesystem() {
    let folder = tempfile::tempdir().unwrap();
    let Some(target) = target(folder.path()) else { return };
    check_negotiates(&target, Revision::V2025_11_25).await.end().await;
}

#[tokio::test]
async fn our_client_reports_that_server_filesystem_lacks_the_latest_revision() {
    let folder = tempfile::tempdir().unwrap();
    let Some(target) = target(folder.path()) else { return };
    check_refuses(&target, Revision::V2026_07_28, NO_DISCOVERY).await;
}
