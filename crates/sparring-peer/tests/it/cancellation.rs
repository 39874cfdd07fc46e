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
