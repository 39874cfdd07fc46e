//! Where a server sits during its tests: started before the first, again after
//! a crash, and ended after the last.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Map;
use sparring_peer::Client;
use sparring_peer::client::Subscription;
use sparring_transport::Stderr;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::desk::Desk;
use super::scope::Folder;
use super::shots::Shots;
use super::stand_ins::{Journal, StandIns};
use super::stop::Stop;
use super::tools::Tools;
use super::walk::Walk;
use super::watch::Watch;
use super::{World, open};
use crate::event::Story;
use crate::model::{Facet, Server, Suite, Variant, Way};

/// How long the end of a server may take to be seen after a request that has no
/// usable answer, so that the next test is not the one that meets it.
const LAST_BREATH: Duration = Duration::from_millis(200);

/// The place of one server.
pub(super) struct Seat<'a> {
    pub(super) suite: &'a Suite,
    pub(super) server: &'a Server,
    /// Which of the suite's servers that is.
    pub(super) index: usize,
    /// How it is to be talked to.
    pub(super) variant: Variant,
    pub(super) world: &'a World,
    /// The answers that its tests keep.
    pub(super) shots: &'a Shots,
    /// Its folder, for `${tmp}`.
    pub(super) folder: Folder,
    /// What is started beside it.
    stand_ins: Option<Arc<StandIns>>,
    running: Option<Arc<Running>>,
    /// Why it could not be started or set up; it is not tried twice.
    refused: Option<Story>,
    /// What the suite's setup did on the server that runs, once it has begun.
    set_up: Option<Walk<'a>>,
}

/// Why a server could not be started, to be told in each of its tests.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) span: sparring_script::Span,
    pub(super) message: String,
    pub(super) stderr: String,
}

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
    /// Whether what came last was no usable answer: it may be about to end.
    pub(super) shaken: AtomicBool,
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

impl<'a> Seat<'a> {
    pub(super) fn new(
        suite: &'a Suite,
        index: usize,
        variant: Variant,
        world: &'a World,
        shots: &'a Shots,
    ) -> Self {
        let (server, folder) = (&suite.servers[index], Folder::default());
        Seat {
            suite,
            server,
            index,
            variant,
            world,
            shots,
            folder,
            stand_ins: None,
            running: None,
            refused: None,
            set_up: None,
        }
    }

