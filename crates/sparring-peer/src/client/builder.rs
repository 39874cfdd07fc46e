//! Says how a client shall be before it connects.

use std::future::Future;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::types::Implementation;
use sparring_wire::{ErrorObject, RawJson, Revision, Side, Transcript};
use tokio::sync::{mpsc, watch};

use super::answers::{Answers, Question};
use super::driver::Driver;
use super::reopen::Makings;
use super::{Client, ClientOptions, Error, Handle, Inbox, Protocol, Shared};
use crate::link::{Link, Recorder};
use crate::task;

/// A client to be.
#[derive(Clone, Default)]
pub struct ClientBuilder {
    options: ClientOptions,
    answers: Answers,
    transcript: Option<Transcript>,
}

impl ClientBuilder {
    /// Starts from options of the caller's.
    pub fn with_options(options: ClientOptions) -> Self {
        ClientBuilder { options, ..Self::default() }
    }

    /// Who the client says it is.
    #[must_use]
    pub fn info(mut self, name: &str, version: &str) -> Self {
        self.options.info = Implementation::new(name, version);
        self
    }

    /// Which revision to speak.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.options.protocol = protocol;
        self
    }

    /// This revision, or none.
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        self.protocol(Protocol::Only(revision))
    }

    /// How long connecting may take as a whole, and then each request.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = timeout;
        self
    }

    /// Declares a capability, whatever the client answers.
    #[must_use]
    pub fn capability(mut self, name: &str, value: Value) -> Self {
        self.options.capabilities.insert(name.to_owned(), value);
        self
    }

    /// Declares these capabilities and no others, whatever the client answers;
    /// what is no map is none.
    #[must_use]
    pub fn capabilities(mut self, all: Value) -> Self {
        self.options.capabilities = match all {
            Value::Object(all) => all,
            _ => serde_json::Map::new(),
        };
        self
    }

    /// Answers what the server asks, and declares the capability for it.
    #[must_use]
    pub fn answer<F, Fut>(mut self, question: Question, answerer: F) -> Self
    where
        F: Fn(RawJson) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, ErrorObject>> + Send + 'static,
    {
        self.answers.set(question, answerer);
        if let Some(name) = question.capability() {
            self.options.capabilities.entry(name.to_owned()).or_insert_with(|| json!({}));
        }
        self
    }

    /// Names these roots when the server asks for them.
    #[must_use]
    pub fn roots<'a>(self, uris: impl IntoIterator<Item = &'a str>) -> Self {
        let roots: Vec<Value> = uris.into_iter().map(|uri| json!({"uri": uri})).collect();
        self.answer(Question::Roots, move |_| std::future::ready(Ok(json!({"roots": roots}))))
    }

    /// Records into this transcript instead of one of the client's own.
    #[must_use]
    pub fn transcript(mut self, transcript: Transcript) -> Self {
        self.transcript = Some(transcript);
        self
    }

    /// Whether what passes is recorded and judged; it need not be where nobody
    /// reads the transcript.
    #[must_use]
    pub fn recorded(mut self, recorded: bool) -> Self {
        self.options.recorded = recorded;
        self
    }

    /// Lets the time of requests stand still while what the server asks for them
    /// is being answered, as where a person answers.
    #[must_use]
    pub fn patient(mut self) -> Self {
        self.options.patient = true;
        self
    }

    /// Connects over a link.
    ///
    /// # Errors
    /// When the server cannot be talked to; the error says why. The link is
    /// being closed then; to wait for that, use [`ClientBuilder::start`].
    pub async fn connect(self, link: impl Link) -> Result<Client, Error> {
        let client = self.start(link);
        client.ready().await?;
        Ok(client)
    }

    /// Begins to connect over a link; [`Client::ready`] tells how it went.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(mut self, link: impl Link) -> Client {
        let transcript = self.transcript.take();
        let transcript =
            transcript.unwrap_or_else(|| Transcript::bounded(self.options.transcript_bytes));
        self.start_recorded(link, Recorder::new(&transcript, Side::Client))
    }

    /// The same, recorded by that one.
    pub(super) fn start_recorded(self, mut link: impl Link, recorder: Recorder) -> Client {
        if self.options.recorded {
            link.record_to(recorder.clone());
        }
        let (commands, receiver) = mpsc::unbounded_channel();
        let (done, ended) = watch::channel(());
        let (connected, outcome) = watch::channel(None);
        let shared = Arc::new(Shared {
            kind: link.kind(),
            options: self.options.clone(),
            session: OnceLock::new(),
            notifications: Inbox::default(),
            requests: Inbox::default(),
            unclaimed: Inbox::default(),
            watchers: super::subscription::Watchers::default(),
            log: super::log::Hearer::default(),
            transcript: recorder.transcript().clone(),
            makings: Makings { builder: self.clone(), recorder, link: Mutex::new(link.again()) },
            mishaps: Mutex::default(),
            keys: AtomicU64::new(0),
            closed: OnceLock::new(),
            connected: outcome,
            done: ended,
        });
        let driver =
            Driver::new(link, receiver, Arc::clone(&shared), self.answers, connected, done);
        task::spawn(driver);
        Client { handle: Arc::new(Handle { commands, shared }), timeout: None }
    }
}

impl std::fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}
