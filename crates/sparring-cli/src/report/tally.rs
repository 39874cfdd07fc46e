//! How many tests passed, failed, were skipped, or did not get their turn.

use std::fmt;

use sparring_suite::{End, Outcome};

use crate::exit::Exit;

/// The numbers of the last line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Tally {
    passed: usize,
    failed: usize,
    skipped: usize,
    not_run: usize,
    /// Those that passed, but not at once.
    flaky: usize,
}

impl Tally {
    pub(super) fn of(ends: &[Option<End>]) -> Tally {
        let mut tally = Tally::default();
        for end in ends {
            match end.as_ref().map(|end| &end.outcome) {
                Some(Outcome::Passed) => tally.passed += 1,
                Some(Outcome::Failed(_)) => tally.failed += 1,
                Some(Outcome::Skipped(_)) => tally.skipped += 1,
                None => tally.not_run += 1,
            }
            tally.flaky += usize::from(end.as_ref().is_some_and(is_flaky));
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

/// Whether a test passed, but not at once.
pub(super) fn is_flaky(end: &End) -> bool {
    matches!(end.outcome, Outcome::Passed) && !end.earlier.is_empty()
}

impl fmt::Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Tally { passed, failed, skipped, not_run, flaky } = self;
        write!(f, "{passed} passed, {failed} failed, {skipped} skipped")?;
        let beside = [(not_run, "not run"), (flaky, "flaky")];
        beside
            .into_iter()
            .filter(|(count, _)| **count > 0)
            .try_for_each(|(count, what)| write!(f, ", {count} {what}"))
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use sparring_suite::Story;

    use super::*;

    #[test]
    fn a_run_is_good_when_something_ran_and_nothing_failed() {
        let (passed, failed) = (Outcome::Passed, Outcome::Failed(Box::default()));
        let skipped = Outcome::Skipped(String::new());
        let end =
            |outcome, earlier| End { outcome, took: Duration::ZERO, earlier, timings: Vec::new() };
        let tally = |outcomes: Vec<Option<Outcome>>| {
            let ends = outcomes.into_iter().map(|it| it.map(|it| end(it, Vec::new())));
            Tally::of(&ends.collect::<Vec<_>>())
        };
        let good = tally(vec![Some(passed), None]);
        assert_eq!(good.to_string(), "1 passed, 0 failed, 0 skipped, 1 not run");
        assert_eq!(good.exit(), Exit::Good);
        assert_eq!(tally(vec![Some(skipped)]).exit(), Exit::Nothing);
        let bad = tally(vec![Some(failed), Some(Outcome::Passed)]);
        assert_eq!(bad.to_string(), "1 passed, 1 failed, 0 skipped");
        assert_eq!(bad.exit(), Exit::Failed);
        let flaky = Tally::of(&[Some(end(Outcome::Passed, vec![Story::default()]))]);
        assert_eq!(flaky.to_string(), "1 passed, 0 failed, 0 skipped, 1 flaky");
        assert_eq!(flaky.exit(), Exit::Good);
    }
}
