//! Builds clients and connects them, and opens lost sessions again.

use std::future::Future;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::types::Implementation;
use sparring_wire::{ErrorObject, RawJson, Revision, Side, Transcript};
use tokio::sync::{mpsc, watch};

use super::driver::Driver;
use super::server_requests::{ServerRequest, ServerRequestHandlers};
use super::{Client, ClientOptions, Error, Handle, Inbox, Protocol, Shared};
use crate::link::{Cause, Link, Recorder};
use crate::task;

/// Builds a [`Client`].
#[derive(Clone, Default)]
pub struct ClientBuilder {
    options: ClientOptions,
    handlers: ServerRequestHandlers,
    transcript: Option<Transcript>,
}

impl ClientBuilder {
    /// Creates a builder with these options.
    pub fn with_options(options: ClientOptions) -> Self {
        ClientBuilder { options, ..Self::default() }
    }

    /// Sets the name and version that the client declares.
    #[must_use]
    pub fn info(mut self, name: &str, version: &str) -> Self {
        self.options.info = Implementation::new(name, version);
        self
    }

    /// Sets the revision to use.
    #[must_use]
    pub fn protocol(mut self, protocol: Protocol) -> Self {
        self.options.protocol = protocol;
        self
    }

    /// Uses only this revision.
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        self.protocol(Protocol::Only(revision))
    }

    /// Sends no handshake and no discovery, but the metadata and headers of this revision.
    #[must_use]
    pub fn without_lifecycle(mut self, revision: Revision) -> Self {
        self.options.raw_revision = Some(revision);
        self.protocol(Protocol::Raw)
    }

    /// Sets the timeout of connecting as a whole, and of each request after that.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = timeout;
        self
    }

    /// Declares a capability, even if the client has no handler for it.
    #[must_use]
    pub fn capability(mut self, name: &str, value: Value) -> Self {
        self.options.capabilities.insert(name.to_owned(), value);
        self
    }

    /// Declares a capability in the revisions that have it, even if the client has
    /// no handler for it.
    #[must_use]
    pub fn optional_capability(mut self, name: &str, value: Value) -> Self {
        self.options.optional_capabilities.insert(name.to_owned(), value);
        self
    }

    /// Declares exactly these capabilities, even if the client has no handlers
    /// for them. A value that is not an object declares none.
    #[must_use]
    pub fn capabilities(mut self, all: Value) -> Self {
        self.options.optional_capabilities.clear();
        self.options.capabilities = match all {
            Value::Object(all) => all,
            _ => serde_json::Map::new(),
        };
        self
    }

    /// Answers a request of the server, and declares the capability for it in the
    /// revisions that have it.
    #[must_use]
    pub fn answer<F, Fut>(mut self, question: ServerRequest, handler: F) -> Self
    where
        F: Fn(RawJson) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Value, ErrorObject>> + Send + 'static,
    {
        self.handlers.set(question, handler);
        if let Some(name) = question.capability() {
            let optional = &mut self.options.optional_capabilities;
            optional.entry(name.to_owned()).or_insert_with(|| json!({}));
        }
        self
    }

    /// Answers `roots/list` with these roots.
    #[must_use]
    pub fn roots<'a>(self, uris: impl IntoIterator<Item = &'a str>) -> Self {
        let roots: Vec<Value> = uris.into_iter().map(|uri| json!({"uri": uri})).collect();
        self.answer(ServerRequest::Roots, move |_| std::future::ready(Ok(json!({"roots": roots}))))
    }

    /// Records into this transcript instead of a new one.
    #[must_use]
    pub fn transcript(mut self, transcript: Transcript) -> Self {
        self.transcript = Some(transcript);
        self
    }

    /// Enables or disables recording and checking of frames. Disable it if
    /// nothing reads the transcript.
    #[must_use]
    pub fn record(mut self, recorded: bool) -> Self {
        self.options.record = recorded;
        self
    }

    /// Pauses the timeouts of requests while the client answers a request of the
    /// server. Use it if a person answers.
    #[must_use]
    pub fn pause_timeouts_while_answering(mut self) -> Self {
        self.options.pause_timeouts_while_answering = true;
        self
    }

    /// Connects over a link.
    ///
    /// # Errors
    /// If the client cannot connect to the server. The link is then being closed;
    /// to wait for that, use [`ClientBuilder::start`].
    pub async fn connect(self, link: impl Link) -> Result<Client, Error> {
        let client = self.start(link);
        client.ready().await?;
        Ok(client)
    }

    /// Starts to connect over a link. [`Client::ready`] returns the outcome.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn start(mut self, link: impl Link) -> Client {
        let transcript = self.transcript.take();
        let transcript = transcript
            .unwrap_or_else(|| Transcript::with_max_bytes(self.options.max_transcript_bytes));
        self.start_recorded(link, Recorder::new(&transcript, Side::Client))
    }

    /// Starts to connect over a link, with this recorder.
    pub(super) fn start_recorded(self, mut link: impl Link, recorder: Recorder) -> Client {
        if self.options.record {
            link.set_recorder(recorder.clone());
        }
        let (commands, receiver) = mpsc::unbounded_channel();
        let (done, ended) = watch::channel(());
        let (connected, outcome) = watch::channel(None);
        let shared = Arc::new(Shared {
            kind: link.info().kind,
            options: self.options.clone(),
            session: OnceLock::new(),
            notifications: Inbox::default(),
            requests: Inbox::default(),
            unclaimed: Inbox::default(),
            list_bytes: super::list_bytes::ListBytes::default(),
            subscribers: super::subscription::LegacySubscribers::default(),
            log_callback: super::log_messages::LogCallback::default(),
            transcript: recorder.transcript().clone(),
            reopen_parts: ReopenParts {
                builder: self.clone(),
                recorder,
                link: Mutex::new(link.new_session_link()),
            },
            background_errors: Mutex::default(),
            next_key: AtomicU64::new(0),
            closed: OnceLock::new(),
            link_end: OnceLock::new(),
            connected: outcome,
            done: ended,
        });
        let driver =
            Driver::new(link, receiver, Arc::clone(&shared), self.handlers, connected, done);
        task::spawn(driver);
        Client { handle: Arc::new(Handle { commands, shared }), timeout: None }
    }
}

