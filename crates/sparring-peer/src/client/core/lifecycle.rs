//! Connects a client: with a handshake up to 2025-11-25, with discovery since
//! 2026-07-28, and detects which of the two the server needs.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sparring_wire::json::{parse_capabilities, parse_implementation};
use sparring_wire::{ErrorObject, Frame, Id, Json, RawJson, Revision, code};

use super::pending::{PendingRequest, Recipient};
use super::{Core, Event, Request, Session, Time};
use crate::client::error::Error;
use crate::client::options::Protocol;
use crate::link::{Cause, Era, LinkKind};

/// The maximum time to wait for `server/discover` before `initialize` is sent as
/// well.
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);

/// The phase of the client's lifecycle.
#[derive(Debug)]
pub(super) enum Phase {
    Idle,
    Connecting(Box<Connecting>),
    Ready,
    Failed,
    Closed(Cause),
}

/// The state while connecting.
#[derive(Debug)]
pub(super) struct Connecting {
    pub(super) discover: Attempt,
    pub(super) initialize: Attempt,
    /// The time at which `initialize` is sent although `server/discover` has no
    /// response.
    fall_back_at: Option<Time>,
    /// The time at which a failed `initialize` fails the connection although
    /// `server/discover` has no response.
    pub(super) fails_at: Option<Time>,
    /// The session of a modern server that received `initialize` as well.
    pub(super) modern: Option<Session>,
    /// The session of the handshake, held back because `server/discover` may still
    /// have a response.
    pub(super) legacy: Option<Session>,
    /// The time at which the session that is held back is used.
    pub(super) legacy_at: Option<Time>,
    /// True while the link replaces the server's process.
    pub(super) restarting: bool,
    /// The revisions requested with `initialize`.
    pub(super) attempted: Vec<Revision>,
    /// True if `server/discover` was sent a second time.
    retried_discover: bool,
    /// True if `server/discover` was left out because the era was known.
    skipped_discover: bool,
    pub(super) deadline: Time,
}

/// The state of `server/discover` or `initialize`.
#[derive(Debug)]
pub(super) enum Attempt {
    NotStarted,
    Pending,
    /// It has a response, and needs nothing more.
    Finished,
    Failed(Error),
}

impl Connecting {
    pub(super) fn closed_error(&self, cause: &Cause) -> Error {
        Error::Closed { method: self.pending_methods().to_owned(), cause: cause.clone() }
    }

    fn pending_methods(&self) -> &'static str {
        match (&self.discover, &self.initialize) {
            (Attempt::Pending, Attempt::Pending) => "server/discover and initialize",
            (Attempt::Pending, _) => "server/discover",
            _ if self.restarting => "server/discover",
            _ => "initialize",
        }
    }
}

impl<W> Core<W> {
    /// Starts the lifecycle. [`Event::Connected`] reports the outcome.
    pub fn start(&mut self, now: Time) {
        let timeout = self.options.timeout;
        let deadline = now.saturating_add(timeout);
        let (discover, initialize) = match self.options.protocol {
            Protocol::Raw => {
                if let Some(revision) = self.options.raw_revision {
                    self.set_revision(revision);
                }
                self.phase = Phase::Ready;
                return;
            }
            Protocol::Auto if self.known_era == Some(Era::Legacy) => {
                (false, Some(Revision::LATEST_LEGACY))
            }
            Protocol::Auto => (true, None),
            Protocol::Only(revision) if revision.is_modern() => (true, None),
            Protocol::Only(revision) => (false, Some(revision)),
        };
        let probing = discover && self.options.protocol == Protocol::Auto;
        let fall_back_at = probing.then(|| now.saturating_add(PROBE_TIMEOUT.min(timeout / 2)));
        self.phase = Phase::Connecting(Box::new(Connecting {
            discover: Attempt::NotStarted,
            initialize: Attempt::NotStarted,
            fall_back_at,
            fails_at: None,
            modern: None,
            legacy: None,
            legacy_at: None,
            restarting: false,
            attempted: Vec::new(),
            retried_discover: false,
            skipped_discover: !discover && self.options.protocol == Protocol::Auto,
            deadline,
        }));
        if discover {
            self.send_discover(now, Revision::LATEST);
        }
        if let Some(revision) = initialize {
            self.send_initialize(now, revision);
        }
        self.schedule_wake(fall_back_at.map_or(deadline, |at| at.min(deadline)));
    }

