//! Where a session's two sides meet: the requests that come over HTTP, and the
//! peer that sees one link.
//!
//! One lock, held only to move something in or out, and never across a wait.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use sparring_peer::link::{Cause, FULL, Faults, Incoming, LinkKind, Outgoing, Recorder, Stream};
use sparring_wire::{Frame, FrameKind, Id};
use tokio::time::Instant;

use super::outlet::Outlet;
use super::reader::Reader;

const STANDING: u64 = Hub::STANDING;

/// How much may wait for the peer before nothing more is taken in: frames, and
/// their bytes.
const INBOX: usize = 1_000;
const INBOX_BYTES: usize = 16 * 1024 * 1024;

/// How many requests may be served at once before no other is taken in. They go
/// on when their client leaves, so connections are no bound for them.
const REQUESTS: usize = 1_000;

/// How many streams that have ended are kept for a client that comes back.
const ENDED: usize = 64;

/// How much a session keeps, and for how long.
#[derive(Debug, Clone, Copy)]
pub(in crate::http::server) struct Limits {
    /// Bytes that each stream keeps.
    pub(in crate::http::server) replay: usize,
    /// How long the session may be unused.
    pub(in crate::http::server) idle: Duration,
}

/// Why something is not taken in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http::server) enum Full {
    /// The session has ended.
    Ended,
    /// Too much is waiting already.
    Busy,
    /// A request of that id is being served.
    InUse,
}

/// Why nobody can read a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http::server) enum Unkept {
    /// There is no such stream, or not any more.
    Stream,
    /// Some of what followed is not kept any more.
    Frames,
}

/// The meeting place of one session.
#[derive(Debug)]
pub(in crate::http::server) struct Hub {
    kind: LinkKind,
    pub(super) limits: Limits,
    /// What readers have not been given yet, in bytes.
    backlog: AtomicUsize,
    /// The peer, where it waits for that to become less.
    waits_for_room: AtomicWaker,
    state: Mutex<State>,
}

/// What the lock guards.
#[derive(Debug)]
pub(super) struct State {
    inbox: VecDeque<Incoming>,
    /// What it takes in memory, about.
    inbox_bytes: usize,
    peer: Option<Waker>,
    pub(super) outlets: HashMap<u64, Outlet>,
    requests: HashMap<Id, u64>,
    /// Streams that have ended and are kept, the oldest first.
    ended: VecDeque<u64>,
    next: u64,
    /// Whether the session has ended, or what stands open is to.
    pub(super) closed: bool,
    draining: bool,
    pub(super) used: Instant,
    recorder: Option<Recorder>,
}

impl Hub {
    /// The stream that belongs to no request.
    pub(in crate::http::server) const STANDING: u64 = 0;

    pub(in crate::http::server) fn new(kind: LinkKind, limits: Limits) -> Arc<Self> {
        let state = State {
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            peer: None,
            outlets: HashMap::from_iter([(STANDING, Outlet::default())]),
            requests: HashMap::new(),
            ended: VecDeque::new(),
            next: STANDING,
            closed: false,
            draining: false,
            used: Instant::now(),
            recorder: None,
        };
        let state = Mutex::new(state);
        let (backlog, waits_for_room) = Default::default();
        Arc::new(Hub { kind, limits, backlog, waits_for_room, state })
    }

