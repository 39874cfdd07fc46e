//! The progress of a run, in one line at the bottom of the terminal that is erased
//! afterwards. Short runs never show it.
//!
//! The printer writes it like everything else, so a terminal that does not read blocks
//! nothing.

use std::time::{Duration, Instant};

use sparring_suite::Plan;

use crate::output::{Printer, line};

/// The line is shown after this time.
const SHOW_AFTER: Duration = Duration::from_millis(500);

/// Moves to the beginning of the line and erases it.
const ERASE_LINE: &str = "\r\x1b[2K";

/// The columns of a terminal that does not report them.
const DEFAULT_COLUMNS: usize = 80;

/// The progress of a run.
#[derive(Debug)]
pub(super) struct Progress {
    started_at: Instant,
    /// The running tests, with their start times.
    running: Vec<(usize, Instant)>,
    ended: usize,
    failed: usize,
    /// True if the line is on the terminal.
    shown: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        let (running, started_at) = (Vec::new(), Instant::now());
        Progress { started_at, running, ended: 0, failed: 0, shown: false }
    }

    pub(super) fn started(&mut self, test: usize) {
        self.running.push((test, Instant::now()));
    }

    pub(super) fn ended(&mut self, test: usize, failed: bool) {
        self.running.retain(|(running, _)| *running != test);
        self.ended += 1;
        self.failed += usize::from(failed);
    }

    /// Draws the line if stderr is a terminal and the run is long enough.
    pub(super) async fn draw(&mut self, plan: &Plan, printer: &Printer) {
        if printer.can_erase_lines()
            && !printer.is_quiet()
            && self.started_at.elapsed() >= SHOW_AFTER
        {
            let columns = printer.width().unwrap_or(DEFAULT_COLUMNS);
            let text = line::truncate(&line::clean(&self.text(plan)), columns.saturating_sub(2));
            printer.draw(&format!("{ERASE_LINE}{text}")).await;
            self.shown = true;
        }
    }

    /// Erases the line before other output.
    pub(super) async fn erase(&mut self, printer: &Printer) {
        if std::mem::take(&mut self.shown) {
            printer.draw(ERASE_LINE).await;
        }
    }

    fn text(&self, plan: &Plan) -> String {
        let counted = format!("{}/{}, {} failed", self.ended, plan.len(), self.failed);
        let longest = self.running.first();
        match longest.and_then(|(test, since)| Some((plan.test(*test)?, since))) {
            None => counted,
            Some((planned, since)) => {
                let (file, name) = (planned.suite.name(), &planned.test.name);
                let variant = planned.variant;
                format!("{counted} · {}s {file}: {name}{variant}", since.elapsed().as_secs())
            }
        }
    }
}
