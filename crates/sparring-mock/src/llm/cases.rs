//! How far each test case is. Neither those that are over nor those that were
//! forsaken pile up.

use std::collections::{HashMap, VecDeque};

use super::script::{Repeat, Turn};

/// How many cases are known at once; the oldest give way.
const MOST: usize = 100_000;

/// All cases.
#[derive(Debug, Default)]
pub(super) struct Cases {
    by_id: HashMap<String, Place>,
    /// In the order in which they began.
    begun: VecDeque<String>,
}

/// How far a case is.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Place {
    /// Which of its turns is next, from 0.
    pub(super) turn: usize,
    /// How often that was taken already.
    taken: u64,
}

impl Cases {
    /// How far a case is.
    pub(super) fn place(&self, id: &str) -> Place {
        self.by_id.get(id).copied().unwrap_or_default()
    }

    /// Takes the turn that is next.
    pub(super) fn take(&mut self, id: &str, turn: &Turn) {
        if !self.by_id.contains_key(id) {
            if self.begun.len() >= MOST
                && let Some(oldest) = self.begun.pop_front()
            {
                self.by_id.remove(&oldest);
            }
            self.begun.push_back(id.to_owned());
        }
        let place = self.by_id.entry(id.to_owned()).or_default();
        place.taken += 1;
        if let Repeat::Times(times) = turn.repeat
            && place.taken >= times
        {
            *place = Place { turn: place.turn + 1, taken: 0 };
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
    fn a_turn_is_taken_as_often_as_it_is_repeated() {
        let mut cases = Cases::default();
        let next = |cases: &mut Cases, repeat| {
            cases.take("a", &turn(repeat));
            cases.place("a").turn
        };
        assert_eq!(next(&mut cases, Repeat::Times(2)), 0);
        assert_eq!(next(&mut cases, Repeat::Times(2)), 1);
        assert_eq!(next(&mut cases, Repeat::Times(1)), 2);
        assert_eq!(next(&mut cases, Repeat::Always), 2);
        assert_eq!(cases.place("b").turn, 0);
    }

    #[test]
    fn cases_do_not_pile_up() {
        let mut cases = Cases::default();
        (0..MOST + 10).for_each(|id| cases.take(&id.to_string(), &turn(Repeat::default())));
        assert_eq!((cases.by_id.len(), cases.begun.len()), (MOST, MOST));
        assert_eq!(cases.place(&(MOST + 9).to_string()).turn, 1);
    }
}
