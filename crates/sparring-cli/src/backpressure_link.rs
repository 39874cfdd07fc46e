//! A link that receives only while the frame queue and the trace have capacity.

use std::task::{Context, Poll, ready};

use sparring_peer::link::{Recorder, Stream};
use sparring_peer::{Incoming, Link, LinkInfo, Outgoing};

use crate::frame_queue::FrameQueue;
use crate::output::ThreadedWriter;

/// The link to the target, with the queues that it waits for.
pub(crate) struct BackpressureLink {
    pub(crate) link: Box<dyn Link>,
    pub(crate) frames: FrameQueue,
    pub(crate) trace: Option<ThreadedWriter>,
    /// True if the link is closing. Closing does not wait for capacity.
    pub(crate) closing: bool,
}

impl Link for BackpressureLink {
    fn info(&self) -> LinkInfo {
        self.link.info()
    }

    fn set_recorder(&mut self, recorder: Recorder) {
        self.link.set_recorder(recorder);
    }

    fn send(&mut self, outgoing: Outgoing) {
        self.closing |= outgoing == Outgoing::Close;
        self.link.send(outgoing);
    }

    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let flushed = self.link.poll_flush(cx);
        self.frames.set_unsent_bytes(self.link.backlog());
        flushed
    }

    fn backlog(&self) -> usize {
        self.link.backlog()
    }

    fn pauses_timeouts(&self) -> bool {
        self.link.pauses_timeouts()
    }

    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Incoming> {
        if !self.closing {
            ready!(self.frames.poll_capacity(cx));
            if let Some(trace) = &self.trace {
                ready!(trace.poll_capacity(cx));
            }
        }
        let incoming = ready!(self.link.poll_receive(cx));
        if let Incoming::StreamEnded { stream: Stream::Connection, cause } = &incoming {
            self.frames.set_send_error(cause.clone());
        }
        Poll::Ready(incoming)
    }

    fn describe_progress(&self, stream: &Stream) -> Option<String> {
        self.link.describe_progress(stream)
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;

    use sparring_peer::LinkKind;
    use sparring_peer::link::memory;
    use sparring_wire::{Frame, Side, Transcript, TranscriptItem};

    use super::*;

    #[test]
    fn a_target_waits_while_the_queue_is_full() {
        let (link, mut target) = memory(LinkKind::Shared);
        let (frames, transcript) = (FrameQueue::default(), Transcript::default());
        let filled = frames.clone();
        transcript.set_sink(move |recorded| {
            if let TranscriptItem::Entry(entry) = recorded {
                filled.push(entry);
            }
        });
        let mut link_under_test = BackpressureLink {
            link: Box::new(link),
            frames: frames.clone(),
            trace: None,
            closing: false,
        };
        link_under_test.set_recorder(Recorder::new(&transcript, Side::Client));
        frames.start();
        let count = 10_000;
        for _ in 0..count {
            target.send(Frame::parse(vec![b'x'; 1000]).into());
        }
        let mut cx = Context::from_waker(Waker::noop());
        let mut seen = 0;
        while seen < count {
            while link_under_test.poll_receive(&mut cx).is_ready() {}
            let queued = frames.take().len();
            assert!((1..1000).contains(&queued), "{queued} frames are queued");
            seen += queued;
        }
        // Closing does not wait.
        for _ in 0..count {
            target.send(Frame::parse(vec![b'x'; 1000]).into());
        }
        link_under_test.send(Outgoing::Close);
        (0..count).for_each(|_| assert!(link_under_test.poll_receive(&mut cx).is_ready()));
    }
}
