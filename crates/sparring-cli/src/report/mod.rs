//! What a run tells, as a person reads it: one line a test, in the order of the
//! suites whatever ends first, then each failure, and a last line that counts.

mod differences;
mod story;
mod tally;

use std::time::Duration;

use sparring_suite::{Event, Outcome, Plan, Planned};

use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Printer, line};
use tally::Tally;

/// From when on it is told how long a test took.
const SLOW: Duration = Duration::from_secs(1);

/// Tells of a run.
pub(crate) struct Report<'a> {
    plan: &'a Plan,
    printer: &'a Printer,
    /// What came of each test; none of those that are not over.
    outcomes: Vec<Option<(Outcome, Duration)>>,
    /// The first test that is not told yet.
    next: usize,
    /// Set once nobody takes what is printed.
    unread: Option<Failure>,
}

impl<'a> Report<'a> {
    pub(crate) fn new(plan: &'a Plan, printer: &'a Printer) -> Self {
        let outcomes = std::iter::repeat_with(|| None).take(plan.len()).collect();
        Report { plan, printer, outcomes, next: 0, unread: None }
    }

    /// Takes note of something that happened.
    pub(crate) async fn take(&mut self, event: Event) {
        if let Event::Finished { test, outcome, took } = event {
            self.outcomes[test] = Some((outcome, took));
            while self.outcomes.get(self.next).is_some_and(Option::is_some) {
                self.tell(self.next).await;
                self.next += 1;
            }
        }
    }

    /// Tells the rest: what was held back, the failures, and the last line.
    ///
    /// # Errors
    /// When nobody took what was printed.
    pub(crate) async fn end(mut self) -> Result<Exit, Failure> {
        for test in self.next..self.outcomes.len() {
            self.tell(test).await;
        }
        let failed: Vec<String> = self
            .plan
            .tests()
            .zip(&self.outcomes)
            .filter_map(|(planned, outcome)| match outcome {
                Some((Outcome::Failed(story), _)) => {
                    Some(story::told(planned, story, self.printer.paint()))
                }
                _ => None,
            })
            .collect();
        for story in &failed {
            self.print(story).await;
        }
        let differences = differences::told(self.plan, &self.outcomes, self.printer.paint());
        self.print(&differences).await;
        let tally = Tally::of(&self.outcomes);
        let gap = if self.printer.quiet() && failed.is_empty() { "" } else { "\n" };
        self.print(&format!("{gap}{tally}\n")).await;
        match self.unread {
            Some(failure) => failure.unless_loud().map(|()| tally.exit()),
            None => Ok(tally.exit()),
        }
    }

    /// Tells of a test in one line, below the name of its suite.
    async fn tell(&mut self, number: usize) {
        let (Some(planned), Some((outcome, took))) =
            (self.plan.test(number), &self.outcomes[number])
        else {
            return;
        };
        if self.printer.quiet() {
            return;
        }
        let told = self.line(planned, outcome, *took);
        self.print(&told).await;
    }

    fn line(&self, planned: Planned<'_>, outcome: &Outcome, took: Duration) -> String {
        let paint = self.printer.paint();
        let before = planned.number.checked_sub(1).and_then(|number| self.plan.test(number));
        let heading = match before {
            Some(before) if std::ptr::eq(before.suite, planned.suite) => String::new(),
            _ => format!("{}\n", paint.name(planned.suite.name())),
        };
        let name = format!("{}{}", line::clean(&planned.test.name), planned.variant);
        let slow = match took >= SLOW {
            true => paint.aside(&format!(" (took {:.1}s)", took.as_secs_f64())),
            false => String::new(),
        };
        match outcome {
            Outcome::Passed => format!("{heading}  {}  {name}{slow}\n", paint.good("ok  ")),
            Outcome::Failed(_) => format!("{heading}  {}  {name}{slow}\n", paint.bad("FAIL")),
            Outcome::Skipped(reason) => {
                let reason = paint.aside(&format!("({})", line::clean(reason)));
                format!("{heading}  {}  {name} {reason}\n", paint.odd("skip"))
            }
        }
    }

    async fn print(&mut self, text: &str) {
        // Whether somebody reads it changes nothing about the tests.
        if self.unread.is_none()
            && let Err(failure) = self.printer.print(text).await
        {
            self.unread = Some(failure);
        }
    }
}
