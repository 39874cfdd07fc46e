//! The client: connects over any link, asks, answers what the server asks
//! back, and keeps the transcript.

mod answers;
mod builder;
pub mod core;
mod driver;
mod error;
mod inbox;
mod lists;
mod log;
mod options;
mod reopen;
mod request;
mod response;
mod subscription;

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use sparring_wire::json::ObjectBuilder;
use sparring_wire::types::{
    Completion, GetPromptResult, LogLevel, ReadResourceResult, ServerCapabilities,
};
use sparring_wire::{Frame, RawJson, Revision, Transcript};
use tokio::sync::{mpsc, watch};

use crate::link::{Cause, Link, LinkKind};
use driver::Command;

pub use self::core::{Session, Unclaimed};
pub use answers::{Answering, Question, accept_with_defaults};
pub use builder::ClientBuilder;
pub use error::Error;
pub use inbox::Inbox;
pub use lists::{Listing, TypedList};
pub use log::LogMessage;
pub use options::{ClientOptions, Protocol};
pub use request::{InFlight, Progress, RequestBuilder};
pub use response::Response;
pub use subscription::{Filter, Subscription};

/// A connection to a server. Cheap to clone, and usable from many tasks at
/// once; when the last clone is gone, the connection is closed.
#[derive(Debug, Clone)]
pub struct Client {
    handle: Arc<Handle>,
    /// How long requests of this handle may take, if not as long as others.
    timeout: Option<Duration>,
}

/// What all clones of a client have in common; with it the connection goes.
#[derive(Debug)]
struct Handle {
    commands: mpsc::UnboundedSender<Command>,
    shared: Arc<Shared>,
}

/// What the handles and the driver both know.
#[derive(Debug)]
struct Shared {
    options: ClientOptions,
    kind: LinkKind,
    session: OnceLock<Arc<Session>>,
    notifications: Inbox,
    requests: Inbox,
    unclaimed: Inbox,
    watchers: subscription::Watchers,
    log: log::Hearer,
    transcript: Transcript,
    makings: reopen::Makings,
    mishaps: Mutex<Vec<Cause>>,
    keys: AtomicU64,
    closed: OnceLock<Cause>,
    /// How connecting went, once it is over.
    connected: watch::Receiver<Option<Result<(), Error>>>,
    /// Closed when the driver has ended.
    done: watch::Receiver<()>,
}

/// The most mishaps that are kept.
const MISHAPS: usize = 1_000;

impl Shared {
    fn note(&self, mishap: Cause) {
        let mut mishaps = self.mishaps.lock().unwrap_or_else(PoisonError::into_inner);
        if mishaps.len() < MISHAPS {
            mishaps.push(mishap);
        }
    }
}

impl Client {
    /// Connects with everything as it is by default.
    ///
    /// # Errors
    /// When the server cannot be talked to; the error says why.
    pub async fn connect(link: impl Link) -> Result<Client, Error> {
        ClientBuilder::default().connect(link).await
    }

    /// A client that differs from the default.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Waits until the two sides have come to terms.
    ///
    /// # Errors
    /// When they have not; the error says why.
    pub async fn ready(&self) -> Result<(), Error> {
        let mut connected = self.handle.shared.connected.clone();
        let outcome = connected.wait_for(Option::is_some).await.map(|outcome| outcome.clone());
        match outcome {
            Ok(Some(outcome)) => outcome,
            _ => Err(Error::Closed { method: "connecting".to_owned(), cause: self.cause() }),
        }
    }

    /// What the two sides agreed on; none where there was no lifecycle.
    pub fn session(&self) -> Option<&Session> {
        self.handle.shared.session.get().map(|session| &**session)
    }

    /// The revision in use; none where there was no lifecycle.
    pub fn revision(&self) -> Option<Revision> {
        self.session().map(|session| session.revision)
    }

    /// What the server says it can do.
    pub fn capabilities(&self) -> ServerCapabilities {
        self.session().map(|session| session.capabilities.clone()).unwrap_or_default()
    }

