//! A link that lets the target speak only while there is room for what it says:
//! in the queue of frames, and in the trace.

use std::task::{Context, Poll, ready};
use std::time::Duration;

use sparring_peer::link::{Recorder, Stream};
use sparring_peer::{Era, Incoming, Link, LinkKind, Outgoing};

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

    fn transport(&self) -> &'static str {
        self.link.transport()
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

    fn is_held(&self) -> bool {
        self.link.is_held()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if !self.closing {
            ready!(self.frames.poll_room(cx));
            if let Some(trace) = &self.trace {
                ready!(trace.poll_room(cx));
            }
        }
        let incoming = ready!(self.link.poll_receive(cx));
        if let Incoming::StreamEnded { stream: Stream::Standing, cause } = &incoming {
            self.frames.set_broken(cause.clone());
        }
        Poll::Ready(incoming)
    }

    fn state_of(&self, stream: &Stream) -> Option<String> {
        self.link.state_of(stream)
    }

    fn known_era(&self) -> Option<Era> {
        self.link.known_era()
    }

    fn learn_era(&mut self, era: Era) {
        self.link.learn_era(era);
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use sparring_peer::link::memory;
    use sparring_wire::{Frame, Recorded, Side, Transcript};

    use super::*;

    #[test]
    fn a_target_that_says_more_than_is_looked_at_has_to_wait() {
        let (link, mut target) = memory(LinkKind::Shared);
        let (frames, transcript) = (Frames::default(), Transcript::default());
        let filled = frames.clone();
        transcript.stream_to(move |recorded| {
            if let Recorded::Entry(entry) = recorded {
                filled.add(entry);
            }
        });
        let mut gate =
            Gate { link: Box::new(link), frames: frames.clone(), trace: None, closing: false };
        gate.record_to(Recorder::new(&transcript, Side::Client));
        frames.begin();
        let said = 10_000;
        for _ in 0..said {
            target.send(Frame::parse(vec![b'x'; 1000]).into());
        }
        let mut cx = Context::from_waker(Waker::noop());
        let mut seen = 0;
        while seen < said {
            while gate.poll_receive(&mut cx).is_ready() {}
            let queued = frames.take().len();
            assert!((1..1000).contains(&queued), "{queued} frames are queued");
            seen += queued;
        }
        // An end does not wait for anybody.
        for _ in 0..said {
            target.send(Frame::parse(vec![b'x'; 1000]).into());
        }
        gate.send(Outgoing::Close);
        (0..said).for_each(|_| assert!(gate.poll_receive(&mut cx).is_ready()));
    }
}
