//! The client: connects over any link, sends requests, answers requests of the
//! server, and keeps the transcript.

mod builder;
pub mod core;
mod driver;
mod error;
mod inbox;
mod list_bytes;
mod lists;
mod log_messages;
mod options;
mod request;
mod response;
mod server_requests;
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
use list_bytes::ListBytes;

pub use self::core::{Session, UnclaimedReason};
pub use builder::ClientBuilder;
pub use error::Error;
pub use inbox::Inbox;
pub use lists::{ListKind, TypedList};
pub use log_messages::LogMessage;
pub use options::{ClientOptions, Protocol};
pub use request::{PendingRequest, Progress, RequestBuilder};
pub use response::Response;
pub use server_requests::{ServerRequest, ServerRequestHandler, accept_with_defaults};
pub use subscription::{Subscription, SubscriptionFilter};

/// A connection to a server. Cheap to clone, and usable from many tasks at once.
/// Dropping the last clone closes the connection.
#[derive(Debug, Clone)]
pub struct Client {
    handle: Arc<Handle>,
    /// The timeout of requests made with this handle, if it is not the default.
    timeout: Option<Duration>,
}

/// The state that all clones of a client share. Dropping it closes the
/// connection.
#[derive(Debug)]
struct Handle {
    commands: mpsc::UnboundedSender<Command>,
    shared: Arc<Shared>,
}

/// The state that the handles and the driver share.
#[derive(Debug)]
struct Shared {
    options: ClientOptions,
    kind: LinkKind,
    session: OnceLock<Arc<Session>>,
    notifications: Inbox,
    requests: Inbox,
    unclaimed: Inbox,
    list_bytes: ListBytes,
    subscribers: subscription::LegacySubscribers,
    log_callback: log_messages::LogCallback,
    transcript: Transcript,
    reopen_parts: builder::ReopenParts,
    background_errors: Mutex<Vec<Cause>>,
    next_key: AtomicU64,
    closed: OnceLock<Cause>,
    /// The reason that the link gave for its end.
    link_end: OnceLock<Cause>,
    /// The outcome of connecting, once it is known.
    connected: watch::Receiver<Option<Result<(), Error>>>,
    /// Closed when the driver has ended.
    done: watch::Receiver<()>,
}

/// The maximum number of stored background errors.
const MAX_BACKGROUND_ERRORS: usize = 1_000;

impl Shared {
    fn add_background_error(&self, error: Cause) {
        let mut errors = self.background_errors.lock().unwrap_or_else(PoisonError::into_inner);
        if errors.len() < MAX_BACKGROUND_ERRORS {
            errors.push(error);
        }
    }
}

impl Client {
    /// Connects with default options.
    ///
    /// # Errors
    /// If the client cannot connect to the server.
    pub async fn connect(link: impl Link) -> Result<Client, Error> {
        ClientBuilder::default().connect(link).await
    }

    /// Creates a builder for a client with other options.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Waits until the client is connected.
    ///
    /// # Errors
    /// If the client cannot connect to the server.
    pub async fn ready(&self) -> Result<(), Error> {
        let mut connected = self.handle.shared.connected.clone();
        let outcome = connected.wait_for(Option::is_some).await.map(|outcome| outcome.clone());
        match outcome {
            Ok(Some(outcome)) => outcome,
            _ => Err(Error::Closed { method: "connecting".to_owned(), cause: self.close_cause() }),
        }
    }

    /// Returns the session; none for [`Protocol::Raw`].
    pub fn session(&self) -> Option<&Session> {
        self.handle.shared.session.get().map(|session| &**session)
    }

    /// Returns the revision in use; none for [`Protocol::Raw`].
    pub fn revision(&self) -> Option<Revision> {
        self.session().map(|session| session.revision)
    }

    /// Returns the capabilities that the server declares.
    pub fn capabilities(&self) -> ServerCapabilities {
        self.session().map(|session| session.capabilities.clone()).unwrap_or_default()
    }

    /// Returns a handle to the same connection whose requests, lists included,
    /// have this timeout.
    #[must_use]
    pub fn with_timeout(&self, timeout: Duration) -> Client {
        Client { timeout: Some(timeout), ..self.clone() }
    }

    /// Returns the timeout of requests made with this handle.
    pub fn timeout(&self) -> Duration {
        self.timeout.unwrap_or(self.handle.shared.options.timeout)
    }

    /// Returns true if the connection is open.
    pub fn is_connected(&self) -> bool {
        !self.handle.commands.is_closed()
    }

    /// Returns the transcript: every frame of the connection, with its
    /// violations.
    pub fn transcript(&self) -> &Transcript {
        &self.handle.shared.transcript
    }

    /// Returns the notifications that arrived.
    pub fn notifications(&self) -> &Inbox {
        &self.handle.shared.notifications
    }

    /// Returns the requests of the server: its own requests, and the inputs that
    /// requests of this client required. Pings are answered and not listed here.
    pub fn requests(&self) -> &Inbox {
        &self.handle.shared.requests
    }

