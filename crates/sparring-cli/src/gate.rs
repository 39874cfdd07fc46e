//! A link that lets the target speak only while there is room for what it says:
//! in the queue of frames, and in the trace.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use sparring_peer::link::Recorder;
use sparring_peer::{Incoming, Link, LinkKind, Outgoing};

use crate::frames::Frames;
use crate::output::Outlet;

/// The link to the target, and those who look on.
pub(crate) struct Gate {
    pub(crate) link: Box<dyn Link>,
    pub(crate) frames: Frames,
    pub(crate) trace: Option<Outlet>,
    /// Whether the link is ending, which must not wait for anybody.
    pub(crate) closing: bool,
}

impl Link for Gate {
    fn kind(&self) -> LinkKind {
        self.link.kind()
    }

    fn record_to(&mut self, recorder: Recorder) {
        self.link.record_to(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        self.closing |= outgoing == Outgoing::Close;
        self.link.send(outgoing);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let flushed = self.link.poll_flush(cx);
        self.frames.set_unsent(self.link.backlog());
        flushed
    }

    fn backlog(&self) -> usize {
        self.link.backlog()
    }

    fn closing_time(&self) -> Duration {
        self.link.closing_time()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if !self.closing {
            ready!(self.frames.poll_room(cx));
            if let Some(trace) = &self.trace {
                ready!(trace.poll_room(cx));
            }
        }
        self.link.poll_receive(cx)
    }
}
