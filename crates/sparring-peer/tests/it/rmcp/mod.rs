//! Interoperability with the official Rust SDK over `tokio::io::duplex`: our
//! client on an rmcp server, and rmcp's client on our server.

mod our_client;
mod our_client_fixture;
mod our_client_server_requests;
mod our_client_subscriptions;
mod our_client_versions;
mod our_server;
mod their_client;
mod their_client_fixture;
mod their_client_lifecycles;
mod their_client_server_requests;
mod their_client_subscriptions;
mod their_server;
mod their_server_requests;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use sparring_wire::{Revision, Transcript};
use tokio::sync::watch;

/// The maximum time of any wait in these tests.
const TEST_TIMEOUT: Duration = Duration::from_secs(10);

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(TEST_TIMEOUT, future).await.expect("nothing takes that long")
}

/// The legacy revisions.
fn legacy() -> impl Iterator<Item = Revision> {
    Revision::ALL.into_iter().filter(|revision| !revision.is_modern())
}

/// Returns rmcp's name of a revision; it has all five.
fn version(revision: Revision) -> ProtocolVersion {
    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter();
    known.find(|version| version.as_str() == revision.name()).expect("rmcp has it").clone()
}

/// A log of events that tests can wait for.
#[derive(Clone, Default)]
struct EventLog(Arc<watch::Sender<Vec<String>>>);

impl EventLog {
    fn note(&self, what: impl Into<String>) {
        self.0.send_modify(|log| log.push(what.into()));
    }

    async fn until(&self, what: &str) {
        let mut log = self.0.subscribe();
        let happened = log.wait_for(|log| log.iter().any(|one| one == what));
        let happened = tokio::time::timeout(TEST_TIMEOUT, happened).await;
        assert!(happened.is_ok(), "{what:?} has not happened, only {:?}", self.all());
    }

    fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }
}

/// Checks that neither side violated the protocol.
fn assert_clean(transcript: &Transcript, context: &str) {
    let entries = transcript.entries().into_iter();
    let wrong: Vec<String> = entries
        .filter(|entry| !entry.violations.is_empty())
        .map(|entry| {
            let found: Vec<_> = entry.violations.iter().map(ToString::to_string).collect();
            format!("the {} sent {}: {}", entry.from, entry.frame.text(), found.join("; "))
        })
        .collect();
    assert!(wrong.is_empty(), "{context}: {wrong:#?}");
}
