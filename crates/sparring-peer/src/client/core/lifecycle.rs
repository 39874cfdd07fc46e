//! How a client and a server come to terms: the handshake up to 2025-11-25,
//! discovery since 2026-07-28, and finding out which of the two it is.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sparring_wire::json::{capabilities, implementation};
use sparring_wire::{ErrorObject, Frame, Id, Json, RawJson, Revision, code};

use super::pending::{Owner, Pending};
use super::{Core, Event, Request, Session, Time};
use crate::client::error::Error;
use crate::client::options::Protocol;
use crate::link::{Cause, Era, LinkKind, Outgoing, Stream};

/// The longest that a probe waits alone before the handshake is sent as well.
const PROBE: Duration = Duration::from_secs(2);

/// Where in its life the client is.
#[derive(Debug)]
pub(super) enum Phase {
    Idle,
    Connecting(Box<Connecting>),
    Ready,
    Failed,
    Closed(Cause),
}

/// A connection being made.
#[derive(Debug)]
pub(super) struct Connecting {
    discover: Step,
    initialize: Step,
    /// When the handshake is sent although the probe has not been answered.
    fall_back_at: Option<Time>,
    /// When a handshake that failed is final although the probe has not been
    /// answered.
    fails_at: Option<Time>,
    /// The revisions that a handshake has asked for.
    tried: Vec<Revision>,
    /// Whether the probe was sent a second time.
    asked_again: bool,
    /// Whether the probe was left out because of what is known from before.
    assumed: bool,
    deadline: Time,
}

/// One of the two ways to connect.
#[derive(Debug)]
enum Step {
    Unused,
    Waiting,
    /// It has been answered, and is of no further use.
    Done,
    Failed(Error),
}

impl Connecting {
    pub(super) fn closed(&self, cause: &Cause) -> Error {
        Error::Closed { method: self.waiting_for().to_owned(), cause: cause.clone() }
    }

    fn waiting_for(&self) -> &'static str {
        match (&self.discover, &self.initialize) {
            (Step::Waiting, Step::Waiting) => "server/discover and initialize",
            (Step::Waiting, _) => "server/discover",
            _ => "initialize",
        }
    }
}

impl<W> Core<W> {
    /// Begins the lifecycle; [`Event::Connected`] tells how it went.
    pub fn start(&mut self, now: Time) {
        let timeout = self.options.timeout;
        let deadline = now.saturating_add(timeout);
        let (discover, initialize) = match self.options.protocol {
            Protocol::Raw => {
                self.phase = Phase::Ready;
                return;
            }
            Protocol::Auto if self.known == Some(Era::Legacy) => {
                (false, Some(Revision::LATEST_LEGACY))
            }
            Protocol::Auto => (true, None),
            Protocol::Only(revision) if revision.is_modern() => (true, None),
            Protocol::Only(revision) => (false, Some(revision)),
        };
        let probing = discover && self.options.protocol == Protocol::Auto;
        let fall_back_at = probing.then(|| now.saturating_add(PROBE.min(timeout / 2)));
        self.phase = Phase::Connecting(Box::new(Connecting {
            discover: Step::Unused,
            initialize: Step::Unused,
            fall_back_at,
            fails_at: None,
            tried: Vec::new(),
            asked_again: false,
            assumed: !discover && self.options.protocol == Protocol::Auto,
            deadline,
        }));
        if discover {
            self.discover(now, Revision::LATEST);
        }
        if let Some(revision) = initialize {
            self.initialize(now, revision);
        }
        self.wake_by(fall_back_at.map_or(deadline, |at| at.min(deadline)));
    }

    fn connecting(&mut self) -> Option<&mut Connecting> {
        match &mut self.phase {
            Phase::Connecting(connecting) => Some(connecting),
            _ => None,
        }
    }

    fn discover(&mut self, now: Time, revision: Revision) {
        self.speak(revision);
        self.begin(now, Owner::Discover, Request::new("server/discover", None));
        if let Some(connecting) = self.connecting() {
            connecting.discover = Step::Waiting;
            connecting.assumed = false;
        }
    }

    fn initialize(&mut self, now: Time, revision: Revision) {
        let params = RawJson::from(json!({
            "protocolVersion": revision.name(),
            "capabilities": self.options.capabilities,
            "clientInfo": self.options.info,
        }));
        self.begin(now, Owner::Initialize, Request::new("initialize", Some(params)));
        if let Some(connecting) = self.connecting() {
            connecting.initialize = Step::Waiting;
            connecting.fall_back_at = None;
            connecting.fails_at = None;
            connecting.tried.push(revision);
        }
    }

    fn begin(&mut self, now: Time, owner: Owner<W>, request: Request) {
        let id = self.ids.generate();
        let pending = Pending::new(owner, request, self.options.timeout);
        self.launch(now, id, pending);
    }

