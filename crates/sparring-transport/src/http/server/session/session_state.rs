//! One session: queues frames from HTTP requests for the peer, and sorts the peer's frames into
//! streams.
//!
//! The session has one lock, held only while a frame is added or removed, never across a wait.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use futures_util::task::AtomicWaker;
use sparring_peer::link::{
    BACKLOG_LIMIT, Cause, Faults, Incoming, LinkKind, Outgoing, Recorder, Stream,
};
use sparring_wire::{Frame, FrameKind, Id};
use tokio::time::Instant;

use super::reader::Reader;
use super::stream_buffer::StreamBuffer;

const STANDING: u64 = Session::STANDING;

/// The maximum number of frames, and of bytes, that wait for the peer. More are refused.
const MAX_INBOX_FRAMES: usize = 1_000;
const MAX_INBOX_BYTES: usize = 16 * 1024 * 1024;

/// The maximum number of running requests. More are refused. Requests continue when their
/// client leaves, so the number of connections does not limit them.
const MAX_REQUESTS: usize = 1_000;

/// The maximum number of ended streams that are kept for resumption.
const MAX_ENDED_STREAMS: usize = 64;

/// The maximum number of bytes that a session keeps for resumption, and that all sessions of a
/// server keep. Beyond them, frames are kept only for readers.
const MAX_KEPT_BYTES: usize = 16 * 1024 * 1024;
const MAX_TOTAL_KEPT_BYTES: usize = 256 * 1024 * 1024;

/// The limits of a session.
#[derive(Debug, Clone)]
pub(in crate::http::server) struct Limits {
    /// The maximum number of bytes that each stream keeps.
    pub(in crate::http::server) replay: usize,
    /// The maximum idle time of the session.
    pub(in crate::http::server) idle: Duration,
    /// The bytes that all sessions of the server keep.
    pub(in crate::http::server) kept_bytes: Arc<AtomicUsize>,
}

/// The reason why a frame is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http::server) enum PostError {
    /// The session has ended.
    Ended,
    /// Too many frames or requests are waiting.
    Busy,
    /// A request with this id is running.
    IdInUse,
}

/// The reason why a stream cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::http::server) enum ResumeError {
    /// The stream does not exist, or not any more.
    UnknownStream,
    /// Some of the following frames are not kept any more.
    FramesDropped,
}

/// One session.
#[derive(Debug)]
pub(in crate::http::server) struct Session {
    kind: LinkKind,
    pub(super) limits: Limits,
    /// The bytes that readers have not received yet.
    backlog: AtomicUsize,
    /// Wakes the peer when the backlog shrinks.
    room_waker: AtomicWaker,
    state: Mutex<SessionState>,
}

/// The state behind the lock.
#[derive(Debug)]
pub(super) struct SessionState {
    inbox: VecDeque<Incoming>,
    /// The approximate size of the inbox.
    inbox_bytes: usize,
    peer: Option<Waker>,
    pub(super) streams: HashMap<u64, StreamBuffer>,
    requests: HashMap<Id, u64>,
    /// Ended streams that are kept, the oldest first.
    ended: VecDeque<u64>,
    /// The bytes that the streams keep.
    kept: KeptBytes,
    next: u64,
    /// True if the session has ended, or its standing stream is to end.
    pub(super) closed: bool,
    shutting_down: bool,
    pub(super) last_used: Instant,
    recorder: Option<Recorder>,
}

impl Session {
    /// The number of the standing stream.
    pub(in crate::http::server) const STANDING: u64 = 0;

    pub(in crate::http::server) fn new(kind: LinkKind, limits: Limits) -> Arc<Self> {
        let state = SessionState {
            inbox: VecDeque::new(),
            inbox_bytes: 0,
            peer: None,
            streams: HashMap::from_iter([(STANDING, StreamBuffer::default())]),
            requests: HashMap::new(),
            ended: VecDeque::new(),
            kept: KeptBytes { all: Arc::clone(&limits.kept_bytes), own: 0 },
            next: STANDING,
            closed: false,
            shutting_down: false,
            last_used: Instant::now(),
            recorder: None,
        };
        let state = Mutex::new(state);
        let (backlog, room_waker) = Default::default();
        Arc::new(Session { kind, limits, backlog, room_waker, state })
    }