    pub(super) fn kind(&self) -> LinkKind {
        self.kind
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in a frame that gets no answer of its own.
    pub(in crate::http::server) fn post(&self, incoming: Incoming) -> Result<(), Full> {
        let mut state = self.lock();
        let Incoming::Frame { frame, .. } = &incoming else { return state.take_in(incoming) };
        let frame = frame.clone();
        let asks = self.kind == LinkKind::Shared && frame.kind() == FrameKind::Request;
        if asks && state.requests.len() >= REQUESTS {
            return Err(Full::Busy);
        }
        state.take_in(incoming)?;
        state.end_cancelled(&frame);
        if asks {
            state.requests.extend(frame.id().map(|id| (id.clone(), STANDING)));
        }
        Ok(())
    }

    /// Takes in requests, and gives the stream that answers them.
    pub(in crate::http::server) fn request(
        self: &Arc<Self>,
        ids: Vec<Id>,
        incoming: Incoming,
    ) -> Result<Reader, Full> {
        let mut state = self.lock();
        if ids.iter().any(|id| state.requests.contains_key(id)) {
            return Err(Full::InUse);
        }
        if state.requests.len() >= REQUESTS {
            return Err(Full::Busy);
        }
        let batch = match &incoming {
            Incoming::Frame { frame, .. } if frame.kind() == FrameKind::Batch => {
                Some(frame.clone())
            }
            _ => None,
        };
        state.take_in(incoming)?;
        state.next += 1;
        let number = state.next;
        state.requests.extend(ids.iter().map(|id| (id.clone(), number)));
        let mut outlet = Outlet::of(ids);
        let reader = outlet.attach(None);
        state.outlets.insert(number, outlet);
        if let Some(batch) = batch {
            state.end_cancelled(&batch);
        }
        Ok(Reader::new(Arc::clone(self), number, reader))
    }

    /// A reader of a stream, who takes over from the one before; it goes on
    /// after that frame, or not at all.
    pub(in crate::http::server) fn read(
        self: &Arc<Self>,
        number: u64,
        after: Option<u64>,
    ) -> Result<Reader, Unkept> {
        let mut state = self.lock();
        state.used = Instant::now();
        let outlet = state.outlets.get_mut(&number).ok_or(Unkept::Stream)?;
        if after.is_some_and(|after| !outlet.keeps_all_after(after)) {
            return Err(Unkept::Frames);
        }
        let known = std::mem::replace(&mut outlet.begun, true);
        let before = outlet.backlog();
        let reader = outlet.attach(after);
        let now = outlet.backlog();
        if outlet.done && !known {
            state.settle(number, self.limits.replay);
        }
        drop(state);
        self.count(before, now);
        Ok(Reader::new(Arc::clone(self), number, reader))
    }

    /// Whether a request is in flight.
    pub(super) fn is_serving(&self) -> bool {
        !self.lock().requests.is_empty()
    }

    /// What stands open ends as soon as it may.
    pub(in crate::http::server) fn drain(&self) {
        let mut state = self.lock();
        state.draining = true;
        if let Some(standing) = state.outlets.get_mut(&STANDING) {
            standing.wake();
        }
    }

    /// Ends everything; readers get what is left.
    pub(in crate::http::server) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        // Nobody takes it any more; readers may hold on to the rest for a while.
        state.inbox = VecDeque::new();
        state.inbox_bytes = 0;
        for outlet in state.outlets.values_mut() {
            outlet.wake();
        }
        if let Some(peer) = state.peer.take() {
            peer.wake();
        }
    }

    pub(super) fn record_to(&self, recorder: Recorder) {
        self.lock().recorder = Some(recorder);
    }

    pub(in crate::http::server) fn recorder(&self) -> Option<Recorder> {
        self.lock().recorder.clone()
    }