    pub(super) fn connecting(&mut self) -> Option<&mut Connecting> {
        match &mut self.phase {
            Phase::Connecting(connecting) => Some(connecting),
            _ => None,
        }
    }

    pub(super) fn send_discover(&mut self, now: Time, revision: Revision) {
        self.set_revision(revision);
        self.send_lifecycle_request(
            now,
            Recipient::Discover,
            Request::new("server/discover", None),
        );
        if let Some(connecting) = self.connecting() {
            connecting.discover = Attempt::Pending;
            connecting.skipped_discover = false;
        }
    }

    fn send_initialize(&mut self, now: Time, revision: Revision) {
        let params = RawJson::from(json!({
            "protocolVersion": revision.name(),
            "capabilities": self.options.capabilities_in(revision),
            "clientInfo": self.options.info,
        }));
        self.send_lifecycle_request(
            now,
            Recipient::Initialize,
            Request::new("initialize", Some(params)),
        );
        if let Some(connecting) = self.connecting() {
            connecting.initialize = Attempt::Pending;
            connecting.fall_back_at = None;
            connecting.fails_at = None;
            connecting.attempted.push(revision);
        }
    }

    fn send_lifecycle_request(&mut self, now: Time, recipient: Recipient<W>, request: Request) {
        let id = self.ids.next_id();
        let pending = PendingRequest::new(recipient, request, self.options.timeout);
        self.send_request(now, id, pending);
    }

    /// Handles the response to `server/discover`.
    pub(super) fn handle_discover_response(&mut self, now: Time, frame: Frame) {
        if self.connecting().is_none() {
            return;
        }
        let Some(result) = frame.result() else {
            let error = frame.error_object().unwrap_or_else(|| ErrorObject::internal("no error"));
            return self.handle_discover_error(now, error);
        };
        let versions = parse_strings(result.get("supportedVersions"));
        match self.choose_revision(&versions) {
            Some(revision) if revision.is_modern() => {
                let info = result.get_path(&["_meta", "io.modelcontextprotocol/serverInfo"]);
                let session = build_session(revision, info, result, &frame);
                self.choose_modern(now, session);
            }
            Some(revision) => self.fall_back_from_discovery(now, revision),
            None => self.fail_without_common_version(versions),
        }
    }

    /// Handles an error response to `server/discover`. An error of the modern era
    /// means a modern server (basic/transports/stdio#backward-compatibility); any
    /// other error means a legacy one.
    fn handle_discover_error(&mut self, now: Time, error: ErrorObject) {
        let refused = Error::ErrorResponse {
            method: "server/discover".to_owned(),
            error: Box::new(error.clone()),
        };
        match error.code {
            code::UNSUPPORTED_PROTOCOL_VERSION => {
                let supported = error.data.as_ref().and_then(|data| data.get("supported"));
                let versions: Vec<String> = supported
                    .and_then(|list| serde_json::from_value(list.clone()).ok())
                    .unwrap_or_default();
                match self.choose_revision(&versions) {
                    // The server names a legacy revision, which needs a
                    // handshake.
                    Some(revision) if !revision.is_modern() => {
                        self.fall_back_from_discovery(now, revision);
                    }
                    // The server names the revision that it has just refused.
                    // Retry once.
                    Some(revision) => match self.connecting() {
                        Some(connecting) if !connecting.retried_discover => {
                            connecting.retried_discover = true;
                            self.send_discover(now, revision);
                        }
                        _ => self.fail_connecting(refused),
                    },
                    None => self.fail_without_common_version(versions),
                }
            }
            code::HEADER_MISMATCH | code::MISSING_REQUIRED_CLIENT_CAPABILITY => {
                self.fail_connecting(refused)
            }
            _ => self.handle_discover_failure(now, refused),
        }
    }

