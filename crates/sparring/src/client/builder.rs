//! A client to be: which revision, how long, what it can do and answers.

use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use sparring_peer::client::{ClientOptions, Protocol, Question};
use sparring_wire::{ErrorObject, RawJson, Revision, Transcript};

use super::Client;
use crate::Error;
use crate::connect::{Connect, InMemory, Opened};
use crate::scene::Scene;

/// A client that differs from the default.
#[derive(Debug, Clone, Default)]
pub struct ClientBuilder(sparring_peer::ClientBuilder);

impl ClientBuilder {
    /// Starts from options of the caller's.
    pub fn with_options(options: ClientOptions) -> Self {
        ClientBuilder(sparring_peer::ClientBuilder::with_options(options))
    }

    /// Who the client says it is.
    #[must_use]
    pub fn info(self, name: &str, version: &str) -> Self {
        ClientBuilder(self.0.info(name, version))
    }

    /// Which revision to speak.
    #[must_use]
    pub fn protocol(self, protocol: Protocol) -> Self {
        ClientBuilder(self.0.protocol(protocol))
    }

    /// This revision, or none.
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        ClientBuilder(self.0.revision(revision))
    }

    /// How long connecting may take as a whole, and then each request.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        ClientBuilder(self.0.timeout(timeout))
    }

    /// Declares a capability, whatever the client answers.
    #[must_use]
    pub fn capability(self, name: &str, value: Value) -> Self {
        ClientBuilder(self.0.capability(name, value))
    }

    /// Declares these capabilities and no others, whatever the client answers;
    /// what is no map is none.
    #[must_use]
    pub fn capabilities(self, all: Value) -> Self {
        ClientBuilder(self.0.capabilities(all))
    }

    /// Answers what the server asks, and declares the capability for it.
    #[must_use]
    pub fn answer<F, Fut>(self, question: Question, answerer: F) -> Self
    where
        F: Fn(RawJson) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, ErrorObject>> + Send + 'static,
    {
        ClientBuilder(self.0.answer(question, answerer))
    }

    /// Names these roots when the server asks for them.
    #[must_use]
    pub fn roots<'a>(self, uris: impl IntoIterator<Item = &'a str>) -> Self {
        ClientBuilder(self.0.roots(uris))
    }

    /// Records into this transcript instead of one of the client's own.
    #[must_use]
    pub fn transcript(self, transcript: Transcript) -> Self {
        ClientBuilder(self.0.transcript(transcript))
    }

    /// Connects to a target, or over a link.
    ///
    /// # Errors
    /// When the target cannot be reached or talked to; the error says why.
    #[track_caller]
    pub fn connect<Kind>(
        self,
        target: impl Connect<Kind>,
    ) -> impl Future<Output = Result<Client, Error>> {
        let at = Location::caller();
        async move {
            let opened = target.open().await.map_err(|error| Error::open(error, at))?;
            self.on(opened, at).await
        }
    }

    /// Connects to a service in this process.
    ///
    /// # Errors
    /// When the two do not come to terms; the error says why.
    #[track_caller]
    pub fn in_memory<Kind>(
        self,
        service: impl InMemory<Kind>,
    ) -> impl Future<Output = Result<Client, Error>> {
        let at = Location::caller();
        async move { self.on(service.attach(), at).await }
    }

    /// Connects over what was opened, for the line that asked.
    pub(crate) async fn on(
        self,
        opened: Opened,
        at: &'static Location<'static>,
    ) -> Result<Client, Error> {
        let Opened { link, target, stderr, kept } = opened;
        let peer = self.0.start(link);
        let scene = Scene::new(target, peer.transcript().clone(), stderr);
        match peer.ready().await {
            Ok(()) => Ok(Client { peer, scene, _kept: kept.map(Arc::from) }),
            Err(error) => {
                // What a child said last is there when it has ended.
                peer.close().await;
                Err(Error::client(error, at, &scene))
            }
        }
    }
}
