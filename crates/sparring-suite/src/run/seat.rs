//! Where a server sits during its tests: started before the first, again after
//! a crash, and ended after the last.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use serde_json::Map;
use sparring_wire::Violation;
use tokio::time::timeout;

use super::heard::violation;
use super::running::Running;
use super::scope::Folder;
use super::shots::Shots;
use super::stand_ins::StandIns;
use super::stop::Stop;
use super::tape::Tape;
use super::walk::Walk;
use super::{World, open};
use crate::event::{Failure, Story};
use crate::judge::breach;
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
    /// Keeps all that is said, where that is wanted.
    pub(super) tape: Option<Tape>,
    /// Its folder, for `${tmp}`.
    pub(super) folder: Folder,
    /// What is started beside it.
    stand_ins: Option<Arc<StandIns>>,
    running: Option<Arc<Running>>,
    /// Why it could not be started or set up; it is not tried twice.
    refused: Option<Story>,
    /// What the suite's setup did, once it has begun.
    set_up: Option<Walk<'a>>,
    /// Whether that was on the server that runs.
    is_set_up: bool,
    /// What servers that have ended broke without anybody being told.
    unsaid: Vec<Violation>,
}

/// Why a server could not be started, to be told in each of its tests.
#[derive(Debug, Clone)]
pub(super) struct Refusal {
    pub(super) span: sparring_script::Span,
    pub(super) message: String,
    pub(super) stderr: String,
}

impl<'a> Seat<'a> {
    pub(super) fn new(
        suite: &'a Suite,
        index: usize,
        variant: Variant,
        world: &'a World,
        shots: &'a Shots,
        tape: Option<Tape>,
    ) -> Self {
        let (server, folder) = (&suite.servers[index], Folder::default());
        Seat {
            suite,
            server,
            index,
            variant,
            world,
            shots,
            tape,
            folder,
            stand_ins: None,
            running: None,
            refused: None,
            set_up: None,
            is_set_up: false,
            unsaid: Vec::new(),
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
        if let Some(cause) = self.ended_unseen().await {
            self.close().await;
            let message =
                format!("the server `{}` ended before this test: {cause}", self.server.name);
            return Err(Story::of(Failure::new(self.server.span, message)));
        }
        // One that a test has started anew was not set up, and what the test did
        // on it may be in the way of that.
        if !self.is_set_up && !self.suite.setup.is_empty() {
            self.close().await;
        }
        let running = self.running().await?;
        if !self.is_set_up {
            self.is_set_up = true;
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
    /// Gives what did not hold in that, and what was not told of the server.
    pub(super) async fn leave(&mut self, stop: &Stop) -> Option<Story> {
        let ended = self.ended_unseen().await;
        let story = stop.bound(self.tear_down()).await.flatten();
        let story = story.map(|story| story.during("the suite's teardown"));
        self.close().await;
        let ended = ended.map(|cause| format!("the server ended after the last step: {cause}"));
        let broken = self.unsaid.drain(..);
        let broken = broken.map(|it| format!("after the last step: {}", breach(&violation(&it))));
        let told = ended.into_iter().chain(broken);
        let failures: Vec<Failure> =
            told.map(|message| Failure::new(self.server.span, message)).collect();
        let later = (!failures.is_empty()).then(|| Story { failures, ..Story::default() });
        match story {
            Some(story) => Some(story.and(later)),
            None => later,
        }
    }

    /// Why the server has ended, where no step has met that; told once.
    pub(super) async fn ended_unseen(&self) -> Option<String> {
        self.running.as_ref()?.ended_unseen().await
    }

    /// Tears down what the suite has set up, on the server started again where
    /// it has ended.
    async fn tear_down(&mut self) -> Option<Story> {
        let mut walk = self.set_up.take()?;
        let failed = self.refused.is_some();
        if self.suite.teardown.is_empty() {
            return None;
        }
        if !self.is_set_up || !walk.is_connected() {
            match self.running().await {
                Ok(running) => walk.go_on_with(running),
                // Why it cannot be used has been told.
                Err(_) if failed => return None,
                Err(story) => return Some(story),
            }
        }
        let story = walk.all(&self.suite.teardown, failed).await;
        walk.end().await;
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
        if self.running.as_ref().is_some_and(|running| running.is_gone()) || self.hangs() {
            self.close().await;
        }
        if let Some(running) = &self.running {
            return Ok(Arc::clone(running));
        }
        match open::open(self).await {
            Ok(running) => {
                running.watch.add(std::mem::take(&mut self.unsaid));
                Ok(Arc::clone(self.running.insert(Arc::new(running))))
            }
            Err(refusal) => Err(self.refuse(&refusal)),
        }
    }

    /// Whether the server is better started anew: else every test after one that
    /// took too long could take as long. Tests beside that one still use it.
    fn hangs(&self) -> bool {
        let ours = !matches!(self.server.way, Way::Http(_)) && self.server.concurrency == 1;
        ours && self.running.as_ref().is_some_and(|running| running.hangs.load(Relaxed))
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
        self.is_set_up = false;
        if let Some(running) = self.running.take() {
            running.client.close().await;
            self.unsaid.extend(running.watch.violations());
        }
    }
}

impl Refusal {
    fn story(&self) -> Story {
        let failure = Failure::new(self.span, self.message.clone());
        Story { stderr: self.stderr.clone(), ..Story::of(failure) }
    }
}