    /// The probe was answered.
    pub(super) fn discovered(&mut self, now: Time, frame: Frame) {
        if self.connecting().is_none() {
            return;
        }
        let Some(result) = frame.result() else {
            let error = frame.error_object().unwrap_or_else(|| ErrorObject::internal("no error"));
            return self.discover_refused(now, error);
        };
        let versions = strings(result.get("supportedVersions"));
        match self.choose(&versions) {
            Some(revision) if revision.is_modern() => {
                let info = result.at(&["_meta", "io.modelcontextprotocol/serverInfo"]);
                let session = session(revision, info, result, &frame);
                self.connected(session);
            }
            Some(revision) => self.fall_back_from_discovery(now, revision),
            None => self.refuse_versions(versions),
        }
    }

    /// A modern error tells a modern server (basic/transports/stdio#backward-compatibility);
    /// any other tells one of the older.
    fn discover_refused(&mut self, now: Time, error: ErrorObject) {
        let refused =
            Error::Refused { method: "server/discover".to_owned(), error: Box::new(error.clone()) };
        match error.code {
            code::UNSUPPORTED_PROTOCOL_VERSION => {
                let supported = error.data.as_ref().and_then(|data| data.get("supported"));
                let versions: Vec<String> = supported
                    .and_then(|list| serde_json::from_value(list.clone()).ok())
                    .unwrap_or_default();
                match self.choose(&versions) {
                    // It has named what it speaks besides, and that needs a handshake.
                    Some(revision) if !revision.is_modern() => {
                        self.fall_back_from_discovery(now, revision);
                    }
                    // It named the very revision that it has just refused: asked
                    // once more, it may be of another mind.
                    Some(revision) => match self.connecting() {
                        Some(connecting) if !connecting.asked_again => {
                            connecting.asked_again = true;
                            self.discover(now, revision);
                        }
                        _ => self.failed(refused),
                    },
                    None => self.refuse_versions(versions),
                }
            }
            code::HEADER_MISMATCH | code::MISSING_REQUIRED_CLIENT_CAPABILITY => {
                self.failed(refused)
            }
            _ => self.discover_failed(now, refused),
        }
    }

    /// The probe found no modern server, or could not be answered.
    pub(super) fn discover_failed(&mut self, now: Time, error: Error) {
        let auto = self.options.protocol == Protocol::Auto;
        let Some(connecting) = self.connecting() else { return };
        connecting.discover = Step::Done;
        if auto && is_final(&error) {
            return self.failed(error);
        }
        if !auto {
            return self.failed(match error {
                // Not a word of versions: a server that knows only the handshake.
                Error::Refused { error, .. } => {
                    let theirs = vec![format!("answers server/discover with: {error}")];
                    Error::VersionRefused { ours: self.options.revisions(), theirs }
                }
                error => error,
            });
        }
        match std::mem::replace(&mut connecting.initialize, Step::Unused) {
            Step::Unused => self.fall_back(now, Revision::LATEST_LEGACY),
            // Both ways have failed; the handshake's reason says more.
            Step::Failed(error) => self.failed(error),
            waiting => connecting.initialize = waiting,
        }
    }

    /// The probe has told what to shake hands on.
    fn fall_back_from_discovery(&mut self, now: Time, revision: Revision) {
        if let Some(connecting) = self.connecting() {
            connecting.discover = Step::Done;
        }
        self.fall_back(now, revision);
    }

    fn fall_back(&mut self, now: Time, revision: Revision) {
        let waiting = |step: &Step| matches!(step, Step::Waiting);
        if self.connecting().is_some_and(|connecting| waiting(&connecting.initialize)) {
            return;
        }
        self.initialize(now, revision);
    }

    /// The handshake was answered.
    pub(super) fn initialized(&mut self, now: Time, frame: Frame) {
        let Some(result) = frame.result() else {
            let error = frame.error_object().unwrap_or_else(|| ErrorObject::internal("no error"));
            return self.initialize_refused(now, error);
        };
        let version = result.get("protocolVersion").and_then(Json::as_str).unwrap_or_default();
        let ours = self.options.revisions();
        let agreed = Revision::from_name(&version)
            .filter(|revision| !revision.is_modern() && ours.contains(revision));
        let Some(revision) = agreed else {
            let theirs = vec![version.into_owned()];
            return self.initialize_failed(now, Error::VersionRefused { ours, theirs });
        };
        if self.connecting().is_some() {
            let session = session(revision, result.get("serverInfo"), result, &frame);
            self.connected(session);
            self.send(Frame::notification("notifications/initialized", None));
            if self.link == LinkKind::Streams {
                self.actions.push_back(Outgoing::Open(Stream::Standing));
            }
        }
    }

