//! The memory transport: a server driven by a test.

use std::time::Duration;

use sparring_peer::{MemoryTransport, Server};

use crate::fixture::{TEST_TIMEOUT, TestServer, within};

fn ping(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)
}

#[tokio::test]
async fn queues_incoming_and_takes_outgoing_last_next_and_all() {
    let (transport, link) = MemoryTransport::new();
    for id in 1..=3 {
        transport.queue_incoming(ping(id));
    }
    let mut session = Server::new(TestServer::default()).session_on(link);
    within(session.serve_requests(3)).await.unwrap();
    assert_eq!(transport.all_sent().len(), 3);
    assert_eq!(transport.last_sent().unwrap().id().unwrap().to_string(), "3");
    let taken: Vec<_> = std::iter::from_fn(|| transport.next_sent())
        .map(|frame| frame.id().unwrap().to_string())
        .collect();
    assert_eq!(taken, ["1", "2", "3"]);
    assert_eq!(transport.all_sent().len(), 3, "taking leaves the record");
    transport.clear();
    assert!(transport.all_sent().is_empty() && transport.last_sent().is_none());
}

#[tokio::test]
async fn receiving_from_an_empty_one_never_blocks_for_ever() {
    let (transport, link) = MemoryTransport::new();
    assert_eq!(transport.next_sent(), None);
    assert_eq!(within(transport.wait_sent(Duration::from_millis(5))).await, None);
    drop(link);
    assert_eq!(
        within(transport.wait_sent(TEST_TIMEOUT)).await,
        None,
        "a peer that is gone sends nothing"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn many_threads_may_use_it_at_once() {
    let (transport, link) = MemoryTransport::new();
    let running = Server::new(TestServer::default()).spawn(link);
    let threads: Vec<_> = (0..8)
        .map(|thread| {
            let transport = transport.clone();
            std::thread::spawn(move || {
                for n in 0..100 {
                    transport.queue_incoming(ping(thread * 100 + n));
                }
            })
        })
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
    let mut ids = std::collections::HashSet::new();
    for _ in 0..800 {
        ids.insert(
            transport.wait_sent(TEST_TIMEOUT).await.expect("all are answered").id().cloned(),
        );
    }
    assert_eq!(ids.len(), 800);
    within(running.stop()).await;
}