    /// Gives what the peer sends to the stream that it belongs to.
    pub(super) fn route(&self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Send { frame, stream, faults, .. } => self.send(frame, &stream, faults),
            Outgoing::Abort(Stream::Request(id)) => {
                let mut state = self.lock();
                let number = state.requests.get(&id).copied();
                if let Some(outlet) = number.and_then(|number| state.outlets.get_mut(&number)) {
                    outlet.cut = true;
                    outlet.wake();
                }
            }
            Outgoing::Abort(Stream::Standing) | Outgoing::Open(_) => {}
            Outgoing::Close => self.close(),
        }
    }

    fn send(&self, frame: Frame, stream: &Stream, faults: Faults) {
        let mut state = self.lock();
        if let Some(recorder) = &state.recorder {
            faults.applied_to(&frame).iter().for_each(|frame| recorder.sent(frame));
        }
        let number = match stream {
            Stream::Standing => Some(STANDING),
            Stream::Request(id) => state.requests.get(id).copied(),
        };
        let last = matches!(frame.kind(), FrameKind::Result | FrameKind::Error | FrameKind::Batch);
        if self.kind == LinkKind::Shared && last {
            match frame.kind() {
                FrameKind::Batch => {
                    for answer in frame.batch() {
                        state.answered(&answer);
                    }
                }
                _ => state.answered(&frame),
            }
        }
        // A request that was cancelled or given up has no stream any more.
        let Some(number) = number else { return };
        let Some(outlet) = state.outlets.get_mut(&number) else { return };
        let before = outlet.backlog();
        if last && number != STANDING {
            outlet.done = true;
        }
        // What was left before its first event has no place to come back to.
        if number == STANDING || outlet.begun || outlet.is_read() {
            outlet.push(frame, self.limits.replay);
            outlet.fail_with(faults);
        }
        let now = outlet.backlog();
        if last && number != STANDING {
            state.settle(number, self.limits.replay);
        }
        drop(state);
        self.count(before, now);
    }

    /// How much readers have not been given yet.
    pub(super) fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }

    /// Counts what a change of one stream means for all of them.
    pub(super) fn count(&self, before: usize, now: usize) {
        if now >= before {
            self.backlog.fetch_add(now - before, Ordering::Relaxed);
        } else {
            self.backlog.fetch_sub(before - now, Ordering::Relaxed);
            self.waits_for_room.wake();
        }
    }

    /// Wakes the peer when readers have been given something, if they have too
    /// little by now.
    pub(super) fn wait_for_room(&self, cx: &Context<'_>) {
        if self.backlog() >= FULL {
            self.waits_for_room.register(cx.waker());
        }
    }

    /// The next thing for the peer.
    pub(super) fn poll_take(&self, cx: &mut Context<'_>) -> Poll<Incoming> {
        let mut state = self.lock();
        if state.closed {
            return Poll::Ready(Incoming::Closed(Cause::EndOfInput));
        }
        if let Some(incoming) = state.inbox.pop_front() {
            state.inbox_bytes -= size_of(&incoming);
            if let (Some(recorder), Incoming::Frame { frame, .. } | Incoming::Noise { frame, .. }) =
                (&state.recorder, &incoming)
            {
                recorder.received(frame);
            }
            return Poll::Ready(incoming);
        }
        match &mut state.peer {
            Some(known) if known.will_wake(cx.waker()) => {}
            known => *known = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Since when the session is unused; none while somebody reads. A request
    /// whose client does not come back for the answer is no use of it.
    pub(super) fn unused_since(&self) -> Option<Instant> {
        let state = self.lock();
        let read = state.outlets.values().any(Outlet::is_read);
        (!read).then_some(state.used)
    }
}

impl State {
    fn take_in(&mut self, incoming: Incoming) -> Result<(), Full> {
        if self.closed {
            return Err(Full::Ended);
        }
        if self.inbox.len() >= INBOX || self.inbox_bytes >= INBOX_BYTES {
            return Err(Full::Busy);
        }
        self.used = Instant::now();
        self.inbox_bytes += size_of(&incoming);
        self.inbox.push_back(incoming);
        if let Some(peer) = self.peer.take() {
            peer.wake();
        }
        Ok(())
    }

    /// A request over the one stream of HTTP+SSE has got its answer.
    fn answered(&mut self, answer: &Frame) {
        if let Some(id) = answer.id() {
            self.requests.remove(id);
        }
    }

    /// A request that the client cancels gets no answer, so its stream ends.
    fn end_cancelled(&mut self, frame: &Frame) {
        if frame.kind() == FrameKind::Batch {
            return frame.batch().for_each(|frame| self.end_cancelled(&frame));
        }
        if frame.method() != Some("notifications/cancelled") {
            return;
        }
        let id = frame.params().and_then(|params| params.get("requestId")).and_then(Id::read);
        let Some(id) = id else { return };
        let Some(number) = self.requests.get(&id).copied() else { return };
        if number == STANDING {
            self.requests.remove(&id);
            return;
        }
        let Some(outlet) = self.outlets.get_mut(&number) else { return };
        // The others of a batch are still answered on it, by whichever was its first.
        outlet.cancelled.insert(id);
        if outlet.cancelled.len() == outlet.requests.len() {
            outlet.done = true;
            outlet.wake();
            self.settle(number, usize::MAX);
        }
    }

    /// A stream has ended: its requests are answered. It is kept for a client
    /// that comes back, where one can.
    pub(super) fn settle(&mut self, number: u64, limit: usize) {
        let Some(outlet) = self.outlets.get_mut(&number) else { return };
        for id in std::mem::take(&mut outlet.requests) {
            self.requests.remove(&id);
        }
        if !outlet.begun {
            // Nobody knows where it is but who reads it now.
            if !outlet.is_read() {
                self.outlets.remove(&number);
            }
            return;
        }
        self.ended.push_back(number);
        let kept = |number: &u64| self.outlets.get(number).map_or(0, Outlet::bytes);
        let mut bytes: usize = self.ended.iter().map(kept).sum();
        while self.ended.len() > ENDED || (bytes > limit && self.ended.len() > 1) {
            let Some(oldest) = self.ended.pop_front() else { return };
            // One that is still being read stays until that is done.
            if self.outlets.get(&oldest).is_some_and(|outlet| !outlet.is_read()) {
                bytes -= self.outlets.remove(&oldest).map_or(0, |outlet| outlet.bytes());
            } else {
                self.ended.push_back(oldest);
                return;
            }
        }
    }

    /// Whether what stands open is to end.
    pub(super) fn is_over(&self, kind: LinkKind) -> bool {
        let served = kind == LinkKind::Streams || self.requests.is_empty();
        self.closed || self.draining && served && self.inbox.is_empty()
    }

    /// A reader has gone: what was never told to be a stream goes with it. A
    /// request goes on all the same (2025-11-25,
    /// basic/transports#sending-messages-to-the-server).
    pub(super) fn leave(&mut self, number: u64) {
        let Some(outlet) = self.outlets.get(&number) else { return };
        if number == STANDING || outlet.begun {
            return;
        }
        if outlet.done {
            self.outlets.remove(&number);
        }
    }
}

fn size_of(incoming: &Incoming) -> usize {
    match incoming {
        Incoming::Frame { frame, .. } | Incoming::Noise { frame, .. } => frame.bytes().len(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use std::task::Wake;

    use super::*;

    fn asking(hub: &Arc<Hub>) -> (Reader, Stream) {
        let (id, asked) = (Id::from(1), r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#);
        let stream = Stream::Request(id.clone());
        let incoming = Incoming::on(stream.clone(), Frame::parse(asked), None);
        (hub.request(vec![id], incoming).expect("room for one"), stream)
    }

    fn streams() -> Arc<Hub> {
        Hub::new(LinkKind::Streams, Limits { replay: 1_000, idle: Duration::MAX })
    }

    fn answer() -> Frame {
        Frame::parse(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    }

    #[test]
    fn nothing_is_kept_for_a_stream_that_nobody_can_come_back_to() {
        let hub = streams();
        let (reader, stream) = asking(&hub);
        drop(reader);
        let said = Frame::parse(r#"{"jsonrpc":"2.0","method":"notifications/said"}"#);
        hub.route(Outgoing::on(stream.clone(), said));
        assert_eq!(hub.lock().outlets.get(&1).map(Outlet::bytes), Some(0));
        hub.route(Outgoing::on(stream, answer()));
        let state = hub.lock();
        assert!(state.requests.is_empty() && !state.outlets.contains_key(&1));
    }

    #[test]
    fn an_answer_that_comes_as_its_stream_begins_is_not_kept_for_ever() {
        let hub = streams();
        let (mut reader, stream) = asking(&hub);
        hub.route(Outgoing::on(stream, answer()));
        reader.begin();
        assert_eq!(hub.lock().ended, [1]);
    }

    #[test]
    fn the_peer_is_woken_when_what_was_too_much_is_read() {
        struct Count(AtomicUsize);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let woken = Arc::new(Count(AtomicUsize::new(0)));
        let hub = streams();
        let (mut reader, stream) = asking(&hub);
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{}"}}}}"#, "x".repeat(FULL));
        hub.route(Outgoing::on(stream, Frame::parse(text)));
        hub.wait_for_room(&Context::from_waker(&Waker::from(Arc::clone(&woken))));
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        assert!(reader.poll_first(&mut Context::from_waker(Waker::noop())).is_ready());
        assert_eq!((woken.0.load(Ordering::Relaxed), hub.backlog()), (1, 0));
    }

    #[test]
    fn a_session_is_unused_since_its_last_reader_left() {
        let hub = streams();
        let (reader, stream) = asking(&hub);
        assert_eq!(hub.unused_since(), None);
        let left = Instant::now();
        drop(reader);
        assert!(hub.unused_since().is_some_and(|since| since >= left), "the handler may hang");
        hub.route(Outgoing::on(stream, answer()));

        let (mut reader, stream) = asking(&hub);
        hub.route(Outgoing::on(stream, answer()));
        let answered = Instant::now();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(reader.poll_first(&mut cx).is_ready());
        assert!(hub.unused_since().is_some_and(|since| since >= answered));
    }

    #[test]
    fn what_waits_for_the_peer_is_bounded_in_bytes_and_goes_with_the_session() {
        let hub =
            Hub::new(LinkKind::Shared, Limits { replay: 1_000, idle: Duration::from_secs(1) });
        let text = format!("{{\"method\":\"x\",\"params\":[\"{}\"]}}", "x".repeat(1024 * 1024));
        let large = Frame::parse(text);
        let post = || hub.post(Incoming::on_shared_channel(large.clone()));
        let taken = (0..100).take_while(|_| post().is_ok()).count();
        assert_eq!((taken, post()), (16, Err(Full::Busy)));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(hub.poll_take(&mut cx).is_ready());
        assert_eq!(post(), Ok(()));
        hub.close();
        assert!(hub.lock().inbox.is_empty());
        assert_eq!(post(), Err(Full::Ended));
    }
}
