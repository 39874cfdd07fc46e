//! Looks on while a client talks: keeps what the server breaks, what it sends
//! unasked, and what is said in a step.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sparring_wire::{Entry, Frame, FrameKind, Recorded, Side, Transcript, Violation};

use crate::event::Spoken;

/// The most frames of a step that are kept, and how much of each: the first
/// ones say what was asked, the last ones what came of it.
const KEPT: usize = 12;
const LONGEST: usize = 4_000;

/// The most breaches between two looks at them.
const BREACHES: usize = 100;

/// The most notifications of a step that are kept.
const NOTIFICATIONS: usize = 10_000;

/// An onlooker. Cheap to clone; all clones are one.
#[derive(Debug, Clone, Default)]
pub(super) struct Watch(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    violations: Vec<Violation>,
    notifications: Vec<Frame>,
    spoken: VecDeque<Spoken>,
    unheard: usize,
}

impl Watch {
    /// Begins to look at what will be recorded in a transcript.
    pub(super) fn of(transcript: &Transcript) -> Watch {
        let watch = Watch::default();
        let looking = watch.clone();
        transcript.stream_to(move |recorded| {
            if let Recorded::Entry(entry) = recorded {
                looking.seen().keep(entry);
            }
        });
        watch
    }

    /// Forgets what was said, since a step begins.
    pub(super) fn begin(&self) {
        let mut seen = self.seen();
        seen.spoken.clear();
        seen.notifications.clear();
        seen.unheard = 0;
    }

    /// The breaches since the last time somebody asked.
    pub(super) fn violations(&self) -> Vec<Violation> {
        std::mem::take(&mut self.seen().violations)
    }

    /// What the server sent unasked in this step, from the nth on.
    pub(super) fn notifications(&self, from: usize) -> Vec<Frame> {
        self.seen().notifications.get(from..).unwrap_or_default().to_vec()
    }

    /// What was said in the step, and how much of it is not kept.
    pub(super) fn spoken(&self) -> (Vec<Spoken>, usize) {
        let seen = self.seen();
        (seen.spoken.iter().cloned().collect(), seen.unheard)
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn keep(&mut self, entry: &Entry) {
        let by_server = entry.from == Side::Server;
        if by_server && self.violations.len() < BREACHES {
            self.violations.extend(entry.violations.iter().cloned());
        }
        let unasked = by_server && entry.frame.kind() == FrameKind::Notification;
        if unasked && self.notifications.len() < NOTIFICATIONS {
            self.notifications.push(entry.frame.clone());
        }
        if self.spoken.len() == KEPT {
            self.spoken.remove(KEPT / 2);
            self.unheard += 1;
        }
        let mut text = entry.frame.text().into_owned();
        if let Some((end, _)) = text.char_indices().nth(LONGEST) {
            let length = text.len();
            text.truncate(end);
            text.push_str(&format!("… ({length} bytes)"));
        }
        self.spoken.push_back(Spoken { by_server, text });
    }
}
