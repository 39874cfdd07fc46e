//! The progress of each test case. The number of cases is limited.

use std::collections::{HashMap, VecDeque};

use super::script::{Repeat, Turn};

/// The maximum number of cases; the oldest are dropped when it is reached.
const MAX_CASES: usize = 100_000;

/// The progress of all cases.
#[derive(Debug, Default)]
pub(super) struct Cases {
    by_id: HashMap<String, CaseProgress>,
    /// Ids in the order in which the cases started.
    started: VecDeque<String>,
}

/// The progress of one case.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CaseProgress {
    /// The next turn, from 0.
    pub(super) turn: usize,
    /// The number of times that the next turn was taken already.
    taken: u64,
}

impl Cases {
    /// Returns the progress of a case.
    pub(super) fn progress(&self, id: &str) -> CaseProgress {
        self.by_id.get(id).copied().unwrap_or_default()
    }

    /// Takes the next turn.
    pub(super) fn take(&mut self, id: &str, turn: &Turn) {
        if !self.by_id.contains_key(id) {
            if self.started.len() >= MAX_CASES
                && let Some(oldest) = self.started.pop_front()
            {
                self.by_id.remove(&oldest);
            }
            self.started.push_back(id.to_owned());
        }
        let progress = self.by_id.entry(id.to_owned()).or_default();
        progress.taken += 1;
        if let Repeat::Times(times) = turn.repeat
            && progress.taken >= times
        {
            *progress = CaseProgress { turn: progress.turn + 1, taken: 0 };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(repeat: Repeat) -> Turn {
        Turn { repeat, ..Turn::default() }
    }

    #[test]
    fn takes_a_turn_as_often_as_it_is_repeated() {
        let mut cases = Cases::default();
        let next = |cases: &mut Cases, repeat| {
            cases.take("a", &turn(repeat));
            cases.progress("a").turn
        };
        assert_eq!(next(&mut cases, Repeat::Times(2)), 0);
        assert_eq!(next(&mut cases, Repeat::Times(2)), 1);
        assert_eq!(next(&mut cases, Repeat::Times(1)), 2);
        assert_eq!(next(&mut cases, Repeat::Always), 2);
        assert_eq!(cases.progress("b").turn, 0);
    }

    #[test]
    fn drops_old_cases() {
        let mut cases = Cases::default();
        (0..MAX_CASES + 10).for_each(|id| cases.take(&id.to_string(), &turn(Repeat::default())));
        assert_eq!((cases.by_id.len(), cases.started.len()), (MAX_CASES, MAX_CASES));
        assert_eq!(cases.progress(&(MAX_CASES + 9).to_string()).turn, 1);
    }
}
