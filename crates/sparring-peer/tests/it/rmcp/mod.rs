//! Our peers beside those of the official Rust SDK, over `tokio::io::duplex`:
//! our client on an rmcp server, and rmcp's client on our server.

mod clients;
mod conversation;
mod handlers;
mod our_client;
mod our_client_asked;
mod our_client_subscribed;
mod our_client_versions;
mod questions;
mod servers;
mod their_client;
mod their_client_asked;
mod their_client_lifecycles;
mod their_client_subscribed;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use sparring_wire::{Revision, Transcript};
use tokio::sync::watch;

/// No wait in these tests is longer than this.
const PATIENCE: Duration = Duration::from_secs(10);

async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing takes that long")
}

/// The revisions that begin with a handshake.
fn legacy() -> impl Iterator<Item = Revision> {
    Revision::ALL.into_iter().filter(|revision| !revision.is_modern())
}

/// rmcp's name of a revision; it has all five.
fn version(revision: Revision) -> ProtocolVersion {
    let mut known = ProtocolVersion::KNOWN_VERSIONS.iter();
    known.find(|version| version.as_str() == revision.name()).expect("rmcp has it").clone()
}

/// What happened somewhere, to be waited for.
#[derive(Clone, Default)]
struct Seen(Arc<watch::Sender<Vec<String>>>);

impl Seen {
    fn note(&self, what: impl Into<String>) {
        self.0.send_modify(|seen| seen.push(what.into()));
    }

    async fn until(&self, what: &str) {
        let mut seen = self.0.subscribe();
        let happened = seen.wait_for(|seen| seen.iter().any(|one| one == what));
        let happened = tokio::time::timeout(PATIENCE, happened).await;
        assert!(happened.is_ok(), "{what:?} has not happened, only {:?}", self.all());
    }

    fn all(&self) -> Vec<String> {
        self.0.borrow().clone()
    }
}

/// Nothing on the wire was wrong, from whatever side.
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
