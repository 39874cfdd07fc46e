//! What is told of a run: to the person who waits for it, and to whoever wants
//! it in another form, in files or on stdout.
//!
//! Both know a run only by its events. What a form looks like is the business of
//! `sparring-report`; here it is said where each of them goes.

mod again;
mod asked;
mod ci;
mod destination;
mod differences;
mod kind;
mod progress;
mod record;
mod reports;
mod story;
mod terminal;
mod timings;

use sparring_report::Summary;

use crate::exit::Exit;

pub(crate) use asked::Asked;
pub(crate) use ci::Ci;
pub(crate) use destination::Destination;
pub(crate) use reports::{Reports, Round};
pub(crate) use terminal::Terminal;

/// The exit code of a run.
pub(crate) fn exit(summary: Summary) -> Exit {
    match summary {
        Summary { failed: 1.., .. } => Exit::Failed,
        Summary { passed: 0, .. } => Exit::Nothing,
        _ => Exit::Good,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_good_when_something_ran_and_nothing_failed() {
        let none = Summary::default();
        assert_eq!(exit(Summary { passed: 1, not_run: 1, ..none }), Exit::Good);
        assert_eq!(exit(Summary { skipped: 1, ..none }), Exit::Nothing);
        assert_eq!(exit(Summary { passed: 1, failed: 1, ..none }), Exit::Failed);
        assert_eq!(exit(Summary { passed: 1, flaky: 1, ..none }), Exit::Good);
    }
}
