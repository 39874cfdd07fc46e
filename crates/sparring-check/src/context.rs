//! The things that a probe works with: connections, facts and outcomes of one revision.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use serde_json::{Value, json};
use sparring_peer::client::{Error, ServerRequest};
use sparring_peer::{Client, ClientBuilder, Protocol};
use sparring_wire::json::parse_value;
use sparring_wire::{RawJson, Revision, Rule};
use tokio::sync::SetOnce;

use crate::answers;
use crate::connection::{Connection, Reply};
use crate::facts::Facts;
use crate::http::HttpServer;
use crate::observer::CheckObserver;
use crate::options::CheckOptions;
use crate::outcomes::Outcomes;
use crate::recording::Recording;
use crate::report::ToolUse;
use crate::target::CheckTarget;
use crate::verdict::Finding;

/// A probe stopped early, for this reason. Its rules without an outcome are undecided.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Stopped(pub(crate) String);

pub(crate) type ProbeResult = Result<(), Stopped>;

/// The smallest arguments that break a rule, by the name of the tool. The lock is held while
/// one revision looks for them, so that not all do.
pub(crate) type SmallestArguments = tokio::sync::Mutex<BTreeMap<(String, Rule), Value>>;

/// The rules that each frame of a server must keep, also the answer to a broken message.
const RULES_OF_ANY_FRAME: [Rule; 5] =
    [Rule::NotJson, Rule::InvalidUtf8, Rule::WrongJsonrpc, Rule::ErrorMalformed, Rule::EmptyBatch];

/// One revision of a check.
pub(crate) struct Context {
    pub(crate) revision: Revision,
    pub(crate) options: Arc<CheckOptions>,
    target: Arc<dyn CheckTarget>,
    observer: Arc<dyn CheckObserver>,
    outcomes: Arc<Outcomes>,
    /// The recordings whose traffic is judged, of all connections.
    recordings: Mutex<Vec<Recording>>,
    /// The recordings of the connections for messages that break the protocol.
    unjudged_recordings: Mutex<Vec<Recording>>,
    /// True if messages of the server may repeat generated arguments.
    has_generated_arguments: Arc<AtomicBool>,
    main: Option<Connection>,
    /// The second connection, once a probe needs it.
    spare: tokio::sync::Mutex<Option<Arc<Connection>>>,
    facts: Facts,
    http: Option<HttpServer>,
    tool_uses: Mutex<Vec<ToolUse>>,
    /// The names of the tools that only read, in any revision.
    read_only_tools: Arc<BTreeSet<String>>,
    spoken: Arc<SpokenRevisions>,
    smallest_arguments: Arc<SmallestArguments>,
    /// The connection for broken messages, while no probe uses it.
    unjudged: Mutex<Option<Connection>>,
    /// The time that the first connection took.
    connect_time: Duration,
}

/// The time that the first connection of a check took, in any revision.
#[derive(Debug, Default)]
pub(crate) struct FirstConnection(SetOnce<Duration>);

impl FirstConnection {
    fn set(&self, took: Duration) {
        let _ = self.0.set(took);
    }

    /// Waits until a connection takes much longer than the first one. Returns the waiting time.
    async fn exceeded(&self, began: Instant, rule_timeout: Duration) -> Duration {
        let limit = *self.0.wait().await * 4 + rule_timeout;
        tokio::time::sleep_until((began + limit).into()).await;
        limit
    }
}

/// The outcomes of the first connection in each of the checked revisions.
#[derive(Debug, Default)]
pub(crate) struct SpokenRevisions(pub(crate) BTreeMap<Revision, bool>);

impl SpokenRevisions {
    /// Returns true if the server speaks this revision, and `None` if it is not checked.
    pub(crate) fn get(&self, revision: Revision) -> Option<bool> {
        self.0.get(&revision).copied()
    }

    /// Returns true if the server speaks any revision up to 2025-11-25.
    pub(crate) fn any_legacy(&self) -> bool {
        self.0.iter().any(|(revision, spoken)| !revision.is_modern() && *spoken)
    }

    /// Returns true if the server speaks any revision since 2026-07-28.
    pub(crate) fn any_modern(&self) -> bool {
        self.0.iter().any(|(revision, spoken)| revision.is_modern() && *spoken)
    }

    /// Returns true if the check has found that the server speaks no revision up to 2025-11-25.
    pub(crate) fn no_legacy(&self) -> bool {
        let legacy = Revision::ALL.into_iter().filter(|it| !it.is_modern());
        legacy.clone().all(|it| self.get(it) == Some(false))
    }
}

