//! A client's core driven by a test: the test supplies time and frames, and
//! inspects actions and events. No runtime, no clock.

use std::time::Duration;

use sparring_peer::client::core::{Core, Event, Request, UnclaimedReason};
use sparring_peer::client::{ClientOptions, Error, Protocol, Response};
use sparring_peer::{Incoming, LinkKind, Outgoing};
use sparring_wire::{Frame, Id, RawJson, Revision};

pub(crate) struct CoreFixture {
    pub(crate) core: Core<&'static str>,
    pub(crate) now: Duration,
}

pub(crate) const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

impl CoreFixture {
    pub(crate) fn new(protocol: Protocol) -> Self {
        Self::with(ClientOptions { protocol, ..ClientOptions::default() }, LinkKind::Shared)
    }

    pub(crate) fn with(options: ClientOptions, link: LinkKind) -> Self {
        let mut core = Core::new(options, link);
        core.start(Duration::ZERO);
        CoreFixture { core, now: Duration::ZERO }
    }

    /// A client that has completed a handshake on 2025-11-25.
    pub(crate) fn connected() -> Self {
        let mut fixture = CoreFixture::new(Protocol::Only(Revision::V2025_11_25));
        let id = fixture.sent_one().id().cloned().unwrap();
        fixture.receive(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
        ));
        assert!(matches!(fixture.event(), Some(Event::Connected(Ok(_)))));
        assert_eq!(fixture.sent_one().method(), Some("notifications/initialized"));
        fixture
    }

    /// A client that has discovered a server of 2026-07-28.
    pub(crate) fn discovered(link: LinkKind) -> Self {
        let options = ClientOptions {
            protocol: Protocol::Only(Revision::V2026_07_28),
            ..ClientOptions::default()
        };
        let mut fixture = CoreFixture::with(options, link);
        let id = fixture.sent_one().id().cloned().unwrap();
        fixture.receive(&discovery(&id, &["2026-07-28"]));
        assert!(matches!(fixture.event(), Some(Event::Connected(Ok(_)))));
        fixture
    }

    pub(crate) fn receive(&mut self, text: &str) {
        let frame = Frame::parse(text);
        self.core.receive(self.now, Incoming::from_shared_channel(frame));
    }

    pub(crate) fn receive_event(&mut self, incoming: Incoming) {
        self.core.receive(self.now, incoming);
    }

    /// Advances the time as a driver would: ticks the core at its deadlines.
    pub(crate) fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(at) = self.core.wake_at().filter(|at| *at <= until) {
            self.now = at.max(self.now);
            self.core.tick(self.now);
        }
        self.now = until;
    }

    pub(crate) fn request(&mut self, method: &'static str) -> Id {
        let id = self.core.request(self.now, Request::new(method, None), method);
        let sent = self.sent_one();
        assert_eq!((sent.method(), sent.id()), (Some(method), Some(&id)));
        id
    }

    pub(crate) fn request_with(&mut self, method: &'static str, params: &str) -> Frame {
        let params = RawJson::parse(params).unwrap();
        self.core.request(self.now, Request::new(method, Some(params)), method);
        self.sent_one()
    }

    pub(crate) fn event(&mut self) -> Option<Event<&'static str>> {
        self.core.poll_event()
    }

    pub(crate) fn sent(&mut self) -> Vec<Frame> {
        let actions = std::iter::from_fn(|| self.core.poll_action());
        actions
            .map(|action| match action {
                Outgoing::Send { frame, .. } => frame,
                other => panic!("expected a frame to be sent, found {other:?}"),
            })
            .collect()
    }

    /// Asserts that the core asks for a fresh process, and for nothing else.
    pub(crate) fn expect_restart(&mut self) {
        assert_eq!(self.core.poll_action(), Some(Outgoing::Restart));
        assert_eq!(self.core.poll_action(), None);
        assert!(self.connection().is_none());
    }

    pub(crate) fn sent_one(&mut self) -> Frame {
        let sent = self.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        sent.into_iter().next().unwrap()
    }

    /// Returns the outcome of the one completed request, skipping unclaimed
    /// frames and notifications.
    pub(crate) fn completed(&mut self) -> Option<Result<Response, Error>> {
        while let Some(event) = self.event() {
            if let Event::Completed { outcome, .. } = event {
                return Some(outcome);
            }
        }
        None
    }

    pub(crate) fn error(&mut self) -> Error {
        self.completed().expect("a completed request").expect_err("an error")
    }

    pub(crate) fn unclaimed(&mut self) -> Option<UnclaimedReason> {
        while let Some(event) = self.event() {
            if let Event::Unclaimed { reason, .. } = event {
                return Some(reason);
            }
        }
        None
    }

    pub(crate) fn connection(&mut self) -> Option<Result<Revision, Error>> {
        while let Some(event) = self.event() {
            if let Event::Connected(outcome) = event {
                return Some(outcome.map(|session| session.revision));
            }
        }
        None
    }
}

pub(crate) fn discovery(id: &Id, versions: &[&str]) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"complete","supportedVersions":{versions:?},"capabilities":{{}},"ttlMs":0,"cacheScope":"private"}}}}"#
    )
}
