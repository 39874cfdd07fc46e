//! Chooses the era of a server that has received `server/discover` and
//! `initialize`.
//!
//! `initialize` selects the legacy era for the life of a stdio process (2026-07-28,
//! basic/versioning#compatibility-matrix). A server that also answers
//! `server/discover` with a modern revision therefore gets a fresh process, to which
//! only `server/discover` is sent. The era does not depend on the time that the
//! server needs to start.

use std::time::Duration;

use sparring_wire::{Frame, Revision};

use super::lifecycle::{Attempt, Connecting};
use super::{Core, Session, Time};
use crate::link::{LinkKind, Outgoing, Stream};

/// The maximum wait for the response to `server/discover` after a later
/// `initialize` was answered.
const LATE_DISCOVERY_TIMEOUT: Duration = Duration::from_millis(200);

impl Connecting {
    /// Returns true if `initialize` may have selected the legacy era. A refused
    /// `initialize` selects none.
    fn may_be_legacy(&self) -> bool {
        matches!(self.initialize, Attempt::Pending) || self.legacy.is_some()
    }
}

impl<W> Core<W> {
    /// Uses a modern session: in a fresh process if this one may be in the legacy
    /// era.
    pub(super) fn choose_modern(&mut self, now: Time, session: Session) {
        let shared = self.link == LinkKind::Shared;
        let deadline = now.saturating_add(self.options.timeout);
        let Some(connecting) = self.connecting() else { return };
        if !shared || !connecting.may_be_legacy() {
            return self.finish_connecting(session);
        }
        connecting.discover = Attempt::Finished;
        connecting.modern = Some(session);
        connecting.restarting = true;
        connecting.legacy_at = None;
        connecting.fails_at = None;
        connecting.deadline = deadline;
        self.actions.push_back(Outgoing::Restart);
        self.schedule_wake(deadline);
    }

    /// Uses a legacy session, unless a response to `server/discover` may follow.
    pub(super) fn choose_legacy(&mut self, now: Time, session: Session) {
        let shared = self.link == LinkKind::Shared;
        let legacy_at = now.saturating_add(LATE_DISCOVERY_TIMEOUT);
        let Some(connecting) = self.connecting() else { return };
        let undecided = connecting.restarting || matches!(connecting.discover, Attempt::Pending);
        if !shared || !undecided {
            return self.finish_legacy(session);
        }
        connecting.initialize = Attempt::Finished;
        connecting.legacy = Some(session);
        if !connecting.restarting {
            connecting.legacy_at = Some(legacy_at);
            self.schedule_wake(legacy_at);
        }
    }

    /// Uses the legacy session that was held back, if there is one. Returns true if
    /// there was.
    pub(super) fn finish_held_legacy(&mut self) -> bool {
        match self.connecting().and_then(|connecting| connecting.legacy.take()) {
            Some(session) => {
                self.finish_legacy(session);
                true
            }
            None => false,
        }
    }

    fn finish_legacy(&mut self, session: Session) {
        self.finish_connecting(session);
        self.send(Frame::notification("notifications/initialized", None));
        if self.link == LinkKind::Streams {
            self.actions.push_back(Outgoing::Open(Stream::Connection));
        }
    }

    /// Handles a fresh process: it gets only `server/discover`, and the whole
    /// timeout.
    pub(super) fn handle_restarted(&mut self, now: Time) {
        let deadline = now.saturating_add(self.options.timeout);
        let Some(connecting) = self.connecting().filter(|it| it.restarting) else { return };
        let modern = connecting.modern.take();
        connecting.restarting = false;
        connecting.initialize = Attempt::NotStarted;
        connecting.legacy = None;
        connecting.attempted.clear();
        connecting.deadline = deadline;
        self.drop_lifecycle_requests();
        self.received_frame = false;
        self.early_noise = None;
        self.send_discover(now, modern.map_or(Revision::LATEST, |session| session.revision));
        self.schedule_wake(deadline);
    }

    /// Handles a link without a process. A handshake that succeeds selects the
    /// legacy era.
    pub(super) fn handle_not_restarted(&mut self) {
        let Some(connecting) = self.connecting().filter(|it| it.restarting) else { return };
        connecting.restarting = false;
        if self.finish_held_legacy() {
            return;
        }
        let Some(connecting) = self.connecting() else { return };
        if !connecting.may_be_legacy()
            && let Some(session) = connecting.modern.take()
        {
            self.finish_connecting(session);
        }
    }
}