impl Context {
    /// Connects in this revision, and gathers the facts. A server that has answered in another
    /// revision must answer in this one as fast.
    pub(crate) async fn open(
        target: Arc<dyn CheckTarget>,
        options: Arc<CheckOptions>,
        observer: Arc<dyn CheckObserver>,
        revision: Revision,
        first_connection: &FirstConnection,
    ) -> Result<Context, FailedOpening> {
        let mut context = Context::unconnected(target, options, observer, revision);
        let began = Instant::now();
        let ready = async {
            let connection = context.start(context.client(), true).await?;
            connection.client().ready().await.map_err(ConnectError::Client)?;
            Ok(connection)
        };
        let rule_timeout = context.options.rule_timeout;
        let outcome = tokio::select! {
            outcome = ready => outcome,
            after = first_connection.exceeded(began, rule_timeout) => {
                let method = if revision.is_modern() { "server/discover" } else { "initialize" };
                Err(ConnectError::Client(Error::Timeout { method: method.to_owned(), after }))
            }
        };
        let connection = match outcome {
            Ok(connection) => connection,
            Err(error) => return Err(FailedOpening { context: Box::new(context), error }),
        };
        context.connect_time = began.elapsed();
        first_connection.set(context.connect_time);
        context.facts = Facts::gather(&connection).await;
        context.main = Some(connection);
        Ok(context)
    }

    /// Creates a context without a connection, for a server that refuses connections without a
    /// token. Only the probes of authorization work with it.
    pub(crate) fn unconnected(
        target: Arc<dyn CheckTarget>,
        options: Arc<CheckOptions>,
        observer: Arc<dyn CheckObserver>,
        revision: Revision,
    ) -> Context {
        let http = target.http();
        let http = http.and_then(|it| HttpServer::new(it, revision, options.rule_timeout));
        Context {
            revision,
            options,
            target,
            observer,
            outcomes: Arc::default(),
            recordings: Mutex::default(),
            unjudged_recordings: Mutex::default(),
            has_generated_arguments: Arc::default(),
            main: None,
            spare: tokio::sync::Mutex::default(),
            facts: Facts::default(),
            http,
            tool_uses: Mutex::default(),
            read_only_tools: Arc::default(),
            spoken: Arc::default(),
            smallest_arguments: Arc::default(),
            unjudged: Mutex::default(),
            connect_time: Duration::ZERO,
        }
    }

    /// Returns true if there is a connection.
    pub(crate) fn is_connected(&self) -> bool {
        self.main.is_some()
    }

    /// Returns the connection that all probes share. They leave it in order: no broken
    /// messages, no changed levels.
    pub(crate) fn main(&self) -> &Connection {
        self.main.as_ref().expect("open() sets it")
    }

    /// Returns the second connection, which probes share that change the state of a connection
    /// and keep to the protocol. It is opened again after its end.
    pub(crate) async fn spare(&self) -> Result<Arc<Connection>, Stopped> {
        let mut spare = self.spare.lock().await;
        if let Some(open) = spare.as_ref().filter(|it| it.client().is_connected()) {
            return Ok(Arc::clone(open));
        }
        let roots = json!({"listChanged": true});
        let opened = self.connect_with(|client| client.capability("roots", roots)).await?;
        Ok(Arc::clone(spare.insert(Arc::new(opened))))
    }

    /// Closes the shared connections.
    pub(crate) async fn close(&self) {
        let spare = self.spare.lock().await.take();
        let unjudged = self.unjudged.lock().unwrap_or_else(PoisonError::into_inner).take();
        let shared = [spare, unjudged.map(Arc::new)].into_iter().flatten();
        let shared = join_all(shared.map(|connection| async move { connection.close().await }));
        tokio::join!(self.main().close(), shared);
    }

    /// Returns what the server says about itself.
    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// Returns the names of the tools that only read, as their annotations say in any
    /// revision.
    pub(crate) fn read_only_tools(&self) -> &BTreeSet<String> {
        &self.read_only_tools
    }

    /// Sets the names of the tools that only read.
    pub(crate) fn set_read_only_tools(&mut self, names: Arc<BTreeSet<String>>) {
        self.read_only_tools = names;
    }

    /// Returns the revisions that the server speaks.
    pub(crate) fn spoken(&self) -> &SpokenRevisions {
        &self.spoken
    }

    /// Sets the revisions that the server speaks.
    pub(crate) fn set_spoken(&mut self, spoken: Arc<SpokenRevisions>) {
        self.spoken = spoken;
    }