    /// Begins on the server, which is started where it is not running, and set
    /// up where that was not done since.
    ///
    /// # Errors
    /// When that fails, now or earlier.
    pub(super) async fn ready(&mut self) -> Result<Walk<'a>, Story> {
        let stand_ins = self.stand_ins().await?;
        if let Way::Nobody = self.server.way {
            return Ok(Walk::new(None, self, stand_ins, Map::new()));
        }
        // One that a test has started anew was not set up, and what the test did
        // on it may be in the way of that.
        if self.set_up.is_none() && !self.suite.setup.is_empty() {
            self.close().await;
        }
        let running = self.running().await?;
        if self.set_up.is_none() {
            let running = Some(Arc::clone(&running));
            let walk = Walk::new(running, self, Arc::clone(&stand_ins), Map::new());
            // Kept before it is done, so that what is begun is torn down too.
            let walk = self.set_up.insert(walk);
            let done = walk.until_one_fails(&self.suite.setup, None, &|_, _, _| None).await;
            if let Err(story) = done {
                let story = story.during("the suite's setup");
                self.refused = Some(story.clone());
                return Err(story);
            }
        }
        let saved = self.set_up.as_ref().map(|walk| walk.saved().clone()).unwrap_or_default();
        Ok(Walk::new(Some(running), self, stand_ins, saved))
    }

    /// Makes the stand-ins as they were at first, for a test that has them for
    /// itself.
    pub(super) fn begin_test(&self) {
        if let Some(stand_ins) = self.stand_ins.as_ref().filter(|_| self.server.concurrency == 1) {
            stand_ins.reset();
        }
    }

    /// What templates can ask of the stand-ins.
    pub(super) fn mocks(&self) -> &serde_json::Value {
        self.stand_ins.as_ref().map_or(&serde_json::Value::Null, |it| it.facts())
    }

    /// Where a mock that runs elsewhere keeps its journal, if a test looks at
    /// that.
    pub(super) fn journal_file(&self) -> Option<PathBuf> {
        let steps = self.suite.tests.iter().flat_map(|test| test.all_steps());
        let looked = steps.flat_map(|step| &step.expect.0).any(
            |(_, facet)| matches!(facet, Facet::Journal { name, .. } if *name == self.server.name),
        );
        if !looked {
            return None;
        }
        let folder = self.folder.path().ok()?;
        Some(PathBuf::from(folder.as_str()?).join("journal.jsonl"))
    }

    /// Ends the server and starts it anew.
    ///
    /// # Errors
    /// When it does not start.
    pub(super) async fn renew(&mut self) -> Result<Arc<Running>, Story> {
        self.close().await;
        self.running().await
    }

    /// Ends the server in good order: what the suite has set up is torn down.
    /// Gives what did not hold in that.
    pub(super) async fn leave(&mut self, stop: &Stop) -> Option<Story> {
        let mut story = None;
        if let Some(mut walk) = self.set_up.take().filter(Walk::is_connected) {
            let torn_down = async {
                let story = walk.all(&self.suite.teardown, self.refused.is_some()).await;
                walk.end().await;
                story
            };
            let torn_down = stop.bound(torn_down).await.flatten();
            story = torn_down.map(|story| story.during("the suite's teardown"));
        }
        self.close().await;
        story
    }

    /// The server, started where it is not running.
    async fn running(&mut self) -> Result<Arc<Running>, Story> {
        if let Some(story) = &self.refused {
            return Err(story.clone());
        }
        if let Some(running) = self.running.as_ref().filter(|it| it.shaken.swap(false, Relaxed)) {
            let _ = timeout(LAST_BREATH, running.gone()).await;
        }
        if self.running.as_ref().is_some_and(|running| running.is_gone()) {
            self.close().await;
        }
        if let Some(running) = &self.running {
            return Ok(Arc::clone(running));
        }
        match open::open(self).await {
            Ok(running) => Ok(Arc::clone(self.running.insert(Arc::new(running)))),
            Err(refusal) => Err(self.refuse(&refusal)),
        }
    }

    /// The stand-ins, started where they are not.
    async fn stand_ins(&mut self) -> Result<Arc<StandIns>, Story> {
        if let Some(story) = &self.refused {
            return Err(story.clone());
        }
        if let Some(stand_ins) = &self.stand_ins {
            return Ok(Arc::clone(stand_ins));
        }
        let started =
            StandIns::start(self.suite, self.variant, self.server, self.world, &self.folder).await;
        match started {
            Ok(started) => Ok(Arc::clone(self.stand_ins.insert(Arc::new(started)))),
            Err(refusal) => Err(self.refuse(&refusal)),
        }
    }

    fn refuse(&mut self, refusal: &Refusal) -> Story {
        self.refused.insert(refusal.story()).clone()
    }

    /// Ends the server, and waits until it is gone.
    async fn close(&mut self) {
        self.set_up = None;
        if let Some(running) = self.running.take() {
            running.client.close().await;
        }
    }
}

impl Running {
    /// Whether there is nobody to talk to any more. A mock over HTTP can end
    /// although no connection was to last.
    fn is_gone(&self) -> bool {
        let ended = self.mock.as_ref().is_some_and(|mock| mock.ended.has_changed().is_err());
        ended || !self.client.is_connected()
    }

    /// Waits until that is so.
    async fn gone(&self) {
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
}

impl Refusal {
    fn story(&self) -> Story {
        let failure = crate::event::Failure::new(self.span, self.message.clone());
        Story { stderr: self.stderr.clone(), ..Story::of(failure) }
    }
}
