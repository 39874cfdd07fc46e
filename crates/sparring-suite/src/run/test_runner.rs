//! Runs one test: its setup, its steps until one fails, and its teardown in any case.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, timeout};

use super::server_handle::ServerHandle;
use super::server_runner::TestedServer;
use super::snapshot_store::TestSnapshots;
use super::step_runner::StepRunner;
use super::stop::Stop;
use crate::event::{
    FailedTry, Failure, LateFindings, Note, Outcome, TestEnd, Timing, Traffic, Transcript,
    TranscriptEntry,
};
use crate::model::Test;

/// Runs a test.
pub(super) struct TestRunner<'a> {
    pub(super) test: &'a Test,
    /// The test's position in the plan.
    pub(super) number: usize,
    pub(super) tested: TestedServer<'a>,
    pub(super) server: &'a ServerHandle,
    pub(super) snapshots: TestSnapshots<'a>,
    pub(super) stop: &'a Stop,
}

/// Observations of all tries of a test.
#[derive(Default)]
struct Seen {
    /// The beginning of the first try, after the start of the server.
    start: Option<Timestamp>,
    took: Duration,
    timings: Vec<Timing>,
    notes: Vec<Note>,
    transcript: Vec<TranscriptEntry>,
}

impl<'a> TestRunner<'a> {
    /// Runs the test up to `tries` times until it passes. Returns `None` if the run
    /// stopped first. The duration does not include the start of the server.
    pub(super) async fn run(&self, tries: u64) -> Option<TestEnd> {
        let (mut earlier, mut seen) = (Vec::new(), Seen::default());
        let outcome = loop {
            match self.attempt(&mut seen).await? {
                Outcome::Failed(failed) if (earlier.len() as u64) + 1 < tries => {
                    earlier.push(*failed);
                }
                outcome => break outcome,
            }
        };
        let Seen { took, timings, notes, transcript, .. } = seen;
        let traffic = Traffic::default();
        let transcript = Transcript::new(transcript, Transcript::MAX_ENTRIES);
        Some(TestEnd { outcome, took, earlier, notes, timings, traffic, transcript })
    }

    async fn attempt(&self, seen: &mut Seen) -> Option<Outcome> {
        let mut late = LateFindings::default();
        if self.test.isolate {
            late = self.server.stop().await;
        }
        self.server.reset_mocks();
        let ready = tokio::select! {
            biased;
            () = self.stop.requested() => return None,
            ready = self.server.acquire() => ready,
        };
        let begun = Instant::now();
        if let Some(recorder) = self.tested.recorder.filter(|_| seen.start.is_none()) {
            recorder.restart_clock(self.number);
        }
        let start = *seen.start.get_or_insert_with(Timestamp::now);
        let outcome = match ready {
            Err(failed) => Outcome::Failed(Box::new(failed)),
            Ok(ready) => {
                let mut steps = StepRunner::new(self.tested, ready, Some(self.server.clone()));
                match steps.begin_test(self.test, start) {
                    Err(failed) => Outcome::Failed(Box::new(failed)),
                    Ok(()) => {
                        let outcome = self.run_with_teardown(&mut steps).await;
                        seen.timings.append(&mut steps.timings);
                        // A retry has the same notes.
                        seen.notes = std::mem::take(&mut steps.notes);
                        seen.transcript.extend_from_slice(steps.transcript());
                        outcome?
                    }
                }
            }
        };
        seen.took += begun.elapsed();
        if self.test.isolate {
            late.extend(self.server.stop().await);
        }
        seen.notes.append(&mut late.notes);
        Some(outcome.and(late.failed))
    }

    /// Runs setup, steps and teardown. The teardown has the same timeout as setup and
    /// steps together; less if the run stops.
    async fn run_with_teardown(&self, steps: &mut StepRunner<'a>) -> Option<Outcome> {
        let limit = self.test.timeout.unwrap_or(Duration::MAX);
        let setup_and_steps = async {
            let set_up = steps.run_until_failure(&self.test.setup, None).await;
            set_up.map_err(|failed| failed.during("the setup"))?;
            steps.run_until_failure(&self.test.steps, Some(self.snapshots)).await
        };
        let outcome = tokio::select! {
            biased;
            () = self.stop.requested() => None,
            done = timeout(limit, setup_and_steps) => Some(done),
        };
        let outcome = match outcome {
            None => None,
            Some(Ok(Ok(()))) => {
                let passed = Outcome::Passed.and(self.unreported_end().await);
                let unused = steps.unused_turns(self.test);
                Some(passed.and(unused.map(|failed| steps.with_transcript(failed))))
            }
            Some(Ok(Err(failed))) => Some(Outcome::Failed(Box::new(failed))),
            Some(Err(_)) => {
                steps.record_timeout();
                let mut failed = self.timed_out("the test", limit);
                // A misfit is the likely cause, so it comes first.
                failed.failures.splice(0..0, steps.unreported_misfits(self.test.span));
                Some(Outcome::Failed(Box::new(steps.with_transcript(failed))))
            }
        };
        let failed = !matches!(outcome, Some(Outcome::Passed));
        let later = match self.stop.finish(timeout(limit, self.tear_down(steps, failed))).await {
            Some(Ok(failed)) => failed,
            Some(Err(_)) => {
                steps.record_timeout();
                Some(self.timed_out("the teardown of the test", limit))
            }
            None => None,
        };
        outcome.map(|outcome| outcome.and(later))
    }

    async fn tear_down(&self, steps: &mut StepRunner<'a>, failed: bool) -> Option<FailedTry> {
        // The teardown needs a server, so one that has ended is started again.
        if !self.test.teardown.is_empty()
            && !steps.is_connected()
            && let Ok(ready) = self.server.acquire().await
            && let Some(connection) = ready.connection
        {
            steps.continue_on(connection);
        }
        let torn_down = steps.run_all(&self.test.teardown, failed).await;
        steps.close_subscriptions().await;
        torn_down.map(|failed| failed.during("the teardown"))
    }

    /// A failure if the server has ended and no step reported it.
    async fn unreported_end(&self) -> Option<FailedTry> {
        let cause = self.server.take_unreported_end().await?;
        let message = format!("the server ended after the last step: {cause}");
        Some(FailedTry::new(Failure::new(self.test.span, message)))
    }

    fn timed_out(&self, what: &str, limit: Duration) -> FailedTry {
        let message = format!("{what} took longer than {limit:?}");
        FailedTry::new(Failure::new(self.test.span, message))
    }
}
