//! Batches: part of 2025-03-26 and of no other revision.

use sparring_peer::client::core::{Event, Request};
use sparring_peer::server::ServerTask;
use sparring_peer::{MemoryTransport, Server};
use sparring_wire::{FrameKind, Id, Revision};
use tokio::sync::mpsc;

use crate::core_fixture::CoreFixture;
use crate::fixture::{TEST_TIMEOUT, TestServer, within};

async fn initialized_server(version: &str) -> (MemoryTransport, ServerTask) {
    initialize(Server::new(TestServer::default()), version).await
}

async fn initialize(server: Server<TestServer>, version: &str) -> (MemoryTransport, ServerTask) {
    let (transport, link) = MemoryTransport::new();
    let running = server.spawn(link);
    transport.queue_incoming(format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    ));
    transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    (transport, running)
}

const BATCH: &str = r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"jsonrpc":"2.0","id":2,"method":"nope"}]"#;

#[tokio::test]
async fn the_server_answers_a_batch_by_a_batch_in_2025_03_26() {
    let (transport, _running) = initialized_server("2025-03-26").await;
    transport.queue_incoming(BATCH);
    let answer = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    assert_eq!(answer.kind(), FrameKind::Batch);
    let answers: Vec<_> =
        answer.batch_items().map(|frame| (frame.id().unwrap().to_string(), frame.kind())).collect();
    assert_eq!(answers, [("1".to_owned(), FrameKind::Result), ("2".to_owned(), FrameKind::Error)]);
    transport.queue_incoming(r#"[7,{"jsonrpc":"2.0","id":3,"method":"ping"},[]]"#);
    let mixed = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    let codes: Vec<_> =
        mixed.batch_items().map(|frame| frame.error_object().map(|error| error.code)).collect();
    assert_eq!(
        codes,
        [Some(-32600), None, Some(-32600)],
        "what is no message is answered in its batch"
    );
    transport.queue_incoming(r#"[{"jsonrpc":"2.0","method":"notifications/x"}]"#);
    transport.queue_incoming("[]");
    let empty = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    assert_eq!(empty.error_object().unwrap().code, -32600, "only the empty batch is answered");
}

/// Returns a batch of calls of one tool, with ids from 1.
fn batch_of_calls(tool: &str, count: usize) -> String {
    let call = |id| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"message":"m"}}}}}}"#
        )
    };
    format!("[{}]", (1..=count).map(call).collect::<Vec<_>>().join(","))
}

fn cancel(transport: &MemoryTransport, id: usize) {
    transport.queue_incoming(format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    ));
}

#[tokio::test]
async fn eight_requests_of_a_batch_run_at_the_same_time() {
    let (waiting, mut events) = mpsc::unbounded_channel();
    let server = Server::new(TestServer { waiting: Some(waiting) });
    let (transport, _running) = initialize(server, "2025-03-26").await;
    transport.queue_incoming(batch_of_calls("wait", 10));
    for _ in 0..8 {
        assert_eq!(within(events.recv()).await, Some("started"));
    }
    // Requests outside of the batch do not wait.
    transport.queue_incoming(r#"{"jsonrpc":"2.0","id":"p","method":"ping"}"#);
    let answer = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
    assert_eq!(answer.id(), Some(&Id::from("p")));
    assert!(events.try_recv().is_err(), "the others wait");
    // One that waits, and one that runs.
    cancel(&transport, 9);
    cancel(&transport, 3);
    assert_eq!(within(events.recv()).await, Some("dropped"));
    assert_eq!(within(events.recv()).await, Some("started"), "the last one");
    for id in (1..=10).filter(|id| ![3, 9].contains(id)) {
        cancel(&transport, id);
        assert_eq!(within(events.recv()).await, Some("dropped"), "{id}");
    }
}

#[tokio::test]
async fn a_large_batch_does_not_delay_other_clients() {
    let server = Server::new(TestServer::default());
    let (busy, _first) = initialize(server.clone(), "2025-03-26").await;
    let (other, _second) = initialize(server, "2025-11-25").await;
    busy.queue_incoming(batch_of_calls("echo", 1_000));
    other.queue_incoming(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let looking = busy.clone();
    // A task, since the runtime polls the test less often.
    let is_before = tokio::spawn(async move {
        other.wait_sent(TEST_TIMEOUT).await.unwrap();
        looking.next_sent().is_none()
    });
    assert!(is_before.await.unwrap(), "the batch was served in one piece");
    let answer = busy.wait_sent(TEST_TIMEOUT).await.unwrap();
    assert_eq!(answer.batch_items().count(), 1_000);
}

#[tokio::test]
async fn the_server_refuses_a_batch_in_other_revisions() {
    for revision in Revision::ALL
        .into_iter()
        .filter(|revision| !revision.is_modern() && !revision.has_batches())
    {
        let (transport, _running) = initialized_server(revision.name()).await;
        transport.queue_incoming(BATCH);
        let answer = transport.wait_sent(TEST_TIMEOUT).await.unwrap();
        assert_eq!(answer.error_object().unwrap().code, -32600, "{revision}");
    }
}

#[test]
fn a_client_takes_the_responses_out_of_a_batch() {
    let mut fixture = CoreFixture::connected();
    let ids = [fixture.request("a"), fixture.request("b")];
    fixture.receive(&format!(
        r#"[{{"jsonrpc":"2.0","id":{},"result":{{}}}},{{"jsonrpc":"2.0","id":{},"result":{{}}}}]"#,
        ids[1], ids[0]
    ));
    for _ in 0..2 {
        assert!(matches!(fixture.event(), Some(Event::Completed { outcome: Ok(_), .. })));
    }
    fixture.core.request(fixture.now, Request::new("c", None), "c");
    assert_eq!(fixture.core.in_flight(), 1);
}
