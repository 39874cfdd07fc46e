//! What a run tells, as a person reads it: one line a test, in the order of the
//! suites whatever ends first, then each failure, and a last line that counts.

use std::path::Path;
use std::time::Duration;

use sparring_report::Summary;
use sparring_suite::{End, Event, Kept, Outcome, Plan, Planned};
use sparring_transport::Secrets;

use super::progress::Progress;
use super::{differences, exit, story, timings};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Printer, line};

/// From when on it is told how long a test took.
const SLOW: Duration = Duration::from_secs(1);

/// Tells of a run.
pub(crate) struct Terminal<'a> {
    plan: &'a Plan,
    printer: &'a Printer,
    /// What of the suites must not be shown.
    secrets: &'a Secrets,
    /// Whether stdout is for something else, and only notes are told.
    silent: bool,
    /// What came of each test; none of those that are not over.
    ends: Vec<Option<End>>,
    progress: Progress,
    /// The first test that is not told yet.
    next: usize,
    /// Why answers could not be kept.
    unkept: Option<String>,
    /// Set once nobody takes what is printed.
    unread: Option<Failure>,
}

impl<'a> Terminal<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        printer: &'a Printer,
        secrets: &'a Secrets,
        silent: bool,
    ) -> Self {
        let ends = std::iter::repeat_with(|| None).take(plan.len()).collect();
        Terminal {
            plan,
            printer,
            secrets,
            silent,
            ends,
            progress: Progress::new(),
            next: 0,
            unkept: None,
            unread: None,
        }
    }

    /// The tests that are over, and what came of them.
    pub(crate) fn ended(&self) -> impl Iterator<Item = (Planned<'_>, &Outcome)> {
        let ends = self.plan.tests().zip(&self.ends);
        ends.filter_map(|(planned, end)| Some((planned, &end.as_ref()?.outcome)))
    }

    /// Shows how far it is, where somebody looks on.
    pub(crate) async fn tick(&mut self) {
        self.progress.draw(self.plan, self.printer).await;
    }

    /// Takes note of something that happened.
    pub(crate) async fn take(&mut self, event: Event) {
        match event {
            Event::Started { test } => self.progress.started(test),
            Event::Finished { test, end } => {
                self.progress.ended(test, matches!(end.outcome, Outcome::Failed(_)));
                self.ends[test] = Some(end);
                while self.ends.get(self.next).is_some_and(Option::is_some) {
                    self.tell(self.next).await;
                    self.next += 1;
                }
            }
            Event::Kept { file, kept } => self.kept(&file, kept).await,
            _ => {}
        }
    }

    /// Tells how many answers were kept, or that they could not be.
    async fn kept(&mut self, file: &Path, kept: Result<Kept, String>) {
        self.progress.erase(self.printer).await;
        match kept {
            Ok(Kept { new, changed, removed }) => {
                let file = file.display();
                let told = format!("{file}: {new} new, {changed} changed, {removed} removed");
                self.printer.note(&told).await;
            }
            Err(told) => self.unkept = Some(told),
        }
    }

    /// Tells the rest: what was held back, the failures, and the last line.
    ///
    /// # Errors
    /// When nobody took what was printed.
    pub(crate) async fn end(mut self, timings: bool) -> Result<Exit, Failure> {
        self.progress.erase(self.printer).await;
        for test in self.next..self.ends.len() {
            self.tell(test).await;
        }
        let failed: Vec<String> = self
            .plan
            .tests()
            .zip(&self.ends)
            .filter_map(|(planned, end)| match end.as_ref().map(|end| &end.outcome) {
                Some(Outcome::Failed(story)) => {
                    Some(story::told(planned, story, self.printer.paint()))
                }
                _ => None,
            })
            .collect();
        for story in &failed {
            // The line of a suite may have one that it says itself.
            let story = self.secrets.mask(story);
            self.print(&story).await;
        }
        let differences = differences::told(self.plan, &self.ends, self.printer.paint());
        self.print(&differences).await;
        if timings {
            let all = self.ends.iter().flatten().flat_map(|end| &end.timings);
            let told = timings::told(all, self.printer.paint());
            self.print(&told).await;
        }
        let mut summary = Summary::default();
        self.ends.iter().for_each(|end| count(&mut summary, end.as_ref()));
        let gap = if self.printer.quiet() && failed.is_empty() { "" } else { "\n" };
        self.print(&format!("{gap}{summary}\n")).await;
        if let Some(told) = self.unkept {
            return Err(Failure::File(told));
        }
        match self.unread {
            Some(failure) => failure.unless_loud().map(|()| exit(summary)),
            None => Ok(exit(summary)),
        }
    }

    /// Tells of a test in one line, below the name of its suite.
    async fn tell(&mut self, number: usize) {
        let (Some(planned), Some(end)) = (self.plan.test(number), &self.ends[number]) else {
            return;
        };
        if self.printer.quiet() {
            return;
        }
        let told = self.line(planned, end);
        self.print(&told).await;
    }

    fn line(&self, planned: Planned<'_>, end: &End) -> String {
        let paint = self.printer.paint();
        let before = planned.number.checked_sub(1).and_then(|number| self.plan.test(number));
        let heading = match before {
            Some(before) if std::ptr::eq(before.suite, planned.suite) => String::new(),
            _ => format!("{}\n", paint.name(planned.suite.name())),
        };
        let name = format!("{}{}", line::clean(&planned.test.name), planned.variant);
        let slow = match end.took >= SLOW {
            true => paint.aside(&format!(" (took {:.1}s)", end.took.as_secs_f64())),
            false => String::new(),
        };
        let flaky = match is_flaky(end) {
            true => {
                paint.odd(&format!(" (passed when tried again, try {})", end.earlier.len() + 1))
            }
            false => String::new(),
        };
        match &end.outcome {
            Outcome::Passed => format!("{heading}  {}  {name}{flaky}{slow}\n", paint.good("ok  ")),
            Outcome::Failed(_) => format!("{heading}  {}  {name}{slow}\n", paint.bad("FAIL")),
            Outcome::Skipped(reason) => {
                let reason = paint.aside(&format!("({})", line::clean(reason)));
                format!("{heading}  {}  {name} {reason}\n", paint.odd("skip"))
            }
        }
    }

    async fn print(&mut self, text: &str) {
        self.progress.erase(self.printer).await;
        // Whether somebody reads it changes nothing about the tests.
        if !self.silent
            && self.unread.is_none()
            && let Err(failure) = self.printer.print(text).await
        {
            self.unread = Some(failure);
        }
    }
}

/// Counts one more.
fn count(summary: &mut Summary, end: Option<&End>) {
    let outcome = match end.map(|end| &end.outcome) {
        Some(Outcome::Passed) => sparring_report::Outcome::Passed,
        Some(Outcome::Failed(_)) => sparring_report::Outcome::Failed,
        Some(Outcome::Skipped(_)) => sparring_report::Outcome::Skipped,
        None => sparring_report::Outcome::NotRun,
    };
    summary.add(outcome, end.is_some_and(is_flaky));
}

/// Whether a test passed, but not at once.
fn is_flaky(end: &End) -> bool {
    matches!(end.outcome, Outcome::Passed) && !end.earlier.is_empty()
}
