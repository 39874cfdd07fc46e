//! The connection to a started server.

use std::sync::{Arc, Mutex, PoisonError};

use sparring_peer::Client;
use sparring_peer::client::Subscription;
use sparring_transport::Stderr;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::check_step::CheckedServer;
use super::listed_tools::ListedTools;
use super::mocks::Journal;
use super::prepared_answers::PreparedAnswers;
use super::step_traffic::StepTraffic;

/// The connection to a started server. The tests that run at once share it.
pub(super) struct ServerConnection {
    pub(super) client: Client,
    pub(super) traffic: StepTraffic,
    pub(super) answers: PreparedAnswers,
    pub(super) stderr: Option<Stderr>,
    /// The tools that the server listed last.
    pub(super) last_tools: Mutex<Option<Arc<ListedTools>>>,
    pub(super) over_http: bool,
    /// The journal of the server, if the server is a mock.
    pub(super) journal: Option<Journal>,
    /// Serves the mock as long as the connection exists.
    pub(super) mock: Option<MockTask>,
    /// The server for checks, which open connections of their own.
    pub(super) checked: Option<CheckedServer>,
    /// Keeps the subscription to change notifications open.
    pub(super) _subscription: Option<Subscription>,
}

/// A task that serves a mock in this process. Dropping it ends the mock.
#[derive(Debug)]
pub(super) struct MockTask {
    task: JoinHandle<()>,
    /// Closed when the task ends.
    ended: watch::Receiver<()>,
}

impl MockTask {
    pub(super) fn spawn(serving: impl Future<Output = ()> + Send + 'static) -> Self {
        let (ending, ended) = watch::channel(());
        let serving = async move {
            serving.await;
            drop(ending);
        };
        MockTask { task: tokio::spawn(serving), ended }
    }
}

impl Drop for MockTask {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ServerConnection {
    pub(super) fn new(
        client: Client,
        traffic: StepTraffic,
        answers: PreparedAnswers,
        over_http: bool,
    ) -> Self {
        ServerConnection {
            client,
            traffic,
            answers,
            stderr: None,
            last_tools: Mutex::default(),
            over_http,
            journal: None,
            mock: None,
            checked: None,
            _subscription: None,
        }
    }

    /// Returns true if the server has ended. A mock over HTTP can end while its client has no
    /// open connection.
    pub(super) fn is_ended(&self) -> bool {
        let ended = self.mock.as_ref().is_some_and(|mock| mock.ended.has_changed().is_err());
        ended || !self.client.is_connected()
    }

    /// Waits until the server has ended.
    pub(super) async fn ended(&self) {
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

    /// The reason why the server has ended.
    pub(super) async fn end_cause(&self) -> String {
        match self.client.is_connected() {
            true => "it no longer listens".to_owned(),
            false => self.client.closed().await.to_string(),
        }
    }

    /// The server's tools. Lists them again if `tool` is not among the known ones.
    pub(super) async fn tools(&self, tool: &str) -> Arc<ListedTools> {
        let known = self.last_tools.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.filter(|known| known.has(tool)) {
            return known;
        }
        let listed = Arc::new(ListedTools::fetch(&self.client).await);
        *self.last_tools.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&listed));
        listed
    }

    /// The number of bytes that the server has written to its stderr.
    pub(super) fn stderr_bytes(&self) -> u64 {
        self.stderr.as_ref().map(Stderr::total_bytes).unwrap_or_default()
    }

    /// The server's stderr after its first `before` bytes.
    pub(super) fn stderr_since(&self, before: u64) -> String {
        let Some(stderr) = &self.stderr else { return String::new() };
        let new =
            usize::try_from(stderr.total_bytes().saturating_sub(before)).unwrap_or(usize::MAX);
        let text = stderr.text();
        let mut start = text.len().saturating_sub(new);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        text[start..].to_owned()
    }
}
