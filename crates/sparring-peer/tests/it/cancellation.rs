//! Cancelled requests: the client notifies the server as the link and the
//! revision require, and the server stops.

use serde_json::json;
use sparring_peer::client::Error;
use sparring_peer::{Client, LinkKind, Outgoing, Stream};
use sparring_wire::Revision;
use tokio::sync::mpsc;

use crate::core_fixture::CoreFixture;
use crate::fixture::{TestConnection, TestServer, within};

async fn with_waiting_tool(
    revision: Revision,
    kind: LinkKind,
) -> (TestConnection, mpsc::UnboundedReceiver<&'static str>) {
    let (sender, events) = mpsc::unbounded_channel();
    let test_server = TestServer { waiting: Some(sender) };
    (TestConnection::with(Client::builder().revision(revision), test_server, kind).await, events)
}

#[tokio::test]
async fn a_cancelled_request_ends_on_both_sides() {
    for revision in Revision::ALL {
        for kind in [LinkKind::Shared, LinkKind::Streams] {
            let (connection, mut events) = with_waiting_tool(revision, kind).await;
            let call = connection.client.call_tool("wait", json!({})).start();
            assert_eq!(within(events.recv()).await, Some("started"));
            call.cancel(Some("bored"));
            let error = within(call).await.unwrap_err();
            assert!(matches!(error, Error::Cancelled { .. }), "{error}");
            assert_eq!(within(events.recv()).await, Some("dropped"), "{revision} {kind:?}");
            within(connection.client.ping()).await.unwrap();
            let sent = connection.client.transcript().entries();
            let notified =
                sent.iter().any(|entry| entry.frame.method() == Some("notifications/cancelled"));
            let aborted = revision.is_modern() && kind == LinkKind::Streams;
            assert_eq!(notified, !aborted, "{revision} {kind:?}");
            assert_eq!(connection.client.transcript().violations(), [], "{revision} {kind:?}");
        }
    }
}

#[tokio::test]
async fn a_dropped_request_is_cancelled() {
    let (connection, mut events) = with_waiting_tool(Revision::V2025_11_25, LinkKind::Shared).await;
    let call = connection.client.call_tool("wait", json!({})).start();
    assert_eq!(within(events.recv()).await, Some("started"));
    drop(call);
    assert_eq!(within(events.recv()).await, Some("dropped"));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_times_out_is_cancelled() {
    let (connection, mut events) = with_waiting_tool(Revision::V2026_07_28, LinkKind::Shared).await;
    let call = connection.client.call_tool("wait", json!({}));
    assert!(matches!(call.await.unwrap_err(), Error::Timeout { .. }));
    assert_eq!(events.recv().await, Some("started"));
    assert_eq!(events.recv().await, Some("dropped"));
}

#[test]
fn the_core_cancels_by_aborting_a_stream_only_in_modern_revisions() {
    let mut fixture = CoreFixture::discovered(LinkKind::Streams);
    let id = fixture.core.request(
        fixture.now,
        sparring_peer::client::core::Request::new("tools/call", None),
        "x",
    );
    let Some(Outgoing::Send { stream, .. }) = fixture.core.poll_action() else {
        panic!("nothing was sent")
    };
    assert_eq!(stream, Stream::Request(id.clone()));
    fixture.core.cancel(&id, None);
    assert_eq!(fixture.core.poll_action(), Some(Outgoing::Abort(Stream::Request(id))));
}

#[test]
fn a_broken_stream_cancels_its_request_only_in_modern_revisions() {
    use sparring_peer::server::core::{Core, Event, Profile};
    let profile = std::sync::Arc::new(Profile {
        info: sparring_wire::types::Implementation::new("s", "1"),
        capabilities: sparring_wire::types::ServerCapabilities::none().tools(),
        instructions: None,
        revisions: Revision::ALL.to_vec(),
    });
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"#;
    for (meta, cancelled) in [("", false), (meta, true)] {
        let mut core = Core::<()>::new(std::sync::Arc::clone(&profile), LinkKind::Streams);
        for text in [
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#.to_owned(),
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{meta}"name":"x"}}}}"#),
        ] {
            core.receive(sparring_peer::Incoming::from_shared_channel(sparring_wire::Frame::parse(text)));
        }
        assert!(matches!(core.poll_event(), Some(Event::Answered(..))), "to `initialize`");
        assert!(matches!(core.poll_event(), Some(Event::Request(_))));
        let stream = Stream::Request(sparring_wire::Id::Integer(1));
        core.receive(sparring_peer::Incoming::StreamEnded {
            stream,
            cause: sparring_peer::Cause::EndOfInput,
        });
        assert_eq!(matches!(core.poll_event(), Some(Event::Cancelled(_))), cancelled);
    }
}