impl std::fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientBuilder").field("options", &self.options).finish_non_exhaustive()
    }
}

/// The parts that another session with the same server is built from.
pub(super) struct ReopenParts {
    pub(super) builder: ClientBuilder,
    pub(super) recorder: Recorder,
    /// Only creates other links; it is never connected itself.
    pub(super) link: Mutex<Option<Box<dyn Link>>>,
}

impl Client {
    /// Opens a new session with the same server after the server has ended this
    /// one ([`Cause::SessionLost`]). The new client has the same configuration
    /// and records into the same transcript, as a separate connection. This
    /// client stays closed.
    ///
    /// A client never reopens a session on its own: the server's state of the old
    /// session is lost, and only the caller can judge the consequences.
    ///
    /// # Errors
    /// If the session was not lost, or the client cannot connect to the server.
    pub async fn reopen(&self) -> Result<Client, Error> {
        let fail = |reason: String| Err(Error::NotReopened { reason });
        match self.handle.shared.closed.get() {
            Some(Cause::SessionLost(_)) => {}
            Some(other) => return fail(format!("the server did not end it: {other}")),
            None => return fail("it is still open".to_owned()),
        }
        let parts = &self.handle.shared.reopen_parts;
        let link = || parts.link.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(link) = link().as_ref().and_then(|link| link.new_session_link()) else {
            return fail("its transport cannot connect again".to_owned());
        };
        let builder = parts.builder.clone();
        let client = builder.start_recorded(link, parts.recorder.for_another_connection());
        client.ready().await?;
        Ok(Client { timeout: self.timeout, ..client })
    }
}

impl std::fmt::Debug for ReopenParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ReopenParts").finish_non_exhaustive()
    }
}
