//! Runs what a plan chose: files beside each other, the servers of a file
//! beside each other, the tests of a server one after the other, or as many at
//! once as it says.

mod agent;
mod answer;
mod ask;
mod desk;
mod heard;
mod listen;
mod mock;
mod needs;
mod open;
mod running;
mod scope;
mod seat;
mod settle;
mod shots;
mod stand_ins;
mod step;
mod stop;
mod tape;
mod test;
mod tools;
mod walk;
mod watch;
mod world;

use std::cell::Cell;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream;
use tokio::sync::Mutex;
use tokio::sync::mpsc::UnboundedSender;

use crate::event::{End, Event, Outcome};
use crate::model::{Suite, Variant};
use crate::plan::{Plan, Planned};
use seat::Seat;
use shots::Shots;
use tape::Tape;

pub(crate) use agent::{Found, Look, Ran};
pub(crate) use answer::Answer;
pub(crate) use heard::Heard;
pub(crate) use stand_ins::Came;
pub use stop::Stop;
pub use world::World;

/// How to run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many files run at once.
    pub jobs: NonZeroUsize,
    /// Whether the first failure ends the run.
    pub fail_fast: bool,
    /// How often a test that fails is tried again, where it does not say that
    /// itself.
    pub retry: u64,
    /// Whether the answers for snapshots are kept anew.
    pub update: bool,
    /// Whether all that is said in a test is told at its end.
    pub traffic: bool,
}

/// Runs all tests of a plan, and tells of each. When `stop` says so, tests that
/// run are given up, servers are ended, and nothing more is begun.
pub async fn run(
    plan: &Plan,
    options: Options,
    world: &World,
    stop: &Stop,
    tell: UnboundedSender<Event>,
) {
    let room = Arc::new(AtomicUsize::new(tape::OF_A_RUN));
    let runner = Runner { options, world, stop, tell, room };
    stream::iter(plan.by_suite())
        .for_each_concurrent(options.jobs.get(), |(suite, tests)| runner.suite(suite, tests))
        .await;
}

struct Runner<'a> {
    options: Options,
    world: &'a World,
    stop: &'a Stop,
    tell: UnboundedSender<Event>,
    /// How much may still be kept of what is said.
    room: Arc<AtomicUsize>,
}

impl Runner<'_> {
    async fn suite(&self, suite: &Suite, tests: Vec<Planned<'_>>) {
        if let Some(missing) = needs::missing(suite, self.world) {
            return tests.iter().for_each(|test| self.skip(test, &missing));
        }
        let mut seats: Vec<(usize, Variant, Vec<Planned<'_>>)> = Vec::new();
        for planned in tests {
            let (server, variant) = (planned.test.server, planned.variant);
            match seats.iter_mut().find(|seat| (seat.0, seat.1) == (server, variant)) {
                Some((_, _, tests)) => tests.push(planned),
                None => seats.push((server, variant, vec![planned])),
            }
        }
        let shots = Shots::of(suite, self.options.update);
        let servers = seats.into_iter().map(|(server, variant, tests)| {
            let seat = Seat::new(suite, server, variant, self.world, &shots, self.tape());
            self.server(seat, tests)
        });
        join_all(servers).await;
        if let Some(event) = shots.keep(suite) {
            self.tell(event);
        }
    }

    fn tape(&self) -> Option<Tape> {
        let tape = || Tape::new(self.world.secrets.clone(), Arc::clone(&self.room));
        self.options.traffic.then(tape)
    }

    /// The tests of one server, which is ended after the last.
    async fn server(&self, seat: Seat<'_>, tests: Vec<Planned<'_>>) {
        let at_once = seat.server.concurrency;
        let left = Cell::new(tests.iter().filter(|it| it.test.skip.is_none()).count());
        let tape = seat.tape.clone();
        let seat = Mutex::new(seat);
        let one = |planned| self.test(&seat, planned, &left, at_once, tape.as_ref());
        stream::iter(tests).for_each_concurrent(at_once, one).await;
        // Where the run ended early, nobody is left to be told.
        let _ = seat.lock().await.leave(self.stop).await;
    }

    /// One test; `left` is how many there are with those that are not over.
    async fn test(
        &self,
        seat: &Mutex<Seat<'_>>,
        planned: Planned<'_>,
        left: &Cell<usize>,
        at_once: usize,
        tape: Option<&Tape>,
    ) {
        if self.stop.is_asked() {
            return;
        }
        if let Some(reason) = &planned.test.skip {
            return self.skip(&planned, reason);
        }
        self.tell(Event::Started { test: planned.number });
        if let Some(tape) = tape {
            tape.begin(planned.number);
        }
        let tries = 1 + planned.test.retry.unwrap_or(self.options.retry);
        let end = test::run(seat, planned.test, tries, self.stop).await;
        left.set(left.get() - 1);
        let Some(mut end) = end else {
            tape.map(|tape| tape.end(planned.number));
            return;
        };
        let ends_all =
            |end: &End| self.options.fail_fast && matches!(end.outcome, Outcome::Failed(_));
        if left.get() == 0 || at_once == 1 && ends_all(&end) {
            // What the suite's teardown finds is told by the last test.
            end.outcome = end.outcome.and(seat.lock().await.leave(self.stop).await);
        }
        let ends_all = ends_all(&end);
        end.traffic = tape.map(|tape| tape.end(planned.number)).unwrap_or_default();
        self.finish(&planned, end);
        if ends_all {
            self.stop.ask();
        }
    }

    fn skip(&self, planned: &Planned<'_>, reason: &str) {
        self.finish(planned, End::skipped(reason.to_owned()));
    }

    fn finish(&self, planned: &Planned<'_>, end: End) {
        let end = end.without(&self.world.secrets);
        self.tell(Event::Finished { test: planned.number, end });
    }

    fn tell(&self, event: Event) {
        // Whoever does not want to know any more does not keep tests from running.
        let _ = self.tell.send(event);
    }
}