    pub(super) fn kind(&self) -> LinkKind {
        self.kind
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, SessionState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a frame without an answer.
    pub(in crate::http::server) fn post(&self, incoming: Incoming) -> Result<(), PostError> {
        let mut state = self.lock();
        let Incoming::Frame { frame, .. } = &incoming else { return state.push_incoming(incoming) };
        let frame = frame.clone();
        let asks = self.kind == LinkKind::Shared && frame.kind() == FrameKind::Request;
        if asks && state.requests.len() >= MAX_REQUESTS {
            return Err(PostError::Busy);
        }
        state.push_incoming(incoming)?;
        state.end_cancelled(&frame);
        if asks {
            state.requests.extend(frame.id().map(|id| (id.clone(), STANDING)));
        }
        Ok(())
    }

    /// Queues requests and returns a reader of the stream that answers them.
    pub(in crate::http::server) fn request(
        self: &Arc<Self>,
        ids: Vec<Id>,
        incoming: Incoming,
    ) -> Result<Reader, PostError> {
        let mut state = self.lock();
        if ids.iter().any(|id| state.requests.contains_key(id)) {
            return Err(PostError::IdInUse);
        }
        if state.requests.len() + ids.len() > MAX_REQUESTS {
            return Err(PostError::Busy);
        }
        state.push_incoming(incoming)?;
        state.next += 1;
        let number = state.next;
        state.requests.extend(ids.iter().map(|id| (id.clone(), number)));
        let mut buffer = StreamBuffer::for_requests(ids);
        let reader = buffer.attach(None);
        state.streams.insert(number, buffer);
        Ok(Reader::new(Arc::clone(self), number, reader))
    }

    /// Ends the streams of the requests that these frames cancel.
    pub(in crate::http::server) fn end_cancelled(&self, frames: &[Frame]) {
        let mut state = self.lock();
        frames.iter().for_each(|frame| state.end_cancelled(frame));
    }

    /// Returns a reader of a stream, which replaces the previous one and starts after frame
    /// `after`.
    pub(in crate::http::server) fn read(
        self: &Arc<Self>,
        number: u64,
        after: Option<u64>,
    ) -> Result<Reader, ResumeError> {
        let mut state = self.lock();
        state.last_used = Instant::now();
        let buffer = state.streams.get_mut(&number).ok_or(ResumeError::UnknownStream)?;
        if after.is_some_and(|after| !buffer.has_all_after(after)) {
            return Err(ResumeError::FramesDropped);
        }
        let known = std::mem::replace(&mut buffer.started, true);
        let before = buffer.backlog();
        let reader = buffer.attach(after);
        let now = buffer.backlog();
        if buffer.done && !known {
            state.end_stream(number, self.limits.replay);
        }
        drop(state);
        self.update_backlog(before, now);
        Ok(Reader::new(Arc::clone(self), number, reader))
    }

    /// Returns true if a request is running.
    pub(super) fn is_serving(&self) -> bool {
        !self.lock().requests.is_empty()
    }

    /// Ends the standing stream as soon as possible.
    pub(in crate::http::server) fn begin_shutdown(&self) {
        let mut state = self.lock();
        state.shutting_down = true;
        if let Some(standing) = state.streams.get_mut(&STANDING) {
            standing.wake();
        }
    }

    /// Ends the session; readers receive the remaining frames.
    pub(in crate::http::server) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        // Freed now, since readers may keep the rest alive for a while.
        state.inbox = VecDeque::new();
        state.inbox_bytes = 0;
        for buffer in state.streams.values_mut() {
            buffer.wake();
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

    /// Adds the peer's frame to its stream.
    pub(super) fn route(&self, outgoing: Outgoing) {
        match outgoing {
            Outgoing::Send { frame, stream, faults, .. } => self.send(frame, &stream, faults),
            Outgoing::Abort(Stream::Request(id)) => {
                let mut state = self.lock();
                let number = state.requests.get(&id).copied();
                if let Some(buffer) = number.and_then(|number| state.streams.get_mut(&number)) {
                    buffer.cut = true;
                    buffer.wake();
                }
            }
            Outgoing::Abort(Stream::Connection)
            | Outgoing::Open(_)
            | Outgoing::EraDetected(_)
            | Outgoing::Restart => {}
            Outgoing::Close => self.close(),
        }
    }

    fn send(&self, frame: Frame, stream: &Stream, faults: Faults) {
        let mut state = self.lock();
        if let Some(recorder) = &state.recorder {
            faults.apply(&frame).iter().for_each(|frame| recorder.record_sent(frame));
        }
        let number = match stream {
            Stream::Connection => Some(STANDING),
            Stream::Request(id) => state.requests.get(id).copied(),
        };
        let last = matches!(frame.kind(), FrameKind::Result | FrameKind::Error | FrameKind::Batch);
        if self.kind == LinkKind::Shared && last {
            match frame.kind() {
                FrameKind::Batch => {
                    for answer in frame.batch_items() {
                        state.forget_answered(&answer);
                    }
                }
                _ => state.forget_answered(&frame),
            }
        }
        // A cancelled or abandoned request has no stream any more.
        let Some(number) = number else { return };
        let limit = state.kept.limit(self.limits.replay);
        let Some(buffer) = state.streams.get_mut(&number) else { return };
        let before = buffer.backlog();
        if last && number != STANDING {
            buffer.done = true;
        }
        // A stream that was left before its first event cannot be resumed.
        if number == STANDING || buffer.started || buffer.is_read() {
            buffer.push(frame, limit);
            buffer.add_faults(faults);
        }
        let now = buffer.backlog();
        if last && number != STANDING {
            state.end_stream(number, self.limits.replay);
        }
        state.count_kept();
        drop(state);
        self.update_backlog(before, now);
    }

    /// Returns the number of bytes that readers have not received yet.
    pub(super) fn backlog(&self) -> usize {
        self.backlog.load(Ordering::Relaxed)
    }

    /// Adds a change of one stream to the total.
    pub(super) fn update_backlog(&self, before: usize, now: usize) {
        if now >= before {
            self.backlog.fetch_add(now - before, Ordering::Relaxed);
        } else {
            self.backlog.fetch_sub(before - now, Ordering::Relaxed);
            self.room_waker.wake();
        }
    }

    /// Registers the peer's waker while the backlog is full.
    pub(super) fn wait_for_room(&self, cx: &Context<'_>) {
        if self.backlog() >= BACKLOG_LIMIT {
            self.room_waker.register(cx.waker());
        }
    }

    /// Returns the next frame for the peer.
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
                recorder.record_received(frame);
            }
            return Poll::Ready(incoming);
        }
        match &mut state.peer {
            Some(known) if known.will_wake(cx.waker()) => {}
            known => *known = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    /// Returns the order in which sessions without a running request give way to new ones:
    /// those without a reader first, then those that were unused for the longest time.
    pub(super) fn idle(&self) -> Option<(bool, Instant)> {
        let state = self.lock();
        let read = state.streams.values().any(StreamBuffer::is_read);
        state.requests.is_empty().then_some((read, state.last_used))
    }

    /// Returns the time since when the session is unused; `None` while it is read. A running
    /// request whose client has gone does not count.
    pub(super) fn unused_since(&self) -> Option<Instant> {
        let state = self.lock();
        let read = state.streams.values().any(StreamBuffer::is_read);
        (!read).then_some(state.last_used)
    }
}

/// The bytes that one session keeps, as a part of those of all sessions.
#[derive(Debug)]
struct KeptBytes {
    all: Arc<AtomicUsize>,
    own: usize,
}

impl KeptBytes {
    fn set(&mut self, own: usize) {
        let before = std::mem::replace(&mut self.own, own);
        match own.checked_sub(before) {
            Some(more) => self.all.fetch_add(more, Ordering::Relaxed),
            None => self.all.fetch_sub(before - own, Ordering::Relaxed),
        };
    }

