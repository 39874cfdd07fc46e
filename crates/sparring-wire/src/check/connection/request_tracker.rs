//! Tracks the requests of one side: the pending ones, a bounded number of finished
//! ones, and the valid progress tokens.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use super::can_keep_id;
use crate::id::Id;
use crate::json::RawJson;
use crate::revision::{RequestDefinition, Revision};

/// The maximum number of finished requests and retained tokens.
const MAX_FINISHED: usize = 1024;

/// The maximum number of pending requests.
const MAX_PENDING: usize = 65536;

/// The requests of one side.
#[derive(Debug, Default)]
pub(super) struct RequestTracker {
    pending: HashMap<Id, PendingRequest, RandomState>,
    finished: HashMap<Id, FinishedState, RandomState>,
    /// The ids of `finished`, oldest first.
    finished_order: VecDeque<Id>,
    tokens: HashMap<Id, TokenState, RandomState>,
    /// Tokens that outlive their request, oldest first.
    retained_tokens: VecDeque<Id>,
    /// True if a limit removed something. An unknown id or token is then not a
    /// violation.
    pub(super) has_forgotten: bool,
    /// True if a cancelled request had asked for logs, which can still arrive.
    pub(super) allows_late_logs: bool,
    /// The number of requests so far, which is the number of the next request.
    pub(super) next_number: u64,
    /// The number after that of the newest request with a response.
    answered_before: u64,
}

/// A request without a response.
#[derive(Debug, Clone, Default)]
pub(super) struct PendingRequest {
    /// The definition of its method, if the revision has one.
    pub(super) definition: Option<&'static RequestDefinition>,
    pub(super) revision: Option<Revision>,
    /// Its `protocolVersion`.
    pub(super) version: Option<Cow<'static, str>>,
    /// The capabilities it declares.
    pub(super) capabilities: Option<RawJson>,
    pub(super) task: bool,
    pub(super) extensions: bool,
    pub(super) token: Option<Id>,
    /// The lowest level of log messages that the request asks for, or that
    /// `logging/setLevel` sets.
    pub(super) log_level: Option<LogLevel>,
    /// The `cursor` of a list, the `taskId` of a request about a task, or the `uri` of a
    /// subscription.
    pub(super) subject: Option<Box<str>>,
    /// True if the called tool requires a task and the request has none.
    pub(super) lacks_task: bool,
    /// The position among the requests of this side.
    pub(super) number: u64,
    pub(super) subscription: Option<Subscription>,
    /// The number of other pending requests with the same id, which is a violation.
    pub(super) copies: usize,
}

/// A level of log messages; a more severe one is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LogLevel(usize);

impl LogLevel {
    const NAMES: [&str; 8] =
        ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

    /// The level that allows all messages.
    pub(super) const LOWEST: LogLevel = LogLevel(0);

    /// Returns the level of that name.
    pub(super) fn from_name(name: &str) -> Option<LogLevel> {
        Self::NAMES.iter().position(|it| *it == name).map(LogLevel)
    }

    pub(super) fn name(self) -> &'static str {
        Self::NAMES[self.0]
    }
}

/// A pending `subscriptions/listen` request.
#[derive(Debug, Clone)]
pub(super) struct Subscription {
    pub(super) filter: RawJson,
    pub(super) acknowledged: bool,
}

/// The way a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FinishedState {
    Answered,
    /// Cancelled before the request with this number; one late response can still arrive.
    Cancelled(u64),
}

#[derive(Debug, Default)]
struct TokenState {
    last: Option<f64>,
    /// The number of requests with this token; more than one is a violation.
    users: usize,
    /// The number of the next request when the request was cancelled.
    cancelled: Option<u64>,
}

/// The reason why a progress notification is invalid.
pub(super) enum ProgressViolation {
    UnknownToken,
    NotIncreasing(f64),
    /// The other side has received the cancellation of the request.
    Cancelled,
}

impl RequestTracker {
    pub(super) fn pending(&self, id: &Id) -> Option<&PendingRequest> {
        self.pending.get(id)
    }

    pub(super) fn all_pending(&self) -> impl Iterator<Item = &PendingRequest> {
        self.pending.values()
    }

    pub(super) fn finished(&self, id: &Id) -> Option<FinishedState> {
        self.finished.get(id).copied()
    }

    pub(super) fn subscription(&mut self, id: &Id) -> Option<&mut Subscription> {
        self.pending.get_mut(id)?.subscription.as_mut()
    }

    /// Returns true if a token is in use.
    pub(super) fn has_token(&self, token: &Id) -> bool {
        self.tokens.contains_key(token)
    }

    pub(super) fn add(&mut self, id: &Id, mut request: PendingRequest) {
        request.number = self.next_number;
        self.next_number += 1;
        if request.token.as_ref().is_some_and(|token| !can_keep_id(token)) {
            request.token = None;
            self.has_forgotten = true;
        }
        if !can_keep_id(id) {
            self.has_forgotten = true;
            return;
        }
        if let Some(token) = &request.token {
            let known = self.tokens.entry(token.clone()).or_default();
            known.users += 1;
            known.last = None;
            known.cancelled = None;
        }
        if let Some(earlier) = self.pending.get_mut(id) {
            // The next response can belong to either request.
            let copies = earlier.copies + 1;
            *earlier = PendingRequest { copies, ..PendingRequest::default() };
            return;
        }
        match self.pending.len() < MAX_PENDING {
            true => drop(self.pending.insert(id.clone(), request)),
            false => self.has_forgotten = true,
        }
    }

