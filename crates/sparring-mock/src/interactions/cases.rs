//! The queues of responses, one for each test case. The number of cases is limited; finished
//! cases are remembered for a while.

use std::collections::{HashMap, VecDeque};

use sparring_wire::RawJson;

/// The maximum number of cases; when it is reached, the oldest are dropped, finished ones first.
const MAX_CASES: usize = 100_000;

/// All test cases.
#[derive(Debug, Default)]
pub(super) struct Cases {
    by_id: HashMap<String, Case>,
    /// Ids in the order in which cases started, and in which they finished.
    started: VecDeque<String>,
    finished: VecDeque<String>,
}

#[derive(Debug)]
struct Case {
    waiting: VecDeque<RawJson>,
    total: usize,
}

impl Cases {
    pub(super) fn contains(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Starts a case with its responses.
    pub(super) fn start(&mut self, id: &str, responses: Vec<RawJson>) {
        if self.by_id.len() >= MAX_CASES {
            self.drop_oldest();
        }
        let total = responses.len();
        self.by_id.insert(id.to_owned(), Case { waiting: responses.into(), total });
        match total {
            0 => self.finished.push_back(id.to_owned()),
            _ => self.started.push_back(id.to_owned()),
        }
    }

    /// Returns the next response of a case. If none is left, the error is the number of its
    /// responses.
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

    fn drop_oldest(&mut self) {
        let oldest = self.finished.pop_front().or_else(|| self.started.pop_front());
        if let Some(oldest) = oldest {
            self.by_id.remove(&oldest);
        }
        // Ids of dropped and finished cases are not needed.
        if self.started.len() > 2 * MAX_CASES {
            let known = &self.by_id;
            self.started.retain(|id| known.get(id).is_some_and(|case| !case.waiting.is_empty()));
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
    fn a_queue_gives_its_responses_in_order_and_then_none() {
        let mut cases = Cases::default();
        cases.start("a", responses(2));
        cases.start("b", responses(1));
        let next = |cases: &mut Cases, id| cases.next(id).map(|it| it.text().to_owned());
        assert_eq!(next(&mut cases, "a").as_deref(), Ok("0"));
        assert_eq!(next(&mut cases, "b").as_deref(), Ok("0"));
        assert_eq!(next(&mut cases, "a").as_deref(), Ok("1"));
        assert_eq!(next(&mut cases, "a"), Err(2));
        assert!(cases.contains("a"));
    }

    #[test]
    fn drops_old_cases() {
        let mut cases = Cases::default();
        cases.start("waiting", responses(1));
        for number in 0..MAX_CASES * 2 {
            let id = number.to_string();
            cases.start(&id, responses(1));
            cases.next(&id).unwrap();
        }
        assert!(cases.by_id.len() <= MAX_CASES && cases.finished.len() <= MAX_CASES);
        assert!(cases.started.len() <= 2 * MAX_CASES + 1);
        assert!(cases.next("waiting").is_ok(), "finished cases are dropped first");
        for number in 0..MAX_CASES * 2 {
            cases.start(&format!("unfinished {number}"), responses(1));
        }
        assert!(cases.by_id.len() <= MAX_CASES && cases.started.len() <= 2 * MAX_CASES + 1);
    }
}