    /// Handles that `server/discover` found no modern server, or failed.
    pub(super) fn handle_discover_failure(&mut self, now: Time, error: Error) {
        let auto = self.options.protocol == Protocol::Auto;
        let Some(connecting) = self.connecting() else { return };
        connecting.discover = Attempt::Finished;
        if auto && is_permanent(&error) {
            return self.fail_connecting(error);
        }
        if !auto {
            return self.fail_connecting(match error {
                // The error names no versions: the server knows only the
                // handshake.
                Error::ErrorResponse { error, .. } => {
                    let theirs = vec![format!("answered server/discover with an error: {error}")];
                    Error::NoCommonVersion { ours: self.options.revisions(), theirs }
                }
                error => error,
            });
        }
        if self.finish_held_legacy() {
            return;
        }
        let Some(connecting) = self.connecting() else { return };
        match std::mem::replace(&mut connecting.initialize, Attempt::NotStarted) {
            Attempt::NotStarted => self.fall_back_to_initialize(now, Revision::LATEST_LEGACY),
            // Both attempts have failed; the error of `initialize` explains more.
            Attempt::Failed(error) => self.fail_connecting(error),
            pending => connecting.initialize = pending,
        }
    }

    /// Sends `initialize` with the revision that `server/discover` returned.
    fn fall_back_from_discovery(&mut self, now: Time, revision: Revision) {
        if let Some(connecting) = self.connecting() {
            connecting.discover = Attempt::Finished;
        }
        if !self.finish_held_legacy() {
            self.fall_back_to_initialize(now, revision);
        }
    }

    fn fall_back_to_initialize(&mut self, now: Time, revision: Revision) {
        let is_pending = |attempt: &Attempt| matches!(attempt, Attempt::Pending);
        if self.connecting().is_some_and(|connecting| is_pending(&connecting.initialize)) {
            return;
        }
        self.send_initialize(now, revision);
    }

    /// Handles the response to `initialize`.
    pub(super) fn handle_initialize_response(&mut self, now: Time, frame: Frame) {
        let Some(result) = frame.result() else {
            let error = frame.error_object().unwrap_or_else(|| ErrorObject::internal("no error"));
            return self.handle_initialize_error(now, error);
        };
        let version = result.get("protocolVersion").and_then(Json::as_str).unwrap_or_default();
        let ours = self.options.revisions();
        let agreed = Revision::from_name(&version)
            .filter(|revision| !revision.is_modern() && ours.contains(revision));
        let Some(revision) = agreed else {
            let theirs = vec![version.into_owned()];
            return self.handle_initialize_failure(now, Error::NoCommonVersion { ours, theirs });
        };
        if self.connecting().is_some() {
            let session = build_session(revision, result.get("serverInfo"), result, &frame);
            self.choose_legacy(now, session);
        }
    }

    fn handle_initialize_error(&mut self, now: Time, error: ErrorObject) {
        let supported = error.data.as_ref().and_then(|data| data.get("supported"));
        let theirs: Option<Vec<String>> =
            supported.and_then(|list| serde_json::from_value(list.clone()).ok());
        // Some servers name their versions in the error, as the specification
        // shows, instead of in a result.
        if let Some(revision) = theirs.as_deref().and_then(|theirs| self.choose_revision(theirs))
            && !revision.is_modern()
            && self.connecting().is_some_and(|connecting| !connecting.attempted.contains(&revision))
        {
            return self.send_initialize(now, revision);
        }
        let refused = match theirs {
            Some(theirs) => Error::NoCommonVersion { ours: self.options.revisions(), theirs },
            None => {
                Error::ErrorResponse { method: "initialize".to_owned(), error: Box::new(error) }
            }
        };
        self.handle_initialize_failure(now, refused);
    }

    /// Handles that `initialize` failed. While `server/discover` is pending, a
    /// late response to it may still connect the client.
    pub(super) fn handle_initialize_failure(&mut self, now: Time, error: Error) {
        let fails_at = now.saturating_add(self.options.grace_period);
        let Some(connecting) = self.connecting() else { return };
        if connecting.restarting {
            connecting.initialize = Attempt::Failed(error);
            return;
        }
        // The server refused the legacy era, and has offered the modern one.
        if let Some(session) = connecting.modern.take() {
            return self.finish_connecting(session);
        }
        // The known era may be outdated.
        if connecting.skipped_discover && !is_permanent(&error) {
            connecting.initialize = Attempt::NotStarted;
            return self.send_discover(now, Revision::LATEST);
        }
        if !matches!(connecting.discover, Attempt::Pending) {
            return self.fail_connecting(error);
        }
        connecting.initialize = Attempt::Failed(error);
        connecting.fails_at = Some(fails_at);
        self.schedule_wake(fails_at);
    }