    /// Returns the limit of one stream: its own, or nothing while too much is kept.
    fn limit(&self, limit: usize) -> usize {
        let full =
            self.own > MAX_KEPT_BYTES || self.all.load(Ordering::Relaxed) > MAX_TOTAL_KEPT_BYTES;
        if full { 0 } else { limit }
    }
}

impl Drop for KeptBytes {
    fn drop(&mut self) {
        self.set(0);
    }
}

impl SessionState {
    /// Updates the number of kept bytes.
    pub(super) fn count_kept(&mut self) {
        self.kept.set(self.streams.values().map(StreamBuffer::bytes).sum());
    }

    fn push_incoming(&mut self, incoming: Incoming) -> Result<(), PostError> {
        if self.closed {
            return Err(PostError::Ended);
        }
        if self.inbox.len() >= MAX_INBOX_FRAMES || self.inbox_bytes >= MAX_INBOX_BYTES {
            return Err(PostError::Busy);
        }
        self.last_used = Instant::now();
        self.inbox_bytes += size_of(&incoming);
        self.inbox.push_back(incoming);
        if let Some(peer) = self.peer.take() {
            peer.wake();
        }
        Ok(())
    }

    /// Forgets a request over HTTP+SSE that was answered.
    fn forget_answered(&mut self, answer: &Frame) {
        if let Some(id) = answer.id() {
            self.requests.remove(id);
        }
    }

