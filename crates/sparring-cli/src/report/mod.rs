//! Reports of a run: to the terminal, and in other formats to files or stdout.
//!
//! All read the [`Run`](sparring_report::Run) that the events fold into.
//! `sparring-report` renders the formats; this module writes each of them to its
//! destination.

mod ci;
mod destination;
mod failed_test;
mod format;
mod progress;
mod reports;
mod suite_line;
mod terminal;
mod timings;
mod variant_differences;

use sparring_report::Summary;

use crate::exit::Exit;

pub(crate) use ci::Ci;
pub(crate) use destination::Destination;
pub(crate) use format::ReportRequest;
pub(crate) use reports::{Reports, RunReports};
pub(crate) use suite_line::render_time;
pub(crate) use terminal::{Detail, Terminal};

/// The exit code of a run.
pub(crate) fn exit(summary: Summary) -> Exit {
    match summary {
        Summary { failed: 1.., .. } => Exit::Failed,
        Summary { passed: 0, .. } => Exit::NoTestRan,
        _ => Exit::Success,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_succeeds_if_a_test_passed_and_none_failed() {
        let none = Summary::default();
        assert_eq!(exit(Summary { passed: 1, not_run: 1, ..none }), Exit::Success);
        assert_eq!(exit(Summary { skipped: 1, ..none }), Exit::NoTestRan);
        assert_eq!(exit(Summary { passed: 1, failed: 1, ..none }), Exit::Failed);
        assert_eq!(exit(Summary { passed: 1, flaky: 1, ..none }), Exit::Success);
    }
}
