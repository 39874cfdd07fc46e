//! Runs what a plan chose: files beside each other, the servers of a file
//! beside each other, the tests of a server one after the other.

mod agent;
mod answer;
mod desk;
mod heard;
mod listen;
mod mock;
mod needs;
mod open;
mod scope;
mod seat;
mod settle;
mod stand_ins;
mod step;
mod stop;
mod test;
mod tools;
mod watch;
mod world;

use std::num::NonZeroUsize;
use std::time::{Duration, Instant};

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream;
use tokio::sync::mpsc::UnboundedSender;

use crate::event::{Event, Outcome};
use crate::model::{Suite, Variant};
use crate::plan::{Plan, Planned};
use seat::Seat;

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
    let runner = Runner { options, world, stop, tell };
    stream::iter(plan.by_suite())
        .for_each_concurrent(options.jobs.get(), |(suite, tests)| runner.suite(suite, tests))
        .await;
}

struct Runner<'a> {
    options: Options,
    world: &'a World,
    stop: &'a Stop,
    tell: UnboundedSender<Event>,
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
        let servers = seats.into_iter().map(|(server, variant, tests)| {
            self.server(Seat::new(suite, server, variant, self.world), tests)
        });
        join_all(servers).await;
    }

    /// The tests of one server, which is ended after the last.
    async fn server(&self, mut seat: Seat<'_>, tests: Vec<Planned<'_>>) {
        for planned in tests {
            if self.stop.is_asked() {
                break;
            }
            if let Some(reason) = &planned.test.skip {
                self.skip(&planned, reason);
                continue;
            }
            self.tell(Event::Started { test: planned.number });
            let begun = Instant::now();
            let outcome = tokio::select! {
                biased;
                () = self.stop.asked() => break,
                outcome = test::run(&mut seat, planned.test, self.world) => outcome,
            };
            let failed = matches!(outcome, Outcome::Failed(_));
            self.tell(Event::Finished { test: planned.number, outcome, took: begun.elapsed() });
            if failed && self.options.fail_fast {
                self.stop.ask();
            }
        }
        seat.leave().await;
    }

    fn skip(&self, planned: &Planned<'_>, reason: &str) {
        let outcome = Outcome::Skipped(reason.to_owned());
        self.tell(Event::Finished { test: planned.number, outcome, took: Duration::ZERO });
    }

    fn tell(&self, event: Event) {
        // Whoever does not want to know any more does not keep tests from running.
        let _ = self.tell.send(event);
    }
}
