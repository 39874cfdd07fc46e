//! The queues of responses, one for each test case. The number of cases and their bytes are
//! limited; finished cases are remembered for a while.

use std::collections::{HashMap, VecDeque};

use sparring_wire::RawJson;

/// The maximum number of cases; when it is reached, the oldest are dropped, finished ones first.
const MAX_CASES: usize = 100_000;

/// The maximum number of bytes of the waiting responses of one case, and of all cases. The oldest
/// cases are dropped for a new one.
const MAX_CASE_BYTES: usize = 16 * 1024 * 1024;
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// The memory of a response beside its text.
const RESPONSE_BYTES: usize = 64;

/// All test cases.
#[derive(Debug, Default)]
pub(super) struct Cases {
    by_id: HashMap<String, Case>,
    /// Ids in the order in which cases started, and in which they finished.
    started: VecDeque<String>,
    finished: VecDeque<String>,
    /// The bytes of all waiting responses.
    bytes: usize,
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
    ///
    /// # Errors
    /// If the responses are too large.
    pub(super) fn start(&mut self, id: &str, responses: Vec<RawJson>) -> Result<(), String> {
        let bytes: usize = responses.iter().map(size).sum();
        if bytes > MAX_CASE_BYTES {
            return Err(format!("the responses need more than {MAX_CASE_BYTES} bytes"));
        }
        if self.by_id.len() >= MAX_CASES {
            self.drop_oldest();
        }
        while self.bytes + bytes > MAX_BYTES {
            self.drop_oldest_waiting();
        }
        self.bytes += bytes;
        let total = responses.len();
        self.by_id.insert(id.to_owned(), Case { waiting: responses.into(), total });
        match total {
            0 => self.finished.push_back(id.to_owned()),
            _ => self.started.push_back(id.to_owned()),
        }
        Ok(())
    }

    /// Returns the next response of a case. If none is left, the error is the number of its
    /// responses.
    pub(super) fn next(&mut self, id: &str) -> Result<RawJson, usize> {
        let Some(case) = self.by_id.get_mut(id) else { return Err(0) };
        let total = case.total;
        let next = case.waiting.pop_front().ok_or(total)?;
        self.bytes -= size(&next);
        if case.waiting.is_empty() {
            case.waiting = VecDeque::new();
            self.finished.push_back(id.to_owned());
        }
        Ok(next)
    }

    fn drop_oldest(&mut self) {
        match self.finished.pop_front() {
            Some(oldest) => drop(self.by_id.remove(&oldest)),
            None => self.drop_oldest_waiting(),
        }
        // Ids of dropped and finished cases are not needed.
        if self.started.len() > 2 * MAX_CASES {
            let known = &self.by_id;
            self.started.retain(|id| known.get(id).is_some_and(|case| !case.waiting.is_empty()));
        }
    }
}

impl Cases {
    fn drop_oldest_waiting(&mut self) {
        let is_waiting = |id: &String| self.by_id.get(id).is_some_and(|it| !it.waiting.is_empty());
        let Some(at) = self.started.iter().position(is_waiting) else { return };
        let oldest = self.started.drain(..=at).next_back();
        let dropped = oldest.and_then(|oldest| self.by_id.remove(&oldest));
        let waiting = dropped.iter().flat_map(|case| &case.waiting);
        self.bytes -= waiting.map(size).sum::<usize>();
    }
}

/// Estimates the memory of a response.
fn size(response: &RawJson) -> usize {
    RESPONSE_BYTES + response.text().len()
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
        cases.start("a", responses(2)).unwrap();
        cases.start("b", responses(1)).unwrap();
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
        cases.start("waiting", responses(1)).unwrap();
        for number in 0..MAX_CASES * 2 {
            let id = number.to_string();
            cases.start(&id, responses(1)).unwrap();
            cases.next(&id).unwrap();
        }
        assert!(cases.by_id.len() <= MAX_CASES && cases.finished.len() <= MAX_CASES);
        assert!(cases.started.len() <= 2 * MAX_CASES + 1);
        assert!(cases.next("waiting").is_ok(), "finished cases are dropped first");
        for number in 0..MAX_CASES * 2 {
            cases.start(&format!("unfinished {number}"), responses(1)).unwrap();
        }
        assert!(cases.by_id.len() <= MAX_CASES && cases.started.len() <= 2 * MAX_CASES + 1);
    }

    #[test]
    fn drops_the_oldest_waiting_cases_when_they_are_large() {
        let large = || vec![RawJson::string(&"x".repeat(MAX_CASE_BYTES - 1_000))];
        let mut cases = Cases::default();
        cases.start("finished", responses(1)).unwrap();
        cases.next("finished").unwrap();
        for number in 0..6 {
            cases.start(&number.to_string(), large()).unwrap();
            assert!(cases.bytes <= MAX_BYTES);
        }
        let known: Vec<bool> = (0..6).map(|number| cases.contains(&number.to_string())).collect();
        assert_eq!(known, [false, false, true, true, true, true]);
        assert!(cases.contains("finished"), "it frees nothing");
        (2..6).for_each(|number| drop(cases.next(&number.to_string())));
        assert_eq!(cases.bytes, 0);
        let too_large = vec![RawJson::string(&"x".repeat(MAX_CASE_BYTES))];
        assert!(cases.start("other", too_large).is_err() && !cases.contains("other"));
    }
}
