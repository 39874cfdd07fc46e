//! Where a server sits during its tests: started before the first, again after
//! a crash, and ended after the last.

use sparring_peer::Client;
use sparring_peer::client::Subscription;
use sparring_transport::Stderr;
use tokio::task::JoinHandle;

use super::desk::Desk;
use super::scope::Folder;
use super::shots::Shots;
use super::tools::Tools;
use super::watch::Watch;
use super::{World, open};
use crate::event::Story;
use crate::model::{Server, Suite, Variant};

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
    /// Held so that it lives as long as its client.
    pub(super) _mock: Option<Mocked>,
    /// Held so that the server goes on telling.
    pub(super) _subscription: Option<Subscription>,
}

/// A mock that is served in this process, until nobody holds it.
pub(super) struct Mocked(pub(super) JoinHandle<()>);

impl Drop for Mocked {
    fn drop(&mut self) {
        self.0.abort();
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
        Seat { suite, server, index, variant, world, shots, folder, running: None, refused: None }
    }

    /// The server, started where it is not running.
    pub(super) async fn running(&mut self) -> Result<&mut Running, Story> {
        if let Some(refusal) = &self.refused {
            return Err(refusal.story());
        }
        if self.running.as_ref().is_some_and(|running| !running.client.is_connected()) {
            self.leave().await;
        }
        if self.running.is_none() {
            match open::open(self).await {
                Ok(running) => self.running = Some(running),
                Err(refusal) => {
                    let story = refusal.story();
                    self.refused = Some(refusal);
                    return Err(story);
                }
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
