//! What a session reads: everything, or while it serves a given number of
//! requests only what those need, the rest being held back for later.

use std::collections::VecDeque;
use std::task::{Context, Poll};

use sparring_wire::{Frame, FrameKind};

use crate::link::{Incoming, Link};

/// How much is held back before reading stops.
const MOST: usize = 1_000;

/// Which of what comes in is wanted now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Everything.
    All,
    /// What belongs to requests being served: answers, notifications, ends.
    NoRequests,
}

/// What was read and not wanted yet.
#[derive(Debug, Default)]
pub(super) struct Intake {
    held: VecDeque<Incoming>,
}

impl Intake {
    /// The next thing that is wanted: of what was held back, then off the link.
    pub(super) fn poll(
        &mut self,
        link: &mut dyn Link,
        wanted: Wanted,
        cx: &mut Context<'_>,
    ) -> Poll<Incoming> {
        if wanted == Wanted::All
            && let Some(incoming) = self.held.pop_front()
        {
            return Poll::Ready(incoming);
        }
        while self.held.len() < MOST {
            let incoming = std::task::ready!(link.poll_receive(cx));
            if wanted == Wanted::All || !is_request(&incoming) {
                return Poll::Ready(incoming);
            }
            self.held.push_back(incoming);
        }
        Poll::Pending
    }

    /// Whether no more is held back, and so nothing more is read.
    pub(super) fn is_full(&self) -> bool {
        self.held.len() >= MOST
    }

    /// Whether anything is held back.
    pub(super) fn holds(&self) -> bool {
        !self.held.is_empty()
    }
}

fn is_request(incoming: &Incoming) -> bool {
    match incoming {
        Incoming::Noise { .. } => true,
        Incoming::Frame { frame, .. } => asks(frame),
        Incoming::StreamEnded { .. } | Incoming::Missed(_) | Incoming::Closed(_) => false,
    }
}

/// Whether a frame wants an answer; a bad answer does not.
fn asks(frame: &Frame) -> bool {
    match frame.kind() {
        FrameKind::Request => true,
        FrameKind::Notification | FrameKind::Result | FrameKind::Error => false,
        FrameKind::Other => frame.result().is_none() && frame.error().is_none(),
        FrameKind::Batch => frame.batch().any(|item| asks(&item)),
    }
}