    /// Removes and returns the request that a response answers.
    pub(super) fn take(&mut self, id: &Id) -> Option<PendingRequest> {
        if let Some(pending) = self.pending.get_mut(id)
            && pending.copies > 0
        {
            pending.copies -= 1;
            return Some(pending.clone());
        }
        let pending = self.pending.remove(id)?;
        self.answered_before = self.answered_before.max(pending.number + 1);
        self.finish(id, FinishedState::Answered);
        Some(pending)
    }

    /// Returns true if the other side has certainly received a cancellation: it has
    /// answered a request that was sent afterwards.
    pub(super) fn has_received(&self, cancelled_before: u64) -> bool {
        self.answered_before > cancelled_before
    }

    /// Ends the validity of a token, or retains it beyond its request.
    pub(super) fn release_token(&mut self, token: &Id, retain: bool) {
        if !retain {
            let Some(known) = self.tokens.get_mut(token) else {
                return;
            };
            known.users = known.users.saturating_sub(1);
            if known.users == 0 {
                self.tokens.remove(token);
            }
            return;
        }
        self.retained_tokens.push_back(token.clone());
        if self.retained_tokens.len() > MAX_FINISHED
            && let Some(oldest) = self.retained_tokens.pop_front()
        {
            self.tokens.remove(&oldest);
            self.has_forgotten = true;
        }
    }

    pub(super) fn cancel(&mut self, id: &Id) {
        let Some(pending) = self.pending.remove(id) else {
            return;
        };
        if let Some(token) = &pending.token {
            self.release_token(token, true);
            if let Some(known) = self.tokens.get_mut(token) {
                known.cancelled = Some(self.next_number);
            }
        }
        self.allows_late_logs |= pending.log_level.is_some();
        self.finish(id, FinishedState::Cancelled(self.next_number));
    }

    /// Records the late response to a cancelled request; another one is a duplicate.
    pub(super) fn mark_answered(&mut self, id: &Id) {
        if let Some(finished) = self.finished.get_mut(id) {
            *finished = FinishedState::Answered;
        }
    }

    /// Removes all finished requests for a new session.
    pub(super) fn start_session(&mut self) {
        self.has_forgotten |=
            self.finished.values().any(|it| matches!(it, FinishedState::Cancelled(_)));
        self.finished.clear();
        self.finished_order.clear();
    }

    pub(super) fn check_progress(
        &mut self,
        token: &Id,
        value: Option<f64>,
    ) -> Option<ProgressViolation> {
        let Some(known) = self.tokens.get_mut(token) else {
            return (!self.has_forgotten).then_some(ProgressViolation::UnknownToken);
        };
        if known.cancelled.is_some_and(|before| self.answered_before > before) {
            return Some(ProgressViolation::Cancelled);
        }
        let value = value?;
        let previous = known.last.filter(|last| value <= *last);
        known.last = Some(value);
        previous.map(ProgressViolation::NotIncreasing)
    }

    fn finish(&mut self, id: &Id, state: FinishedState) {
        if self.finished.insert(id.clone(), state).is_none() {
            self.finished_order.push_back(id.clone());
        }
        if self.finished_order.len() > MAX_FINISHED
            && let Some(oldest) = self.finished_order.pop_front()
        {
            self.has_forgotten |=
                matches!(self.finished.remove(&oldest), Some(FinishedState::Cancelled(_)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_ids_and_tokens_are_not_kept() {
        let mut tracker = RequestTracker::default();
        let long = Id::String("x".repeat(2_000).into());
        tracker.add(&long, PendingRequest::default());
        assert!(tracker.pending.is_empty() && tracker.has_forgotten);
        let mut tracker = RequestTracker::default();
        let request = PendingRequest { token: Some(long), ..PendingRequest::default() };
        tracker.add(&Id::Integer(1), request);
        assert!(tracker.tokens.is_empty() && tracker.has_forgotten);
        tracker.cancel(&Id::Integer(1));
        assert!(tracker.retained_tokens.is_empty());
    }

    #[test]
    fn memory_stays_bounded() {
        let mut tracker = RequestTracker::default();
        for number in 0..20_000 {
            let id = Id::Integer(number);
            tracker.add(&id, PendingRequest::default());
            tracker.take(&id);
        }
        assert_eq!(tracker.finished.len(), MAX_FINISHED);
        assert_eq!(tracker.finished_order.len(), MAX_FINISHED);
        assert!(tracker.pending.is_empty());
        assert!(!tracker.has_forgotten);
    }

    #[test]
    fn removing_a_cancelled_request_is_recorded() {
        let mut tracker = RequestTracker::default();
        for number in 0..=MAX_FINISHED as i64 {
            let id = Id::Integer(number);
            let token = Some(id.clone());
            let request = PendingRequest { token, ..PendingRequest::default() };
            tracker.add(&id, request);
            tracker.cancel(&id);
        }
        assert!(tracker.has_forgotten);
        assert_eq!(tracker.finished.len(), MAX_FINISHED);
        assert!(tracker.tokens.len() <= MAX_FINISHED + 1);
    }
}