    /// Returns everything that was sent and received on the judged connections.
    pub(crate) fn recordings(&self) -> Vec<Recording> {
        self.recordings.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the smallest arguments that break a rule, which all revisions share.
    pub(crate) fn smallest_arguments(&self) -> &Arc<SmallestArguments> {
        &self.smallest_arguments
    }

    /// Shares the smallest arguments with other revisions, and the flag that is true once messages
    /// may repeat generated arguments.
    pub(crate) fn share_arguments(
        &mut self,
        smallest: Arc<SmallestArguments>,
        has_generated: Arc<AtomicBool>,
    ) {
        self.recordings().iter().for_each(|it| it.set_generated_arguments(&has_generated));
        self.smallest_arguments = smallest;
        self.has_generated_arguments = has_generated;
    }

    /// Returns the HTTP side of the server, if it is reached over HTTP.
    pub(crate) fn http(&self) -> Option<&HttpServer> {
        self.http.as_ref()
    }

    /// Returns the server.
    pub(crate) fn target(&self) -> &dyn CheckTarget {
        &*self.target
    }

    /// Returns the observer of the check.
    pub(crate) fn observer(&self) -> &dyn CheckObserver {
        &*self.observer
    }

    /// Opens another connection, with a handshake. A process target starts a new process.
    pub(crate) async fn connect(&self) -> Result<Connection, Stopped> {
        self.connect_with(|client| client).await
    }

    /// Opens another connection, with a handshake of a changed client.
    pub(crate) async fn connect_with(
        &self,
        change: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<Connection, Stopped> {
        let stopped = |error: ConnectError| Stopped(format!("cannot connect again: {error}"));
        let connection = self.start(change(self.client()), true).await.map_err(stopped)?;
        let ready = connection.client().ready().await;
        ready.map_err(|error| stopped(ConnectError::Client(error)))?;
        Ok(connection)
    }

    /// Returns a connection, with a handshake, for messages that break the protocol. Its traffic
    /// is not judged. Probes use it one after the other and give it back, because each
    /// connection can be a process.
    pub(crate) async fn take_unjudged(&self) -> Result<Connection, Stopped> {
        let known = self.unjudged.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = known.filter(|it| it.client().is_connected()) {
            // A server that speaks both eras may have taken a broken message for one of the
            // other era.
            if !self.revision.is_modern() || connection.is_modern().await {
                return Ok(connection);
            }
            connection.close().await;
        }
        let stopped = |error: ConnectError| Stopped(format!("cannot connect again: {error}"));
        let connection = self.start(self.client(), false).await.map_err(stopped)?;
        let ready = connection.client().ready().await;
        ready.map_err(|error| stopped(ConnectError::Client(error)))?;
        Ok(connection)
    }

    /// Gives back a connection on which the server still answers.
    pub(crate) fn give_back_unjudged(&self, connection: Connection) {
        *self.unjudged.lock().unwrap_or_else(PoisonError::into_inner) = Some(connection);
    }

    /// Opens another connection of a changed client, without waiting for the handshake. Its
    /// traffic is not judged.
    pub(crate) async fn connect_unjudged_with(
        &self,
        change: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Result<Connection, Stopped> {
        let stopped = |error: ConnectError| Stopped(format!("cannot connect again: {error}"));
        self.start(change(self.client()), false).await.map_err(stopped)
    }

    /// Opens another connection without a handshake, for messages that break the protocol.
    /// Its traffic is not judged.
    pub(crate) async fn connect_raw(&self) -> Result<Connection, Stopped> {
        let client = Client::builder().protocol(Protocol::Raw);
        let stopped = |error: ConnectError| Stopped(format!("cannot connect again: {error}"));
        let connection = self.start(client, false).await.map_err(stopped)?;
        Ok(connection.with_request_timeout(self.first_request_timeout()))
    }

    /// Opens another connection without a handshake and without discovery, whose requests have
    /// the metadata of the revision.
    pub(crate) async fn connect_without_discovery(&self) -> Result<Connection, Stopped> {
        let client = self.client().without_lifecycle(self.revision);
        let stopped = |error: ConnectError| Stopped(format!("cannot connect again: {error}"));
        let connection = self.start(client, true).await.map_err(stopped)?;
        Ok(connection.with_request_timeout(self.first_request_timeout()))
    }

    /// Returns the longest wait for the response to a request that starts the server.
    fn first_request_timeout(&self) -> Duration {
        self.options.rule_timeout + 2 * self.connect_time
    }

    async fn start(&self, client: ClientBuilder, judged: bool) -> Result<Connection, ConnectError> {
        let opened = self.target.open().await.map_err(ConnectError::Open)?;
        let timeout = self.options.rule_timeout;
        let (connection, recording) =
            Connection::start(opened, client, &self.outcomes, &self.observer, timeout);
        recording.set_generated_arguments(&self.has_generated_arguments);
        let recordings = if judged { &self.recordings } else { &self.unjudged_recordings };
        recordings.lock().unwrap_or_else(PoisonError::into_inner).push(recording);
        Ok(connection)
    }

    /// From now on messages of the server may repeat generated arguments, on all connections and
    /// in all revisions, since a server may keep them in a file.
    pub(crate) fn expect_generated_arguments(&self) {
        self.has_generated_arguments.store(true, Ordering::Relaxed);
    }

    /// Returns a client that declares and answers everything that a server can ask.
    fn client(&self) -> ClientBuilder {
        Client::builder()
            .revision(self.revision)
            .timeout(self.options.connect_timeout)
            .roots([answers::ROOT])
            .optional_capability("sampling", json!({"tools": {}}))
            .answer(ServerRequest::Sampling, |params| async move {
                Ok(answers::sampled(&parsed(&params)))
            })
            .optional_capability("elicitation", json!({"form": {}, "url": {}}))
            .answer(ServerRequest::Elicitation, |params| async move {
                Ok(answers::elicited(&parsed(&params)))
            })
    }

    /// Sends a request on the shared connection.
    pub(crate) async fn request(&self, method: &str, params: Option<Value>) -> Reply {
        self.main().request(method, params).await
    }

    /// The server kept the rule.
    pub(crate) fn pass(&self, rule: Rule) {
        self.outcomes.pass(rule);
    }

    /// The server broke the rule.
    pub(crate) fn fail(&self, rule: Rule, finding: Finding) {
        self.outcomes.fail(rule, finding);
    }

    /// The rule does not apply to this server, for this reason.
    pub(crate) fn not_applicable(&self, rule: Rule, reason: impl Into<String>) {
        self.outcomes.not_applicable(rule, reason);
    }

    /// The check could not find out, for this reason.
    pub(crate) fn undecided(&self, rule: Rule, reason: impl Into<String>) {
        self.outcomes.undecided(rule, reason);
    }

    /// Requires that the response is a JSON-RPC error with one of these codes. The rule is
    /// undecided if there is no response at all.
    pub(crate) fn require_error(&self, rule: Rule, reply: &Reply, codes: &[i64]) {
        match (reply.error_code(), reply.outcome()) {
            (Some(code), _) if codes.contains(&code) => self.pass(rule),
            (None, Err(error)) if !reply.is_http_without_response() => {
                self.undecided(rule, error.to_string());
            }
            _ => {
                let codes: Vec<String> = codes.iter().map(i64::to_string).collect();
                let expected = format!("expected the error {}", codes.join(" or "));
                self.fail(rule, reply.finding(expected));
            }
        }
    }

    /// Records that a tool was called, or the reason why not.
    pub(crate) fn record_tool_use(&self, tool_use: ToolUse) {
        self.tool_uses.lock().unwrap_or_else(PoisonError::into_inner).push(tool_use);
    }

    /// Returns the outcomes so far.
    pub(crate) fn outcomes(&self) -> &Outcomes {
        &self.outcomes
    }

    /// Adds the violations that the traffic of all connections shows.
    pub(crate) fn judge_traffic(&self) {
        let judged = self.recordings();
        let unjudged =
            self.unjudged_recordings.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let unjudged = unjudged.iter().flat_map(Recording::violations);
        let unjudged = unjudged.filter(|(found, _)| RULES_OF_ANY_FRAME.contains(&found.rule));
        for (violation, frames) in judged.iter().flat_map(Recording::violations).chain(unjudged) {
            let finding = Finding::from_violation(&violation).with_frames(&frames);
            self.outcomes.fail(violation.rule, finding);
        }
    }

    /// Returns the facts and the uses of tools.
    pub(crate) fn into_parts(self) -> (Facts, Vec<ToolUse>) {
        let tool_uses = self.tool_uses.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.facts, tool_uses)
    }
}

/// A revision without a connection.
pub(crate) struct FailedOpening {
    /// The context, without a shared connection.
    pub(crate) context: Box<Context>,
    pub(crate) error: ConnectError,
}

/// The reason why there is no connection.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ConnectError {
    #[error(transparent)]
    Open(sparring_transport::OpenError),
    #[error(transparent)]
    Client(sparring_peer::client::Error),
}

fn parsed(params: &RawJson) -> Value {
    parse_value(params.text().as_bytes()).unwrap_or_default()
}
