//! Where a server sits during its tests: started before the first, again after
//! a crash, and ended after the last.

use std::path::PathBuf;
use std::sync::Arc;

use sparring_peer::Client;
use sparring_peer::client::Subscription;
use sparring_transport::Stderr;
use tokio::task::JoinHandle;

use super::desk::Desk;
use super::scope::Folder;
use super::stand_ins::{Journal, StandIns};
use super::tools::Tools;
use super::watch::Watch;
use super::{World, open};
use crate::event::Story;
use crate::model::{Facet, Server, Suite, Variant};

/// The place of one server.
pub(super) struct Seat<'a> {
    pub(super) suite: &'a Suite,
    pub(super) server: &'a Server,
    /// Which of the suite's servers that is.
    pub(super) index: usize,
    /// How it is to be talked to.
    pub(super) variant: Variant,
    pub(super) world: &'a World,
    /// Its folder, for `${tmp}`.
    pub(super) folder: Folder,
    /// What is started beside it.
    stand_ins: Option<Arc<StandIns>>,
    running: Option<Running>,
    /// Why it could not be started; it is not tried twice.
    refused: Option<Refusal>,
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
    pub(super) tools: Option<Tools>,
    /// What came to it, where it is a mock.
    pub(super) journal: Option<Journal>,
    /// Held so that it lives as long as its client.
    pub(super) _mock: Option<Mocked>,
    /// Held so that the server goes on telling.
    pub(super) _subscription: Option<Subscription>,
}

/// A mock that is served in this process, until nobody holds it.
#[derive(Debug)]
pub(super) struct Mocked(pub(super) JoinHandle<()>);

impl Drop for Mocked {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl<'a> Seat<'a> {
    pub(super) fn new(suite: &'a Suite, index: usize, variant: Variant, world: &'a World) -> Self {
        let (server, folder) = (&suite.servers[index], Folder::default());
        Seat {
            suite,
            server,
            index,
            variant,
            world,
            folder,
            stand_ins: None,
            running: None,
            refused: None,
        }
    }

    /// The stand-ins, started where they are not.
    pub(super) async fn stand_ins(&mut self) -> Result<Arc<StandIns>, Story> {
        if let Some(refusal) = &self.refused {
            return Err(refusal.story());
        }
        if let Some(stand_ins) = &self.stand_ins {
            return Ok(Arc::clone(stand_ins));
        }
        let started =
            StandIns::start(self.suite, self.variant, self.server, self.world, &self.folder).await;
        match started {
            Ok(started) => Ok(Arc::clone(self.stand_ins.insert(Arc::new(started)))),
            Err(refusal) => Err(self.refuse(refusal)),
        }
    }

    /// What templates can ask of the stand-ins.
    pub(super) fn mocks(&self) -> &serde_json::Value {
        self.stand_ins.as_ref().map_or(&serde_json::Value::Null, |it| it.facts())
    }

    /// Where a mock that runs elsewhere keeps its journal, if a test looks at
    /// that.
    pub(super) fn journal_file(&self) -> Option<PathBuf> {
        let steps = self.suite.tests.iter().flat_map(|test| &test.steps);
        let looked = steps.flat_map(|step| &step.expect.0).any(
            |(_, facet)| matches!(facet, Facet::Journal { name, .. } if *name == self.server.name),
        );
        let folder = self.folder.path().ok()?;
        looked.then(|| PathBuf::from(folder.as_str().unwrap_or_default()).join("journal.jsonl"))
    }

    fn refuse(&mut self, refusal: Refusal) -> Story {
        let story = refusal.story();
        self.refused = Some(refusal);
        story
    }

    /// The server, started where it is not running.
    pub(super) async fn running(&mut self) -> Result<&mut Running, Story> {
        self.stand_ins().await?;
        if self.running.as_ref().is_some_and(|running| !running.client.is_connected()) {
            self.leave().await;
        }
        if self.running.is_none() {
            match open::open(self).await {
                Ok(running) => self.running = Some(running),
                Err(refusal) => return Err(self.refuse(refusal)),
            }
        }
        Ok(self.running.as_mut().expect("it was started just now"))
    }

    /// Ends the server, and waits until it is gone.
    pub(super) async fn leave(&mut self) {
        if let Some(running) = self.running.take() {
            running.client.close().await;
        }
    }
}

impl Refusal {
    fn story(&self) -> Story {
        let failure = crate::event::Failure::new(self.span, self.message.clone());
        Story { stderr: self.stderr.clone(), ..Story::of(failure) }
    }
}
