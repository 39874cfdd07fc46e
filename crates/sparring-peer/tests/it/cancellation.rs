//! Requests given up: the server is told in the way of the link and the
//! revision, and stops.

use serde_json::json;
use sparring_peer::client::Error;
use sparring_peer::{Client, LinkKind, Outgoing, Stream};
use sparring_wire::Revision;
use tokio::sync::mpsc;

use crate::fixture::{Gym, Match, within};
use crate::stage::Stage;

async fn with_waiting_gym(
    revision: Revision,
    kind: LinkKind,
) -> (Match, mpsc::UnboundedReceiver<&'static str>) {
    let (tell, told) = mpsc::unbounded_channel();
    let gym = Gym { waiting: Some(tell) };
    (Match::with(Client::builder().revision(revision), gym, kind).await, told)
}

#[tokio::test]
async fn a_cancelled_request_ends_on_both_sides() {
    for revision in Revision::ALL {
        for kind in [LinkKind::Shared, LinkKind::Streams] {
            let (bout, mut told) = with_waiting_gym(revision, kind).await;
            let call = bout.client.call_tool("wait", json!({})).start();
            assert_eq!(within(told.recv()).await, Some("begun"));
            call.cancel(Some("bored"));
            let error = within(call).await.unwrap_err();
            assert!(matches!(error, Error::Cancelled { .. }), "{error}");
            assert_eq!(within(told.recv()).await, Some("given up"), "{revision} {kind:?}");
            within(bout.client.ping()).await.unwrap();
            let sent = bout.client.transcript().entries();
            let notified =
                sent.iter().any(|entry| entry.frame.method() == Some("notifications/cancelled"));
            let aborted = revision.is_modern() && kind == LinkKind::Streams;
            assert_eq!(notified, !aborted, "{revision} {kind:?}");
            assert_eq!(bout.client.transcript().violations(), [], "{revision} {kind:?}");
        }
    }
}

#[tokio::test]
async fn a_dropped_request_is_cancelled() {
    let (bout, mut told) = with_waiting_gym(Revision::V2025_11_25, LinkKind::Shared).await;
    let call = bout.client.call_tool("wait", json!({})).start();
    assert_eq!(within(told.recv()).await, Some("begun"));
    drop(call);
    assert_eq!(within(told.recv()).await, Some("given up"));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_times_out_is_cancelled() {
    let (bout, mut told) = with_waiting_gym(Revision::V2026_07_28, LinkKind::Shared).await;
    let call = bout.client.call_tool("wait", json!({}));
    assert!(matches!(call.await.unwrap_err(), Error::Timeout { .. }));
    assert_eq!(told.recv().await, Some("begun"));
    assert_eq!(told.recv().await, Some("given up"));
}

#[test]
fn the_core_aborts_a_stream_of_its_own_only_where_the_revision_says_so() {
    let mut stage = Stage::discovered(LinkKind::Streams);
    let id = stage.core.request(
        stage.now,
        sparring_peer::client::core::Request::new("tools/call", None),
        "x",
    );
    let Some(Outgoing::Send { stream, .. }) = stage.core.poll_action() else {
        panic!("nothing was sent")
    };
    assert_eq!(stream, Stream::Request(id.clone()));
    stage.core.cancel(&id, None);
    assert_eq!(stage.core.poll_action(), Some(Outgoing::Abort(Stream::Request(id))));
}

#[test]
fn a_broken_stream_is_a_cancellation_only_where_the_revision_says_so() {
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
            core.receive(sparring_peer::Incoming::on_shared_channel(sparring_wire::Frame::parse(text)));
        }
        assert!(matches!(core.poll_event(), Some(Event::Call(_))));
        let stream = Stream::Request(sparring_wire::Id::Integer(1));
        core.receive(sparring_peer::Incoming::StreamEnded {
            stream,
            cause: sparring_peer::Cause::EndOfInput,
        });
        assert_eq!(matches!(core.poll_event(), Some(Event::Cancelled(_))), cancelled);
    }
}
