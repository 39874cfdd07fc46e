//! Prints a run for a person: one line for each suite in the order of the plan, or one line
//! for each test with `--verbose`; then the skipped tests by reason, the failures, and a last
//! line with the counts and the time.

use std::ops::Range;
use std::path::Path;

use sparring_report::{Outcome, Run, Test, group_failures};
use sparring_suite::{Plan, SnapshotChanges, Suite};
use sparring_transport::Secrets;

use super::failed_test::FailureRenderer;
use super::progress::Progress;
use super::{exit, suite_line, timings, variant_differences};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::output::{Printer, line};

/// The amount of detail that the terminal shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// Nothing, since stdout belongs to a report. Notes are printed.
    Silent,
    /// A line for each suite.
    Suites,
    /// A line for each test.
    Tests,
}

/// Prints a run.
pub(crate) struct Terminal<'a> {
    plan: &'a Plan,
    printer: &'a Printer,
    secrets: &'a Secrets,
    detail: Detail,
    progress: Progress,
    /// The tests of each suite.
    suites: Vec<Range<usize>>,
    /// The first suite that is not printed completely yet.
    next_suite: usize,
    /// The first test that is not printed yet.
    next_test: usize,
    /// The reason why snapshots could not be written.
    snapshot_error: Option<String>,
    /// The error of stdout, after which nothing more is printed.
    output_error: Option<CommandError>,
}

impl<'a> Terminal<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        printer: &'a Printer,
        secrets: &'a Secrets,
        detail: Detail,
    ) -> Self {
        Terminal {
            plan,
            printer,
            secrets,
            detail,
            progress: Progress::new(),
            suites: suites(plan),
            next_suite: 0,
            next_test: 0,
            snapshot_error: None,
            output_error: None,
        }
    }

    /// Draws the progress line if stderr is a terminal.
    pub(crate) async fn tick(&mut self) {
        self.progress.draw(self.plan, self.printer).await;
    }

    /// Records that a test started.
    pub(crate) fn test_started(&mut self, test: usize) {
        self.progress.started(test);
    }

    /// Prints all suites or tests up to the first that is not over.
    pub(crate) async fn test_finished(&mut self, run: &Run, test: usize) {
        self.progress.ended(test, run.tests[test].outcome == Outcome::Failed);
        let is_over = |test: &Test| test.outcome != Outcome::NotRun;
        match self.detail {
            Detail::Silent => {}
            Detail::Suites => {
                while let Some(suite) = self.suites.get(self.next_suite)
                    && run.tests[suite.clone()].iter().all(is_over)
                {
                    self.print_suite(run).await;
                }
            }
            Detail::Tests => {
                while run.tests.get(self.next_test).is_some_and(is_over) {
                    self.print_test(run).await;
                }
            }
        }
    }

    /// Prints the number of changed snapshots, or keeps the error for the end.
    pub(crate) async fn snapshots_written(
        &mut self,
        file: &Path,
        changes: Result<SnapshotChanges, String>,
    ) {
        self.progress.erase(self.printer).await;
        match changes {
            Ok(SnapshotChanges { new, changed, removed }) => {
                let file = file.display();
                let note = format!("{file}: {new} new, {changed} changed, {removed} removed");
                self.printer.note(&note).await;
            }
            Err(error) => self.snapshot_error = Some(error),
        }
    }

    /// Prints the remaining tests, the failures and the last line.
    ///
    /// # Errors
    /// When stdout could not be written.
    pub(crate) async fn end(mut self, run: &Run, timings: bool) -> Result<Exit, CommandError> {
        self.progress.erase(self.printer).await;
        let paint = self.printer.paint();
        match self.detail {
            Detail::Silent => {}
            Detail::Suites => {
                while self.next_suite < self.suites.len() {
                    self.print_suite(run).await;
                }
                if !self.printer.is_quiet() {
                    self.print(&suite_line::render_skipped(run, paint)).await;
                }
            }
            Detail::Tests => {
                while self.next_test < run.tests.len() {
                    self.print_test(run).await;
                }
            }
        }
        let renderer = FailureRenderer::new(paint, self.printer.width());
        for group in group_failures(run) {
            let planned = self.plan.test(group.number);
            if let (Some(planned), Some(failed)) = (planned, group.first.failure()) {
                let text = renderer.render_group(planned, &group, failed);
                // The quoted line of the suite may contain a secret.
                let text = self.secrets.mask(&text).into_owned();
                self.print(&text).await;
            }
        }
        let differences = variant_differences::render_differences(self.plan, run, paint);
        self.print(&differences).await;
        if timings {
            let all = run.tests.iter().flat_map(|test| &test.timings);
            let text = timings::render_timings(all, paint);
            self.print(&text).await;
        }
        let gap = if self.printer.is_quiet() && run.summary.failed == 0 { "" } else { "\n" };
        let time = suite_line::render_time(run.took_ms);
        self.print(&format!("{gap}{} in {time}\n", run.summary)).await;
        if let Some(error) = self.snapshot_error {
            return Err(CommandError::File(error));
        }
        match self.output_error {
            Some(failure) => failure.ignore_broken_pipe().map(|()| exit(run.summary)),
            None => Ok(exit(run.summary)),
        }
    }

    /// Prints the line of the next suite.
    async fn print_suite(&mut self, run: &Run) {
        let suite = self.suites[self.next_suite].clone();
        self.next_suite += 1;
        if self.printer.is_quiet() {
            return;
        }
        let name = self.plan.test(suite.start).map(|planned| planned.suite.name());
        let paint = self.printer.paint();
        if let Some(line) =
            suite_line::render_suite(name.unwrap_or_default(), &run.tests[suite], paint)
        {
            self.print(&line).await;
        }
    }

    /// Prints the line of the next test, below the name of its suite.
    async fn print_test(&mut self, run: &Run) {
        let number = self.next_test;
        self.next_test += 1;
        let (paint, test) = (self.printer.paint(), &run.tests[number]);
        let planned = self.plan.test(number);
        let line = planned.and_then(|planned| suite_line::render_test(planned, test, paint));
        let (Some(planned), Some(line)) = (planned, line) else { return };
        let is_first = self.suites.iter().any(|suite| suite.start == number);
        if is_first {
            self.print(&format!("{}\n", paint.heading(&line::clean(planned.suite.name())))).await;
        }
        self.print(&line).await;
    }

    async fn print(&mut self, text: &str) {
        self.progress.erase(self.printer).await;
        // The tests run on even if stdout is closed.
        if self.detail != Detail::Silent
            && self.output_error.is_none()
            && let Err(failure) = self.printer.print(text).await
        {
            self.output_error = Some(failure);
        }
    }
}

/// The positions of the tests of each suite, which follow each other in a plan.
fn suites(plan: &Plan) -> Vec<Range<usize>> {
    let mut suites: Vec<Range<usize>> = Vec::new();
    let mut previous: Option<*const Suite> = None;
    for (number, planned) in plan.tests().enumerate() {
        let suite = Some(std::ptr::from_ref(planned.suite));
        match suites.last_mut().filter(|_| suite == previous) {
            Some(tests) => tests.end = number + 1,
            None => suites.push(number..number + 1),
        }
        previous = suite;
    }
    suites
}