    pub(super) fn lifecycle_deadline(&self) -> Option<Time> {
        match &self.phase {
            Phase::Connecting(connecting) => {
                let times = [
                    connecting.fall_back_at,
                    connecting.fails_at,
                    connecting.legacy_at,
                    Some(connecting.deadline),
                ];
                times.into_iter().flatten().min()
            }
            _ => None,
        }
    }

    pub(super) fn lifecycle_tick(&mut self, now: Time) {
        let timeout = self.options.timeout;
        let printed = self.link == LinkKind::Shared;
        let Some(connecting) = self.connecting() else { return };
        let due = |at: Option<Time>| at.is_some_and(|at| at <= now);
        if due(connecting.fails_at)
            && let Attempt::Failed(error) =
                std::mem::replace(&mut connecting.initialize, Attempt::NotStarted)
        {
            self.fail_connecting(error);
        } else if due(connecting.legacy_at) {
            self.finish_held_legacy();
        } else if due(Some(connecting.deadline)) {
            let method = connecting.pending_methods().to_owned();
            // If the server sent only noise, the error shows it.
            let noise = self.early_noise.take().filter(|_| !self.received_frame);
            self.fail_connecting(match noise {
                Some(frame) => Error::Noise { method, frame, printed },
                None => Error::Timeout { method, after: timeout },
            });
        } else if due(connecting.fall_back_at) {
            self.fall_back_to_initialize(now, Revision::LATEST_LEGACY);
        }
    }

    fn choose_revision(&self, theirs: &[String]) -> Option<Revision> {
        let ours = self.options.revisions().into_iter();
        ours.into_iter().find(|revision| theirs.iter().any(|name| name == revision.name()))
    }

    fn fail_without_common_version(&mut self, theirs: Vec<String>) {
        let ours = self.options.revisions();
        self.fail_connecting(Error::NoCommonVersion { ours, theirs });
    }

    pub(super) fn finish_connecting(&mut self, session: Session) {
        self.phase = Phase::Ready;
        self.drop_lifecycle_requests();
        let session = Arc::new(session);
        self.session = Some(Arc::clone(&session));
        self.set_revision(session.revision);
        self.events.push_back(Event::Connected(Ok(session)));
    }

    fn fail_connecting(&mut self, error: Error) {
        self.phase = Phase::Failed;
        self.drop_lifecycle_requests();
        self.events.push_back(Event::Connected(Err(error)));
    }

    /// Drops the requests of the lifecycle that are still pending.
    pub(super) fn drop_lifecycle_requests(&mut self) {
        let ours = |pending: &PendingRequest<W>| !matches!(pending.recipient, Recipient::Caller(_));
        let unwanted = self.pending.iter().filter(|(_, pending)| ours(pending));
        let unwanted: Vec<Id> = unwanted.map(|(id, _)| id.clone()).collect();
        for id in unwanted {
            self.pending.remove(&id);
            self.abort_stream(&id);
            self.superseded.push(id);
        }
    }
}

/// Returns true if another attempt is useless: the server cannot be reached, or
/// refuses access.
fn is_permanent(error: &Error) -> bool {
    match error {
        Error::Closed { cause: Cause::Unreachable(_) | Cause::NotAuthorized(_), .. } => true,
        Error::Closed { cause: Cause::Http { status, .. }, .. } => {
            matches!(status, 401 | 403 | 407)
        }
        _ => false,
    }
}

fn build_session(
    revision: Revision,
    info: Option<Json<'_>>,
    result: Json<'_>,
    frame: &Frame,
) -> Session {
    Session {
        revision,
        server_info: info.and_then(parse_implementation),
        capabilities: result.get("capabilities").and_then(parse_capabilities).unwrap_or_default(),
        instructions: result.get("instructions").and_then(Json::as_str).map(Into::into),
        frame: frame.clone(),
    }
}

fn parse_strings(list: Option<Json<'_>>) -> Vec<String> {
    let items = list.unwrap_or(Json::EMPTY_OBJECT).items();
    items.filter_map(|item| item.as_str().map(Into::into)).collect()
}
