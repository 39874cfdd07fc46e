//! What one side has asked and not yet been told: requests in flight, a
//! bounded memory of finished ones, and the progress tokens that are valid.

use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

use foldhash::fast::RandomState;

use crate::id::Id;
use crate::json::RawJson;
use crate::revision::{MethodRule, Revision};

/// How many finished requests are remembered.
const REMEMBERED: usize = 1024;

/// How many requests in flight are followed.
const FOLLOWED: usize = 65536;

/// The requests of one side.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    pending: HashMap<Id, Pending, RandomState>,
    finished: HashMap<Id, Finished, RandomState>,
    order: VecDeque<Id>,
    tokens: HashMap<Id, Token, RandomState>,
    /// Tokens that outlive their request, the oldest first.
    lasting: VecDeque<Id>,
    /// Whether something was forgotten, so that what is not known can no
    /// longer be called wrong.
    pub(super) blind: bool,
    /// Whether a request that wished for log messages was cancelled, after
    /// which some may still come.
    pub(super) late_logs: bool,
}

/// A request in flight.
#[derive(Debug, Clone, Default)]
pub(super) struct Pending {
    /// The rule of its method, where the revision has one.
    pub(super) rule: Option<&'static MethodRule>,
    pub(super) revision: Option<Revision>,
    /// The `protocolVersion` it names.
    pub(super) version: Option<Cow<'static, str>>,
    /// The capabilities it declares.
    pub(super) capabilities: Option<RawJson>,
    pub(super) task: bool,
    pub(super) extensions: bool,
    pub(super) token: Option<Id>,
    pub(super) wants_logs: bool,
    pub(super) subscription: Option<Subscription>,
    /// How many more requests in flight wrongly have the same id.
    pub(super) copies: usize,
}

/// A `subscriptions/listen` request in flight.
#[derive(Debug, Clone)]
pub(super) struct Subscription {
    pub(super) filter: RawJson,
    pub(super) acknowledged: bool,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finished {
    Replied,
    /// Cancelled, and one late reply may still come.
    Cancelled,
}

#[derive(Debug, Default)]
struct Token {
    last: Option<f64>,
    /// How many requests have it; more than one is wrong, but happens.
    users: usize,
}

/// What is wrong with a progress notification.
pub(super) enum ProgressFault {
    UnknownToken,
    NotIncreasing(f64),
}

impl Ledger {
    pub(super) fn pending(&self, id: &Id) -> Option<&Pending> {
        self.pending.get(id)
    }

    pub(super) fn all_pending(&self) -> impl Iterator<Item = &Pending> {
        self.pending.values()
    }

    pub(super) fn finished(&self, id: &Id) -> Option<Finished> {
        self.finished.get(id).copied()
    }

    pub(super) fn subscription(&mut self, id: &Id) -> Option<&mut Subscription> {
        self.pending.get_mut(id)?.subscription.as_mut()
    }

    /// Whether a token is in use.
    pub(super) fn has_token(&self, token: &Id) -> bool {
        self.tokens.contains_key(token)
    }

    pub(super) fn ask(&mut self, id: &Id, request: Pending) {
        if let Some(token) = &request.token {
            let known = self.tokens.entry(token.clone()).or_default();
            known.users += 1;
            known.last = None;
        }
        if let Some(earlier) = self.pending.get_mut(id) {
            // Which of the two is answered cannot be told any more.
            let copies = earlier.copies + 1;
            *earlier = Pending { copies, ..Pending::default() };
            return;
        }
        match self.pending.len() < FOLLOWED {
            true => drop(self.pending.insert(id.clone(), request)),
            false => self.blind = true,
        }
    }

    /// Takes the request that a reply answers.
    pub(super) fn answer(&mut self, id: &Id) -> Option<Pending> {
        if let Some(pending) = self.pending.get_mut(id)
            && pending.copies > 0
        {
            pending.copies -= 1;
            return Some(pending.clone());
        }
        let pending = self.pending.remove(id)?;
        self.finish(id, Finished::Replied);
        Some(pending)
    }

    /// Ends the validity of a token, or keeps it beyond its request.
    pub(super) fn release(&mut self, token: &Id, lasts: bool) {
        if !lasts {
            let Some(known) = self.tokens.get_mut(token) else {
                return;
            };
            known.users = known.users.saturating_sub(1);
            if known.users == 0 {
                self.tokens.remove(token);
            }
            return;
        }
        self.lasting.push_back(token.clone());
        if self.lasting.len() > REMEMBERED
            && let Some(oldest) = self.lasting.pop_front()
        {
            self.tokens.remove(&oldest);
            self.blind = true;
        }
    }

    pub(super) fn cancel(&mut self, id: &Id) {
        let Some(pending) = self.pending.remove(id) else {
            return;
        };
        if let Some(token) = &pending.token {
            self.release(token, true);
        }
        self.late_logs |= pending.wants_logs;
        self.finish(id, Finished::Cancelled);
    }

    /// Notes a late reply to a cancelled request; the next one is too many.
    pub(super) fn late_reply(&mut self, id: &Id) {
        if let Some(finished) = self.finished.get_mut(id) {
            *finished = Finished::Replied;
        }
    }

    /// Forgets what is finished: a new session begins.
    pub(super) fn new_session(&mut self) {
        self.blind |= self.finished.values().any(|it| *it == Finished::Cancelled);
        self.finished.clear();
        self.order.clear();
    }

    pub(super) fn progress(&mut self, token: &Id, value: Option<f64>) -> Option<ProgressFault> {
        let Some(known) = self.tokens.get_mut(token) else {
            return (!self.blind).then_some(ProgressFault::UnknownToken);
        };
        let value = value?;
        let fault = known.last.filter(|last| value <= *last);
        known.last = Some(value);
        fault.map(ProgressFault::NotIncreasing)
    }

    fn finish(&mut self, id: &Id, how: Finished) {
        if self.finished.insert(id.clone(), how).is_none() {
            self.order.push_back(id.clone());
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.blind |= self.finished.remove(&oldest) == Some(Finished::Cancelled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_stays_bounded() {
        let mut ledger = Ledger::default();
        for number in 0..20_000 {
            let id = Id::Integer(number);
            ledger.ask(&id, Pending::default());
            ledger.answer(&id);
        }
        assert_eq!(ledger.finished.len(), REMEMBERED);
        assert_eq!(ledger.order.len(), REMEMBERED);
        assert!(ledger.pending.is_empty());
        assert!(!ledger.blind);
    }

    #[test]
    fn forgetting_a_cancelled_request_makes_blind() {
        let mut ledger = Ledger::default();
        for number in 0..=REMEMBERED as i64 {
            let id = Id::Integer(number);
            let token = Some(id.clone());
            let request = Pending { token, ..Pending::default() };
            ledger.ask(&id, request);
            ledger.cancel(&id);
        }
        assert!(ledger.blind);
        assert_eq!(ledger.finished.len(), REMEMBERED);
        assert!(ledger.tokens.len() <= REMEMBERED + 1);
    }
}