    /// Ends the stream of a request that the client cancels, since it gets no answer.
    fn end_cancelled(&mut self, frame: &Frame) {
        if frame.kind() == FrameKind::Batch {
            return frame.batch_items().for_each(|frame| self.end_cancelled(&frame));
        }
        if frame.method() != Some("notifications/cancelled") {
            return;
        }
        let id = frame.params().and_then(|params| params.get("requestId")).and_then(Id::from_json);
        let Some(id) = id else { return };
        let Some(number) = self.requests.get(&id).copied() else { return };
        if number == STANDING {
            self.requests.remove(&id);
            return;
        }
        let Some(buffer) = self.streams.get_mut(&number) else { return };
        // The other requests of a batch are still answered on the same stream.
        buffer.cancelled.insert(id);
        if buffer.cancelled.len() == buffer.requests.len() {
            buffer.done = true;
            buffer.wake();
            self.end_stream(number, usize::MAX);
        }
    }

    /// Ends a stream whose requests are answered. Keeps it for resumption, if possible.
    pub(super) fn end_stream(&mut self, number: u64, limit: usize) {
        let Some(buffer) = self.streams.get_mut(&number) else { return };
        for id in std::mem::take(&mut buffer.requests) {
            self.requests.remove(&id);
        }
        if !buffer.started {
            // Only the current reader knows the stream.
            if !buffer.is_read() {
                self.streams.remove(&number);
            }
            return;
        }
        self.ended.push_back(number);
        let size = |number: &u64| self.streams.get(number).map_or(0, StreamBuffer::bytes);
        let mut bytes: usize = self.ended.iter().map(size).sum();
        while self.ended.len() > MAX_ENDED_STREAMS || (bytes > limit && self.ended.len() > 1) {
            let Some(oldest) = self.ended.pop_front() else { return };
            // A stream that is being read is kept until then.
            if self.streams.get(&oldest).is_some_and(|buffer| !buffer.is_read()) {
                bytes -= self.streams.remove(&oldest).map_or(0, |buffer| buffer.bytes());
            } else {
                self.ended.push_back(oldest);
                return;
            }
        }
    }

    /// Returns true if the standing stream is to end.
    pub(super) fn is_over(&self, kind: LinkKind) -> bool {
        let served = kind == LinkKind::Streams || self.requests.is_empty();
        self.closed || self.shutting_down && served && self.inbox.is_empty()
    }

