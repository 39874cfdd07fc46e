//! Prints a run for a person: one line for each test in the order of the plan, then the
//! failures, and a last line with the counts.

use std::path::Path;
use std::time::Duration;

use sparring_report::{Note, Outcome, Run, SourceLocation, Test};
use sparring_suite::{Plan, PlannedTest, SnapshotChanges};
use sparring_transport::Secrets;

use super::progress::Progress;
use super::{exit, failed_test, timings, variant_differences};
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::output::{Paint, Printer, line};

/// The duration from which the line of a test shows its time.
const SLOW: Duration = Duration::from_secs(1);

/// Prints a run.
pub(crate) struct Terminal<'a> {
    plan: &'a Plan,
    printer: &'a Printer,
    secrets: &'a Secrets,
    /// True if stdout belongs to a report, so that only notes are printed.
    silent: bool,
    progress: Progress,
    /// The first test that is not printed yet.
    next: usize,
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
        silent: bool,
    ) -> Self {
        Terminal {
            plan,
            printer,
            secrets,
            silent,
            progress: Progress::new(),
            next: 0,
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

    /// Prints all tests up to the first that is not over.
    pub(crate) async fn test_finished(&mut self, run: &Run, test: usize) {
        self.progress.ended(test, run.tests[test].outcome == Outcome::Failed);
        while run.tests.get(self.next).is_some_and(|test| test.outcome != Outcome::NotRun) {
            self.print_test(run, self.next).await;
            self.next += 1;
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
        for test in self.next..run.tests.len() {
            self.print_test(run, test).await;
        }
        let paint = self.printer.paint();
        for (planned, test) in self.plan.tests().zip(&run.tests) {
            if let Some(failed) = test.failure() {
                let text = failed_test::render_failed_test(planned, test, failed, paint);
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
        self.print(&format!("{gap}{}\n", run.summary)).await;
        if let Some(error) = self.snapshot_error {
            return Err(CommandError::File(error));
        }
        match self.output_error {
            Some(failure) => failure.ignore_broken_pipe().map(|()| exit(run.summary)),
            None => Ok(exit(run.summary)),
        }
    }

    /// Prints the line of a test that is over.
    async fn print_test(&mut self, run: &Run, number: usize) {
        if self.printer.is_quiet() {
            return;
        }
        let line = self.plan.test(number).and_then(|it| self.render_line(it, &run.tests[number]));
        if let Some(line) = line {
            self.print(&line).await;
        }
    }

    fn render_line(&self, planned: PlannedTest<'_>, test: &Test) -> Option<String> {
        let paint = self.printer.paint();
        let before = planned.number.checked_sub(1).and_then(|number| self.plan.test(number));
        let heading = match before {
            Some(before) if std::ptr::eq(before.suite, planned.suite) => String::new(),
            _ => format!("{}\n", paint.heading(&line::clean(planned.suite.name()))),
        };
        let name = format!("{}{}", line::clean(&planned.test.name), planned.variant);
        let took = Duration::from_secs_f64(test.took_ms / 1e3);
        let slow = match took >= SLOW {
            true => paint.dim(&format!(" (took {:.1}s)", took.as_secs_f64())),
            false => String::new(),
        };
        let flaky = match test.is_flaky() {
            true => {
                let tries = test.failed_tries.len() + 1;
                paint.warning(&format!(" (flaky: passed at try {tries})"))
            }
            false => String::new(),
        };
        let notes = render_notes(test, paint);
        Some(match test.outcome {
            Outcome::Passed => {
                format!("{heading}  {}  {name}{flaky}{slow}\n{notes}", paint.success("ok  "))
            }
            Outcome::Failed => format!("{heading}  {}  {name}{slow}\n{notes}", paint.error("FAIL")),
            Outcome::Skipped => {
                let reason = line::clean(test.reason.as_deref().unwrap_or_default());
                let reason = paint.dim(&format!("({reason})"));
                format!("{heading}  {}  {name} {reason}\n", paint.warning("skip"))
            }
            Outcome::NotRun => return None,
        })
    }

    async fn print(&mut self, text: &str) {
        self.progress.erase(self.printer).await;
        // The tests run on even if stdout is closed.
        if !self.silent
            && self.output_error.is_none()
            && let Err(failure) = self.printer.print(text).await
        {
            self.output_error = Some(failure);
        }
    }
}

/// Renders the notes of a test, one in each line.
fn render_notes(test: &Test, paint: Paint) -> String {
    let note = |note: &Note| {
        let SourceLocation { file, line: row, column } = &note.place;
        let text = format!("note: {file}:{row}:{column}: {}", line::clean(&note.message));
        format!("        {}\n", paint.dim(&text))
    };
    test.notes.iter().map(note).collect()
}
