//! How many tests passed, failed, were skipped, or did not get their turn.

use std::fmt;
use std::time::Duration;

use sparring_suite::Outcome;

use crate::exit::Exit;

/// The numbers of the last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
    not_run: usize,
}

impl Tally {
    pub(super) fn of(outcomes: &[Option<(Outcome, Duration)>]) -> Tally {
        let mut tally = Tally::default();
        for outcome in outcomes {
            match outcome {
                Some((Outcome::Passed, _)) => tally.passed += 1,
                Some((Outcome::Failed(_), _)) => tally.failed += 1,
                Some((Outcome::Skipped(_), _)) => tally.skipped += 1,
                None => tally.not_run += 1,
            }
        }
        tally
    }

    /// The exit code of such a run.
    pub(super) fn exit(self) -> Exit {
        match self {
            Tally { failed: 1.., .. } => Exit::Failed,
            Tally { passed: 0, .. } => Exit::Nothing,
            _ => Exit::Good,
        }
    }
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { passed, failed, skipped, not_run } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")?;
        match not_run {
            0 => Ok(()),
            not_run => write!(f, ", {not_run} not run"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_good_when_something_ran_and_nothing_failed() {
        let (passed, failed) = (Outcome::Passed, Outcome::Failed(Box::default()));
        let skipped = Outcome::Skipped(String::new());
        let tally = |outcomes: Vec<Option<Outcome>>| {
            let timed = outcomes.into_iter().map(|it| it.map(|it| (it, Duration::ZERO)));
            Tally::of(&timed.collect::<Vec<_>>())
        };
        let good = tally(vec![Some(passed), None]);
        assert_eq!(good.to_string(), "1 passed, 0 failed, 0 skipped, 1 not run");
        assert_eq!(good.exit(), Exit::Good);
        assert_eq!(tally(vec![Some(skipped)]).exit(), Exit::Nothing);
        let bad = tally(vec![Some(failed), Some(Outcome::Passed)]);
        assert_eq!(bad.to_string(), "1 passed, 1 failed, 0 skipped");
        assert_eq!(bad.exit(), Exit::Failed);
    }
}
