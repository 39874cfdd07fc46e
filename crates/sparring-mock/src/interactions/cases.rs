//! The queue of each test case. What is finished is remembered by its name for
//! a while, and neither names nor queues grow for ever.

use std::collections::{HashMap, VecDeque};

use sparring_wire::RawJson;

/// How many cases are known at once; the oldest give way, finished ones first.
const MOST: usize = 100_000;

/// All cases.
#[derive(Debug, Default)]
pub(super) struct Cases {
    by_id: HashMap<String, Case>,
    /// In the order in which they began, and in which they were finished.
    begun: VecDeque<String>,
    finished: VecDeque<String>,
}

#[derive(Debug)]
struct Case {
    waiting: VecDeque<RawJson>,
    total: usize,
}

impl Cases {
    pub(super) fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Begins a case with its responses.
    pub(super) fn begin(&mut self, id: &str, responses: Vec<RawJson>) {
        if self.by_id.len() >= MOST {
            self.make_room();
        }
        let total = responses.len();
        self.by_id.insert(id.to_owned(), Case { waiting: responses.into(), total });
        match total {
            0 => self.finished.push_back(id.to_owned()),
            _ => self.begun.push_back(id.to_owned()),
        }
    }

    /// The next response of a case; else how many it had.
    pub(super) fn next(&mut self, id: &str) -> Result<RawJson, usize> {
        let Some(case) = self.by_id.get_mut(id) else { return Err(0) };
        let total = case.total;
        let next = case.waiting.pop_front().ok_or(total)?;
        if case.waiting.is_empty() {
            case.waiting = VecDeque::new();
            self.finished.push_back(id.to_owned());
        }
        Ok(next)
    }

    fn make_room(&mut self) {
        let oldest = self.finished.pop_front().or_else(|| self.begun.pop_front());
        if let Some(oldest) = oldest {
            self.by_id.remove(&oldest);
        }
        // Names of those that are gone or finished are of no use any more.
        if self.begun.len() > 2 * MOST {
            let known = &self.by_id;
            self.begun.retain(|id| known.get(id).is_some_and(|case| !case.waiting.is_empty()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn responses(count: usize) -> Vec<RawJson> {
        (0..count).map(|number| RawJson::parse(&number.to_string()).unwrap()).collect()
    }

    #[test]
    fn a_queue_gives_its_responses_in_order_and_then_no_more() {
        let mut cases = Cases::default();
        cases.begin("a", responses(2));
        cases.begin("b", responses(1));
        let next = |cases: &mut Cases, id| cases.next(id).map(|it| it.text().to_owned());
        assert_eq!(next(&mut cases, "a").as_deref(), Ok("0"));
        assert_eq!(next(&mut cases, "b").as_deref(), Ok("0"));
        assert_eq!(next(&mut cases, "a").as_deref(), Ok("1"));
        assert_eq!(next(&mut cases, "a"), Err(2));
        assert!(cases.knows("a"));
    }

    #[test]
    fn neither_finished_nor_forsaken_cases_pile_up() {
        let mut cases = Cases::default();
        cases.begin("waiting", responses(1));
        for number in 0..MOST * 2 {
            let id = number.to_string();
            cases.begin(&id, responses(1));
            cases.next(&id).unwrap();
        }
        assert!(cases.by_id.len() <= MOST && cases.finished.len() <= MOST);
        assert!(cases.begun.len() <= 2 * MOST + 1);
        assert!(cases.next("waiting").is_ok(), "those that are finished give way first");
        for number in 0..MOST * 2 {
            cases.begin(&format!("forsaken {number}"), responses(1));
        }
        assert!(cases.by_id.len() <= MOST && cases.begun.len() <= 2 * MOST + 1);
    }
}
