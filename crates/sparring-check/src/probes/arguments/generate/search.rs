//! The search for the smallest number that still fails: doubling steps from the smallest one,
//! then halving.
//!
//! Most tried numbers are small, so that a server that crashes for large ones is seldom
//! restarted.

/// A search between the smallest number and one that fails.
#[derive(Debug, Clone)]
pub(super) struct Search {
    least: u64,
    /// The largest number that is known not to fail.
    passes: Option<u64>,
    /// The smallest number that is known to fail.
    fails: u64,
    current: u64,
}

impl Search {
    /// Starts at a number that is taken to fail.
    pub(super) fn new(least: u64, start: u64) -> Search {
        Search { least, passes: None, fails: start.max(least), current: start.max(least) }
    }

    /// Returns the present number.
    pub(super) fn current(&self) -> u64 {
        self.current
    }

    /// The present number fails. Moves to a smaller one, and returns false if there is none.
    pub(super) fn simplify(&mut self) -> bool {
        self.fails = self.current;
        match self.next() {
            Some(next) => {
                self.current = next;
                true
            }
            None => false,
        }
    }

    /// The present number does not fail. Moves to a larger one, at most to the smallest that
    /// is known to fail.
    pub(super) fn complicate(&mut self) -> bool {
        if self.current == self.fails {
            return false;
        }
        self.passes = Some(self.current);
        self.current = self.next().unwrap_or(self.fails);
        true
    }

    fn next(&self) -> Option<u64> {
        let Some(passes) = self.passes else {
            return (self.fails > self.least).then_some(self.least);
        };
        let middle = passes + (self.fails - passes) / 2;
        let doubled = self.least.saturating_add(((passes - self.least) * 2).max(1));
        Some(doubled.min(middle)).filter(|next| *next > passes)
    }
}

#[cfg(test)]
mod tests {
    use super::Search;

    #[test]
    fn finds_the_smallest_number_that_fails_with_few_failures() {
        for (least, start, limit) in [(0, 1 << 53, 1001), (0, 5, 0), (3, 3, 3), (1, 50_000, 4097)] {
            let mut search = Search::new(least, start);
            let mut failures = 0;
            let mut smallest = start;
            loop {
                let fails = search.current() >= limit;
                if fails {
                    failures += 1;
                    smallest = search.current();
                }
                if !(if fails { search.simplify() } else { search.complicate() }) {
                    break;
                }
            }
            assert_eq!(smallest, limit);
            assert!(failures < 16, "{failures}");
        }
    }
}