    /// The same connection, by a handle whose requests may take this long, lists
    /// and all.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Client {
        Client { timeout: Some(timeout), ..self.clone() }
    }

    /// How long requests of this handle may take.
    pub fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(self.handle.shared.options.timeout)
    }

    /// Whether the connection stands.
    pub fn is_connected(&self) -> bool {
        !self.handle.commands.is_closed()
    }

    /// Every frame that went over the wire, with what is wrong with it.
    pub fn transcript(&self) -> &Transcript {
        &self.handle.shared.transcript
    }

    /// The notifications that came.
    pub fn notifications(&self) -> &Inbox {
        &self.handle.shared.notifications
    }

    /// What the server asked: its requests, and the inputs that a request of
    /// this side needed. Pings are answered without being noted here.
    pub fn requests(&self) -> &Inbox {
        &self.handle.shared.requests
    }

    /// What came and belongs to no request, counted as `noise`, `late`,
    /// `duplicate` and `foreign`.
    pub fn unclaimed(&self) -> &Inbox {
        &self.handle.shared.unclaimed
    }

    /// What went wrong and failed no request, the first thousand: a notification
    /// or an answer of this side that the server did not take, and what it said
    /// unasked and this side has missed.
    pub fn mishaps(&self) -> Vec<Cause> {
        self.handle.shared.mishaps.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A request of any method with any params.
    pub fn request(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: Option<RawJson>,
    ) -> RequestBuilder {
        RequestBuilder::new(self.clone(), method.into(), params)
    }

    /// Sends bytes as they are, which must be a request with an id of the
    /// caller's, and waits for its answer.
    pub fn request_bytes(&self, bytes: impl Into<Vec<u8>>) -> RequestBuilder {
        RequestBuilder::of_frame(self.clone(), Frame::parse(bytes))
    }

    /// Sends bytes as they are, whatever they are, and expects nothing.
    pub fn send_bytes(&self, bytes: impl Into<Vec<u8>>) {
        self.send(Frame::parse(bytes));
    }

    /// Sends a notification.
    pub fn notify(&self, method: &str, params: Option<&RawJson>) {
        self.send(Frame::notification(method, params));
    }

    /// Calls a tool.
    pub fn call_tool(&self, name: &str, arguments: impl Into<RawJson>) -> RequestBuilder {
        let arguments = arguments.into();
        let params = ObjectBuilder::with_room_for(name.len() + arguments.text().len() + 24);
        let params = params.string("name", name).json("arguments", arguments.view());
        self.request("tools/call", Some(params.build()))
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Error> {
        self.request("resources/read", Some(json!({"uri": uri}).into())).await?.to()
    }

    /// Gets a prompt.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses.
    pub async fn get_prompt(&self, name: &str, arguments: Value) -> Result<GetPromptResult, Error> {
        let params = json!({"name": name, "arguments": arguments});
        self.request("prompts/get", Some(params.into())).await?.to()
    }

    /// Asks for completions of an argument: `reference` is a prompt or a
    /// template as `{"type": "ref/prompt", "name": …}`.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses.
    pub async fn complete(
        &self,
        reference: Value,
        name: &str,
        value: &str,
    ) -> Result<Completion, Error> {
        let argument = json!({"name": name, "value": value});
        let params = json!({"ref": reference, "argument": argument});
        let result = self.request("completion/complete", Some(params.into())).await?.to_value()?;
        let completion = result.get("completion").cloned().unwrap_or_default();
        serde_json::from_value(completion).map_err(|error| Error::Unusable {
            method: "completion/complete".to_owned(),
            reason: format!("completion: {error}"),
        })
    }

    /// Asks whether the server is there: by `ping`, or where the revision has
    /// none, by `server/discover`.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses.
    pub async fn ping(&self) -> Result<(), Error> {
        let modern = self.revision().is_some_and(Revision::is_modern);
        let method = if modern { "server/discover" } else { "ping" };
        self.request(method, None).await?.to_value().map(drop)
    }

    /// Sets the least severe level of log messages that the server shall send:
    /// by a request, or where the revision says so, with each later request.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses.
    pub async fn set_log_level(&self, level: LogLevel) -> Result<(), Error> {
        if self.revision().is_some_and(Revision::is_modern) {
            self.command(Command::LogLevel(level));
            return Ok(());
        }
        let params = json!({"level": level.name()});
        self.request("logging/setLevel", Some(params.into())).await?.to_value().map(drop)
    }

    /// Subscribes to changes of one resource.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses.
    pub async fn subscribe(&self, uri: &str) -> Result<Subscription, Error> {
        self.listen(Filter { uris: vec![uri.to_owned()], ..Filter::default() }).await
    }

    /// Subscribes to everything that fits the filter, in the way of the
    /// revision in use.
    ///
    /// # Errors
    /// When there is no answer, or the server refuses.
    pub async fn listen(&self, filter: Filter) -> Result<Subscription, Error> {
        Subscription::open(self.clone(), filter).await
    }

    /// Closes the connection and waits until the link has ended.
    pub async fn close(&self) {
        self.command(Command::Close);
        let mut done = self.handle.shared.done.clone();
        // An error says that the driver is gone, which is what is waited for.
        while done.changed().await.is_ok() {}
    }

    /// Waits until the connection has ended, from whatever side, and says why.
    pub async fn closed(&self) -> Cause {
        let mut done = self.handle.shared.done.clone();
        while done.changed().await.is_ok() {}
        self.cause()
    }

    fn send(&self, frame: Frame) {
        self.command(Command::Send(frame));
    }

    /// Hands something to the driver. If the driver is gone, so is everybody
    /// who could wait for an effect.
    fn command(&self, command: Command) {
        let _ = self.handle.commands.send(command);
    }

    fn key(&self) -> u64 {
        self.handle.shared.keys.fetch_add(1, Ordering::Relaxed)
    }

    fn cause(&self) -> Cause {
        self.handle.shared.closed.get().cloned().unwrap_or(Cause::ByUs)
    }
}