    /// Returns frames that belong to no request, counted as `noise`, `late`,
    /// `duplicate` and `foreign`.
    pub fn unclaimed(&self) -> &Inbox {
        &self.handle.shared.unclaimed
    }

    /// Returns the first thousand errors that failed no request: a notification
    /// or response that the server did not accept, or server messages that may
    /// have been lost.
    pub fn background_errors(&self) -> Vec<Cause> {
        self.handle.shared.background_errors.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Creates a request with any method and params.
    pub fn request(
        &self,
        method: impl Into<Cow<'static, str>>,
        params: Option<RawJson>,
    ) -> RequestBuilder {
        RequestBuilder::new(self.clone(), method.into(), params)
    }

    /// Creates a request from bytes that are sent unchanged. They must be a
    /// request with an id.
    pub fn request_bytes(&self, bytes: impl Into<Vec<u8>>) -> RequestBuilder {
        RequestBuilder::from_frame(self.clone(), Frame::parse(bytes))
    }

    /// Sends any bytes unchanged, without waiting for a response.
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
        let params = ObjectBuilder::with_capacity(name.len() + arguments.text().len() + 24);
        let params = params.string("name", name).json("arguments", arguments.view());
        self.request("tools/call", Some(params.build()))
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// If the request fails.
    pub async fn read_resource(&self, uri: &str) -> Result<ReadResourceResult, Error> {
        self.request("resources/read", Some(json!({"uri": uri}).into())).await?.to()
    }

    /// Gets a prompt.
    ///
    /// # Errors
    /// If the request fails.
    pub async fn get_prompt(&self, name: &str, arguments: Value) -> Result<GetPromptResult, Error> {
        let params = json!({"name": name, "arguments": arguments});
        self.request("prompts/get", Some(params.into())).await?.to()
    }

    /// Requests completions of an argument. `reference` is a prompt or a template
    /// such as `{"type": "ref/prompt", "name": …}`.
    ///
    /// # Errors
    /// If the request fails.
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
        serde_json::from_value(completion).map_err(|error| Error::InvalidResult {
            method: "completion/complete".to_owned(),
            reason: format!("completion: {error}"),
        })
    }

    /// Checks that the server responds: with `ping`, or with `server/discover` in
    /// revisions without pings.
    ///
    /// # Errors
    /// If the request fails.
    pub async fn ping(&self) -> Result<(), Error> {
        let modern = self.revision().is_some_and(Revision::is_modern);
        let method = if modern { "server/discover" } else { "ping" };
        self.request(method, None).await?.to_value().map(drop)
    }

    /// Sets the lowest level of log messages that the server sends: with a
    /// request, or since 2026-07-28 in the metadata of each later request, if the
    /// server declares `logging`.
    ///
    /// # Errors
    /// If the request fails.
    pub async fn set_log_level(&self, level: LogLevel) -> Result<(), Error> {
        if self.revision().is_some_and(Revision::is_modern) {
            self.send_command(Command::LogLevel(level));
            return Ok(());
        }
        let params = json!({"level": level.name()});
        self.request("logging/setLevel", Some(params.into())).await?.to_value().map(drop)
    }

    /// Subscribes to changes of one resource.
    ///
    /// # Errors
    /// If the request fails.
    pub async fn subscribe(&self, uri: &str) -> Result<Subscription, Error> {
        self.listen(SubscriptionFilter {
            uris: vec![uri.to_owned()],
            ..SubscriptionFilter::default()
        })
        .await
    }

    /// Subscribes to everything that matches the filter, with the requests of the
    /// revision in use.
    ///
    /// # Errors
    /// If a request fails.
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Subscription, Error> {
        Subscription::open(self.clone(), filter).await
    }

    /// Closes the connection, waits until the link has ended, and returns the reason
    /// of the end. It is [`Cause::ClosedLocally`], unless the other side ended the
    /// connection first or its process ended with an error.
    pub async fn close(&self) -> Cause {
        self.send_command(Command::Close);
        let mut done = self.handle.shared.done.clone();
        // An error means that the driver has ended.
        while done.changed().await.is_ok() {}
        self.handle.shared.link_end.get().cloned().unwrap_or_else(|| self.close_cause())
    }

    /// Waits until either side has closed the connection, and returns the reason.
    pub async fn closed(&self) -> Cause {
        let mut done = self.handle.shared.done.clone();
        while done.changed().await.is_ok() {}
        self.close_cause()
    }

    fn send(&self, frame: Frame) {
        self.send_command(Command::Send(frame));
    }

    /// Sends a command to the driver. If the driver is gone, no caller waits for
    /// an effect.
    fn send_command(&self, command: Command) {
        let _ = self.handle.commands.send(command);
    }

    fn next_key(&self) -> u64 {
        self.handle.shared.next_key.fetch_add(1, Ordering::Relaxed)
    }

    fn close_cause(&self) -> Cause {
        self.handle.shared.closed.get().cloned().unwrap_or(Cause::ClosedLocally)
    }
}
