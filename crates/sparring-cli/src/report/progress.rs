//! How far a run is, in one line at the bottom of a terminal that is gone
//! afterwards; short runs never show it.
//!
//! It is drawn by the printer like everything else, so that a terminal that
//! takes nothing holds up nobody.

use std::time::{Duration, Instant};

use sparring_suite::Plan;

use crate::output::{Printer, line};

/// From when on it is shown.
const LONG: Duration = Duration::from_millis(500);

/// To the beginning of the line, and everything in it gone.
const ERASE: &str = "\r\x1b[2K";

/// The columns of a terminal that does not say how many it has.
const COLUMNS: usize = 80;

/// What is known of a run that goes on.
#[derive(Debug)]
pub(super) struct Progress {
    begun: Instant,
    /// The tests that run, with when they began.
    running: Vec<(usize, Instant)>,
    ended: usize,
    failed: usize,
    /// Whether the line stands there.
    shown: bool,
}

impl Progress {
    pub(super) fn new() -> Self {
        let (running, begun) = (Vec::new(), Instant::now());
        Progress { begun, running, ended: 0, failed: 0, shown: false }
    }

    pub(super) fn started(&mut self, test: usize) {
        self.running.push((test, Instant::now()));
    }

    pub(super) fn ended(&mut self, test: usize, failed: bool) {
        self.running.retain(|(running, _)| *running != test);
        self.ended += 1;
        self.failed += usize::from(failed);
    }

    /// Draws the line, where there is somebody to see it and reason to.
    pub(super) async fn draw(&mut self, plan: &Plan, printer: &Printer) {
        if printer.attended() && !printer.quiet() && self.begun.elapsed() >= LONG {
            let columns = printer.width().unwrap_or(COLUMNS);
            let text = line::cut(&line::clean(&self.text(plan)), columns.saturating_sub(2));
            printer.status(&format!("{ERASE}{text}")).await;
            self.shown = true;
        }
    }

    /// Makes room for what is printed.
    pub(super) async fn erase(&mut self, printer: &Printer) {
        if std::mem::take(&mut self.shown) {
            printer.status(ERASE).await;
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
