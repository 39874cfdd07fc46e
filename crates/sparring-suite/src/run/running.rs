//! A server that was started, and whether it is still there.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};

use sparring_peer::Client;
use sparring_peer::client::Subscription;
use sparring_transport::Stderr;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::desk::Desk;
use super::stand_ins::Journal;
use super::tools::Tools;
use super::watch::Watch;

/// A server that was started.
pub(super) struct Running {
    pub(super) client: Client,
    pub(super) watch: Watch,
    pub(super) desk: Desk,
    pub(super) stderr: Option<Stderr>,
    pub(super) tools: Mutex<Option<Arc<Tools>>>,
    /// How often the server had asked before the step that goes on.
    pub(super) questioned: AtomicU64,
    /// Whether a step was done on it.
    pub(super) used: AtomicBool,
    /// Whether a step has met the end of it.
    pub(super) met_end: AtomicBool,
    /// Whether what came last was no usable answer: it may be about to end.
    pub(super) shaken: AtomicBool,
    /// Whether a test failed because it took too long: it may hang for good.
    pub(super) hangs: AtomicBool,
    pub(super) over_http: bool,
    /// What came to it, where it is a mock.
    pub(super) journal: Option<Journal>,
    /// Held so that it lives as long as its client.
    pub(super) mock: Option<Mocked>,
    /// Held so that the server goes on telling.
    pub(super) _subscription: Option<Subscription>,
}

/// A mock that is served in this process, until nobody holds it.
#[derive(Debug)]
pub(super) struct Mocked {
    task: JoinHandle<()>,
    /// Gone with the task.
    ended: watch::Receiver<()>,
}

impl Mocked {
    pub(super) fn spawn(serving: impl Future<Output = ()> + Send + 'static) -> Self {
        let (ending, ended) = watch::channel(());
        let serving = async move {
            serving.await;
            drop(ending);
        };
        Mocked { task: tokio::spawn(serving), ended }
    }
}

impl Drop for Mocked {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Running {
    /// Whether there is nobody to talk to any more. A mock over HTTP can end
    /// although no connection was to last.
    pub(super) fn is_gone(&self) -> bool {
        let ended = self.mock.as_ref().is_some_and(|mock| mock.ended.has_changed().is_err());
        ended || !self.client.is_connected()
    }

    /// Waits until that is so.
    pub(super) async fn gone(&self) {
        let mock = async {
            let Some(mock) = &self.mock else { return std::future::pending().await };
            let mut ended = mock.ended.clone();
            while ended.changed().await.is_ok() {}
        };
        tokio::select! {
            _ = self.client.closed() => {}
            () = mock => {}
        }
    }

    /// Why it has ended, where no step has met that; told once.
    pub(super) async fn ended_unseen(&self) -> Option<String> {
        if !self.is_gone() || self.met_end.swap(true, Relaxed) {
            return None;
        }
        Some(match self.client.is_connected() {
            true => "it listens no more".to_owned(),
            false => self.client.closed().await.to_string(),
        })
    }
}