    /// Removes a stream that never sent events, after its reader has gone. A request continues
    /// without its reader (2025-11-25, basic/transports#sending-messages-to-the-server).
    pub(super) fn remove_unstarted(&mut self, number: u64) {
        let Some(buffer) = self.streams.get(&number) else { return };
        if number == STANDING || buffer.started {
            return;
        }
        if buffer.done {
            self.streams.remove(&number);
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

    fn asking(session: &Arc<Session>) -> (Reader, Stream) {
        let (id, asked) = (Id::from(1), r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#);
        let stream = Stream::Request(id.clone());
        let incoming = Incoming::from_frame(stream.clone(), Frame::parse(asked), None);
        (session.request(vec![id], incoming).expect("room for one"), stream)
    }

    fn limits(idle: Duration) -> Limits {
        Limits { replay: 1_000, idle, kept_bytes: Arc::default() }
    }

    fn streams() -> Arc<Session> {
        Session::new(LinkKind::Streams, limits(Duration::MAX))
    }

    fn answer() -> Frame {
        Frame::parse(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
    }

    #[test]
    fn keeps_nothing_for_a_stream_that_cannot_be_resumed() {
        let session = streams();
        let (reader, stream) = asking(&session);
        drop(reader);
        let sent = Frame::parse(r#"{"jsonrpc":"2.0","method":"notifications/sent"}"#);
        session.route(Outgoing::send_on(stream.clone(), sent));
        assert_eq!(session.lock().streams.get(&1).map(StreamBuffer::bytes), Some(0));
        session.route(Outgoing::send_on(stream, answer()));
        let state = session.lock();
        assert!(state.requests.is_empty() && !state.streams.contains_key(&1));
    }

    #[test]
    fn an_answer_at_the_start_of_its_stream_is_not_kept_forever() {
        let session = streams();
        let (mut reader, stream) = asking(&session);
        session.route(Outgoing::send_on(stream, answer()));
        reader.start_events();
        assert_eq!(session.lock().ended, [1]);
    }

    #[test]
    fn wakes_the_peer_when_the_backlog_is_read() {
        struct Count(AtomicUsize);
        impl Wake for Count {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let woken = Arc::new(Count(AtomicUsize::new(0)));
        let session = streams();
        let (mut reader, stream) = asking(&session);
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{}"}}}}"#,
            "x".repeat(BACKLOG_LIMIT)
        );
        session.route(Outgoing::send_on(stream, Frame::parse(text)));
        session.wait_for_room(&Context::from_waker(&Waker::from(Arc::clone(&woken))));
        assert_eq!(woken.0.load(Ordering::Relaxed), 0);
        assert!(reader.poll_first(&mut Context::from_waker(Waker::noop())).is_ready());
        assert_eq!((woken.0.load(Ordering::Relaxed), session.backlog()), (1, 0));
    }

    #[test]
    fn a_large_frame_is_kept_only_for_a_reader() {
        let session = streams();
        let (mut reader, stream) = asking(&session);
        reader.start_events();
        let text =
            format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{}"}}}}"#, "x".repeat(5_000));
        session.route(Outgoing::send_on(stream, Frame::parse(text)));
        assert!(session.limits.kept_bytes.load(Ordering::Relaxed) > 5_000, "a reader waits for it");
        drop(reader);
        assert_eq!(session.limits.kept_bytes.load(Ordering::Relaxed), 0);
        assert!(matches!(session.read(1, Some(0)), Err(ResumeError::FramesDropped)));
    }

    #[test]
    fn keeps_nothing_for_resumption_beyond_the_total() {
        let kept_bytes = Arc::new(AtomicUsize::new(MAX_TOTAL_KEPT_BYTES + 1));
        let limits = Limits { kept_bytes, ..limits(Duration::MAX) };
        let session = Session::new(LinkKind::Streams, limits);
        let sent = Frame::parse(r#"{"jsonrpc":"2.0","method":"notifications/sent"}"#);
        session.route(Outgoing::send_on(Stream::Connection, sent));
        assert_eq!(session.lock().streams[&STANDING].bytes(), 0);
    }

    #[test]
    fn a_batch_counts_with_all_its_requests() {
        let session = streams();
        let ids = |count| (0..count).map(Id::from).collect::<Vec<_>>();
        let batch = || Incoming::from_shared_channel(Frame::parse("[]"));
        assert!(session.request(ids(MAX_REQUESTS as i64 + 1), batch()).is_err());
        let _reader = session.request(ids(MAX_REQUESTS as i64), batch()).expect("the limit");
        let one = session.request(vec![Id::from(-1)], batch());
        assert!(matches!(one, Err(PostError::Busy)));
    }

    #[test]
    fn a_session_is_unused_since_its_last_reader_left() {
        let session = streams();
        let (reader, stream) = asking(&session);
        assert_eq!(session.unused_since(), None);
        let left = Instant::now();
        drop(reader);
        assert!(session.unused_since().is_some_and(|since| since >= left), "the handler may hang");
        session.route(Outgoing::send_on(stream, answer()));

        let (mut reader, stream) = asking(&session);
        session.route(Outgoing::send_on(stream, answer()));
        let answered = Instant::now();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(reader.poll_first(&mut cx).is_ready());
        assert!(session.unused_since().is_some_and(|since| since >= answered));
    }

    #[test]
    fn limits_the_inbox_in_bytes_and_frees_it_with_the_session() {
        let session = Session::new(LinkKind::Shared, limits(Duration::from_secs(1)));
        let text = format!("{{\"method\":\"x\",\"params\":[\"{}\"]}}", "x".repeat(1024 * 1024));
        let large = Frame::parse(text);
        let post = || session.post(Incoming::from_shared_channel(large.clone()));
        let taken = (0..100).take_while(|_| post().is_ok()).count();
        assert_eq!((taken, post()), (16, Err(PostError::Busy)));
        let mut cx = Context::from_waker(Waker::noop());
        assert!(session.poll_take(&mut cx).is_ready());
        assert_eq!(post(), Ok(()));
        session.close();
        assert!(session.lock().inbox.is_empty());
        assert_eq!(post(), Err(PostError::Ended));
    }
}
