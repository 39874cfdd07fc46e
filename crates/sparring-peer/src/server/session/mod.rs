//! A server's end of one connection: pumps the core, runs the handler, and can
//! do so message by message. Of which type the handler is, only [`Session`] knows.

mod handle;
mod jobs;
mod serving;
mod steps;
mod working;

use std::sync::Arc;
use std::task::Context as TaskContext;
use std::time::Duration;

use sparring_wire::{ErrorObject, RawJson, Side, Transcript};
use tokio::sync::{mpsc, oneshot};

use self::jobs::Jobs;
use super::Shared;
use super::context::{Origin, Said};
use super::core::Core;
use super::intake::Intake;
use super::interest::Interest;
use super::levels::Level;
use crate::link::{Cause, Incoming, Link, LinkKind, Outgoing, Recorder};
use crate::timer::Timer;

pub use self::handle::Session;

/// How many rounds one poll makes before others get their turn.
const ROUNDS: usize = 16;

/// How long a client may take to answer a question.
const ASK: Duration = Duration::from_secs(60);

type Outcome = Result<RawJson, ErrorObject>;

/// A server's end of one connection.
pub(in crate::server) struct Connection {
    shared: Arc<Shared>,
    core: Core<oneshot::Sender<Outcome>>,
    origin: Origin,
    /// Which of what the server has said of itself the core knows.
    renewal: u64,
    link: Option<Box<dyn Link>>,
    intake: Intake,
    /// Requests whose handler did not answer at once.
    jobs: Jobs,
    outbox: Arc<mpsc::UnboundedSender<Said>>,
    said: mpsc::UnboundedReceiver<Said>,
    /// What all sessions are told, once this one's client may want to know.
    changes: Option<mpsc::Receiver<Change>>,
    /// Which resources its client wants to hear of, once there are any.
    interest: Option<Interest>,
    /// The level of log messages that its client has set, once it has.
    level: Option<Level>,
    timer: Timer,
    ended: Option<Cause>,
    /// Whether the link had more to write when it was looked at last.
    writing: bool,
    /// Whether changes wait until the link has room.
    held_back: bool,
    /// Since the link is full: until when it may be, and how full it would be by
    /// now if nothing of it had been read.
    full: Option<(Duration, usize)>,
    /// When to stop waiting for what is in flight after the end of input.
    drained_by: Option<Duration>,
    ask_timeout: Duration,
}

/// Something that all sessions of a server may tell their clients.
#[derive(Debug, Clone)]
pub(in crate::server) struct Change {
    pub(in crate::server) method: String,
    pub(in crate::server) params: Option<RawJson>,
    /// Only told by who has declared this, where that matters.
    pub(in crate::server) declared: Option<&'static str>,
}

impl Connection {
    pub(in crate::server) fn new(shared: Arc<Shared>, link: Option<Box<dyn Link>>) -> Self {
        let kind = link.as_ref().map_or(LinkKind::Shared, |link| link.kind());
        let origin = Origin {
            transport: link.as_ref().map_or("memory", |link| link.transport()),
            session: Some(shared.sessions.number()),
        };
        Connection { link, origin, ..Connection::without_link(shared, kind) }
    }

    pub(in crate::server) fn without_link(shared: Arc<Shared>, kind: LinkKind) -> Self {
        let (about, renewal) = shared.about.now();
        let core = Core::counting(about, Arc::clone(&shared.counters), kind);
        let (outbox, said) = mpsc::unbounded_channel();
        Connection {
            shared,
            core,
            origin: Origin { transport: "memory", session: None },
            renewal,
            link: None,
            intake: Intake::default(),
            jobs: Jobs::default(),
            outbox: Arc::new(outbox),
            said,
            changes: None,
            interest: None,
            level: None,
            timer: Timer::start(),
            ended: None,
            writing: false,
            held_back: false,
            full: None,
            drained_by: None,
            ask_timeout: ASK,
        }
    }

    fn set_link(&mut self, link: Box<dyn Link>) {
        let ask_timeout = self.ask_timeout;
        *self = Connection::new(Arc::clone(&self.shared), Some(link));
        self.ask_timeout = ask_timeout;
    }

    pub(in crate::server) fn handshakes_only(&mut self) {
        self.core.speak_only(|revision| !revision.is_modern());
    }

    fn record_in(&mut self, transcript: &Transcript) {
        if let Some(link) = &mut self.link {
            link.record_to(Recorder::new(transcript, Side::Server));
        }
    }

    /// Says what the link is called that there is none of.
    pub(in crate::server) fn came_over(&mut self, transport: &'static str) {
        self.origin.transport = transport;
    }

    /// Takes over what the server says of itself by now.
    fn keep_up(&mut self) {
        if self.shared.about.is_newer_than(self.renewal) {
            let (about, renewal) = self.shared.about.now();
            self.core.renew(about);
            self.renewal = renewal;
        }
    }

    /// Takes one thing in, as if it had come off a link.
    pub(in crate::server) fn take_in(&mut self, incoming: Incoming) {
        self.core.receive(incoming);
    }

    /// Lets handlers go on; says whether anything happened.
    pub(in crate::server) fn go_on(&mut self, cx: &mut TaskContext<'_>) -> bool {
        self.timer.renew();
        self.work(cx)
    }

    pub(in crate::server) fn poll_action(&mut self) -> Option<Outgoing> {
        self.core.poll_action()
    }

    pub(in crate::server) fn is_over(&self) -> bool {
        self.core.is_over()
    }

    pub(in crate::server) fn has_admitted(&self) -> bool {
        self.core.admitted() > 0
    }

    pub(in crate::server) fn end_subscriptions(&mut self) {
        self.core.end_subscriptions();
    }
}