    fn initialize_refused(&mut self, now: Time, error: ErrorObject) {
        let supported = error.data.as_ref().and_then(|data| data.get("supported"));
        let theirs: Option<Vec<String>> =
            supported.and_then(|list| serde_json::from_value(list.clone()).ok());
        // Some name what they speak in the error, as the specification shows,
        // instead of answering with it.
        if let Some(revision) = theirs.as_deref().and_then(|theirs| self.choose(theirs))
            && !revision.is_modern()
            && self.connecting().is_some_and(|connecting| !connecting.tried.contains(&revision))
        {
            return self.initialize(now, revision);
        }
        let refused = match theirs {
            Some(theirs) => Error::VersionRefused { ours: self.options.revisions(), theirs },
            None => Error::Refused { method: "initialize".to_owned(), error: Box::new(error) },
        };
        self.initialize_failed(now, refused);
    }

    /// The handshake failed. While the probe is still open, a late answer to
    /// it may save the connection.
    pub(super) fn initialize_failed(&mut self, now: Time, error: Error) {
        let fails_at = now.saturating_add(self.options.grace);
        let Some(connecting) = self.connecting() else { return };
        // What was known from before may not be true any more.
        if connecting.assumed && !is_final(&error) {
            connecting.initialize = Step::Unused;
            return self.discover(now, Revision::LATEST);
        }
        if !matches!(connecting.discover, Step::Waiting) {
            return self.failed(error);
        }
        connecting.initialize = Step::Failed(error);
        connecting.fails_at = Some(fails_at);
        self.wake_by(fails_at);
    }

    pub(super) fn lifecycle_due(&self) -> Option<Time> {
        match &self.phase {
            Phase::Connecting(connecting) => {
                let times =
                    [connecting.fall_back_at, connecting.fails_at, Some(connecting.deadline)];
                times.into_iter().flatten().min()
            }
            _ => None,
        }
    }

    pub(super) fn lifecycle_tick(&mut self, now: Time) {
        let timeout = self.options.timeout;
        let Some(connecting) = self.connecting() else { return };
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if due(connecting.fails_at)
            && let Step::Failed(error) = std::mem::replace(&mut connecting.initialize, Step::Unused)
        {
            self.failed(error);
        } else if due(Some(connecting.deadline)) {
            let method = connecting.waiting_for().to_owned();
            // Whoever said nothing but noise is told what it said.
            let noise = self.noise_before.take().filter(|_| !self.heard);
            self.failed(match noise {
                Some(frame) => Error::Noise { method, frame },
                None => Error::Timeout { method, after: timeout },
            });
        } else if due(connecting.fall_back_at) {
            self.fall_back(now, Revision::LATEST_LEGACY);
        }
    }

    fn choose(&self, theirs: &[String]) -> Option<Revision> {
        let ours = self.options.revisions().into_iter();
        ours.into_iter().find(|revision| theirs.iter().any(|name| name == revision.name()))
    }

    fn refuse_versions(&mut self, theirs: Vec<String>) {
        let ours = self.options.revisions();
        self.failed(Error::VersionRefused { ours, theirs });
    }

    fn connected(&mut self, session: Session) {
        self.phase = Phase::Ready;
        self.forget_lifecycle();
        self.speak(session.revision);
        let session = Arc::new(session);
        self.session = Some(Arc::clone(&session));
        self.events.push_back(Event::Connected(Ok(session)));
    }

    fn failed(&mut self, error: Error) {
        self.phase = Phase::Failed;
        self.forget_lifecycle();
        self.events.push_back(Event::Connected(Err(error)));
    }

    /// What the lifecycle still waits for is not wanted any more.
    fn forget_lifecycle(&mut self) {
        let ours = |pending: &Pending<W>| !matches!(pending.owner, Owner::Caller(_));
        let unwanted = self.pending.iter().filter(|(_, pending)| ours(pending));
        let unwanted: Vec<Id> = unwanted.map(|(id, _)| id.clone()).collect();
        for id in unwanted {
            self.pending.remove(&id);
            self.abort(&id);
            self.outrun.push(id);
        }
    }
}

/// Whether nothing better can come of asking in another way: nobody is there,
/// or nobody may come in.
fn is_final(error: &Error) -> bool {
    match error {
        Error::Closed { cause: Cause::Unreachable(_) | Cause::NotAuthorized(_), .. } => true,
        Error::Closed { cause: Cause::Http { status, .. }, .. } => {
            matches!(status, 401 | 403 | 407)
        }
        _ => false,
    }
}

fn session(revision: Revision, info: Option<Json<'_>>, result: Json<'_>, frame: &Frame) -> Session {
    Session {
        revision,
        server_info: info.and_then(implementation),
        capabilities: result.get("capabilities").and_then(capabilities).unwrap_or_default(),
        instructions: result.get("instructions").and_then(Json::as_str).map(Into::into),
        frame: frame.clone(),
    }
}

fn strings(list: Option<Json<'_>>) -> Vec<String> {
    let items = list.unwrap_or(Json::EMPTY_OBJECT).items();
    items.filter_map(|item| item.as_str().map(Into::into)).collect()
}
