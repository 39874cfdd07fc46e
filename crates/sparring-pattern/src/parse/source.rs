//! The characters of a pattern, one after the other.

/// The characters of a pattern, and how far they are read.
pub(super) struct Source {
    characters: Vec<char>,
    at: usize,
}

impl Source {
    pub(super) fn new(pattern: &str) -> Source {
        Source { characters: pattern.chars().collect(), at: 0 }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    /// Whether this follows; if so, it is passed.
    pub(super) fn take(&mut self, expected: &str) -> bool {
        let mut end = self.at;
        for character in expected.chars() {
            if self.characters.get(end) != Some(&character) {
                return false;
            }
            end += 1;
        }
        self.at = end;
        true
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn back_to(&mut self, position: usize) {
        self.at = position;
    }

    /// What was read since a position.
    pub(super) fn since(&self, position: usize) -> String {
        self.characters[position..self.at].iter().collect()
    }
}
