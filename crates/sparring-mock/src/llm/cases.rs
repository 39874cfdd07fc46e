//! The progress of each test case. The number of cases is limited.

use std::collections::{HashMap, VecDeque};

#[cfg(test)]
use super::script::Repeat;
use super::script::Turn;

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
#[derive(Debug, Clone, Default)]
pub(super) struct CaseProgress {
    /// The number of times that each turn was taken; turns at the end may be missing.
    taken: Vec<u64>,
}

impl CaseProgress {
    /// Returns the number of times that a turn was taken.
    pub(super) fn taken(&self, turn: usize) -> u64 {
        self.taken.get(turn).copied().unwrap_or(0)
    }

    /// Returns the next turn of the order, from 0.
    pub(super) fn next_in_order(&self, turns: &[Turn]) -> Option<usize> {
        self.available(turns).find(|at| turns[*at].when.is_empty())
    }

    /// Returns the turns that can still be taken.
    pub(super) fn available(&self, turns: &[Turn]) -> impl Iterator<Item = usize> {
        (0..turns.len()).filter(|at| turns[*at].repeat.allows(self.taken(*at)))
    }

    /// Returns the turns that must still be requested.
    pub(super) fn missing(&self, turns: &[Turn]) -> impl Iterator<Item = usize> {
        let is_missing =
            |at: &usize| !turns[*at].optional && !turns[*at].repeat.is_complete(self.taken(*at));
        (0..turns.len()).filter(is_missing)
    }
}

impl Cases {
    /// Returns the progress of a case.
    pub(super) fn progress(&self, id: &str) -> CaseProgress {
        self.by_id.get(id).cloned().unwrap_or_default()
    }

    /// Returns the cases that took a turn, in the order of their start.
    pub(super) fn started(&self) -> impl Iterator<Item = (&str, &CaseProgress)> {
        self.started.iter().filter_map(|id| Some((&**id, self.by_id.get(id)?)))
    }

    /// Takes a turn.
    pub(super) fn take(&mut self, id: &str, turn: usize) {
        if !self.by_id.contains_key(id) {
            if self.started.len() >= MAX_CASES
                && let Some(oldest) = self.started.pop_front()
            {
                self.by_id.remove(&oldest);
            }
            self.started.push_back(id.to_owned());
        }
        let progress = self.by_id.entry(id.to_owned()).or_default();
        if progress.taken.len() <= turn {
            progress.taken.resize(turn + 1, 0);
        }
        progress.taken[turn] += 1;
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
        let turns = [turn(Repeat::Times(2)), turn(Repeat::Times(1)), turn(Repeat::Always)];
        let mut taken = Vec::new();
        for _ in 0..5 {
            let next = cases.progress("a").next_in_order(&turns).unwrap();
            cases.take("a", next);
            taken.push(next);
        }
        assert_eq!(taken, [0, 0, 1, 2, 2]);
        assert_eq!(cases.progress("b").next_in_order(&turns), Some(0));
        assert_eq!(cases.progress("a").missing(&turns).count(), 0);
        assert_eq!(cases.progress("b").missing(&turns).count(), 3);
    }

    #[test]
    fn drops_old_cases() {
        let mut cases = Cases::default();
        (0..MAX_CASES + 10).for_each(|id| cases.take(&id.to_string(), 0));
        assert_eq!((cases.by_id.len(), cases.started.len()), (MAX_CASES, MAX_CASES));
        assert_eq!(cases.progress(&(MAX_CASES + 9).to_string()).taken(0), 1);
    }
}
