//! What a run tells, as a person reads it: one line a test, in the order of the
//! suites whatever ends first, then each failure, and a last line that counts.

mod differences;
mod progress;
mod story;
mod tally;
mod timings;

use std::path::Path;
use std::time::Duration;

use sparring_suite::{End, Event, Kept, Outcome, Plan, Planned};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Printer, line};
use progress::Progress;
use tally::{Tally, is_flaky};

/// From when on it is told how long a test took.
const SLOW: Duration = Duration::from_secs(1);

/// Tells of a run.
pub(crate) struct Report<'a> {
    plan: &'a Plan,
    printer: &'a Printer,
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

impl<'a> Report<'a> {
    pub(crate) fn new(plan: &'a Plan, printer: &'a Printer) -> Self {
        let ends = std::iter::repeat_with(|| None).take(plan.len()).collect();
        Report {
            plan,
            printer,
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
            self.print(story).await;
        }
        let differences = differences::told(self.plan, &self.ends, self.printer.paint());
        self.print(&differences).await;
        if timings {
            let all = self.ends.iter().flatten().flat_map(|end| &end.timings);
            let told = timings::told(all, self.printer.paint());
            self.print(&told).await;
        }
        let tally = Tally::of(&self.ends);
        let gap = if self.printer.quiet() && failed.is_empty() { "" } else { "\n" };
        self.print(&format!("{gap}{tally}\n")).await;
        if let Some(told) = self.unkept {
            return Err(Failure::File(told));
        }
        match self.unread {
            Some(failure) => failure.unless_loud().map(|()| tally.exit()),
            None => Ok(tally.exit()),
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
        if self.unread.is_none()
            && let Err(failure) = self.printer.print(text).await
        {
            self.unread = Some(failure);
        }
    }
}
