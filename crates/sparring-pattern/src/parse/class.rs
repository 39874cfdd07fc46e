//! Classes in brackets.

use super::Parser;
use super::escape::Escape;
use crate::class::Class;
use crate::error::BadPattern;

/// The halves of pairs, which no text has.
const SURROGATES: std::ops::Range<u32> = 0xD800..0xE000;

impl Parser {
    /// What follows the `[` at `start`.
    pub(super) fn class(&mut self, start: usize) -> Result<Class, BadPattern> {
        let negated = self.source.take("^");
        if self.is_wide() && self.source.peek() == Some(']') {
            return Err(self.bad("a `]` as the first of a class wants a backslash"));
        }
        let mut class = self.set();
        while let Some(atom) = self.atom(start, &mut class)? {
            self.skip_space();
            self.no_operator()?;
            let dash = self.source.position();
            let is_dash = self.source.take("-");
            self.skip_space();
            // Where one end of a range is no character, the dash is one.
            let ends = is_dash && self.source.peek() != Some(']');
            let last = if ends { self.atom(start, &mut class)? } else { None };
            match (atom, last.flatten()) {
                (Some(first), Some(last)) => self.range(dash, first, last, &mut class)?,
                (first, last) => {
                    if is_dash {
                        class.add('-' as u32, '-' as u32);
                    }
                    for code in first.into_iter().chain(last) {
                        self.range(dash, code, code, &mut class)?;
                    }
                }
            }
        }
        Ok(class.done(negated))
    }

    /// The next thing in a class: a character, or `Some(None)` for a class that was
    /// added; or nothing at its end.
    fn atom(&mut self, start: usize, class: &mut Class) -> Result<Option<Option<u32>>, BadPattern> {
        self.skip_space();
        self.no_operator()?;
        let at = self.source.position();
        let Some(next) = self.source.next() else {
            return Err(BadPattern::at(start, "a class is not closed"));
        };
        match next {
            ']' => Ok(None),
            '\\' => Ok(Some(match self.escape(at, true)? {
                Escape::Char(character) => Some(character as u32),
                Escape::Surrogate(code) => Some(code),
                Escape::Class(other) => {
                    class.merge(other);
                    None
                }
                // There are none of these in a class.
                Escape::Assert(_) | Escape::Reference(_) => None,
            })),
            '[' if self.is_wide() => Err(BadPattern::at(at, "a `[` in a class wants a backslash")),
            other => Ok(Some(Some(other as u32))),
        }
    }

    /// Refuses what makes a set of two to others.
    fn no_operator(&mut self) -> Result<(), BadPattern> {
        let at = self.source.position();
        for operator in ["&&", "--", "~~"] {
            if self.is_wide() && self.source.take(operator) {
                let why = format!("`{operator}` in a class wants backslashes");
                return Err(BadPattern::at(at, why));
            }
        }
        Ok(())
    }

    /// Adds a range without the halves of pairs.
    fn range(&self, at: usize, first: u32, last: u32, class: &mut Class) -> Result<(), BadPattern> {
        if first > last {
            let shown = |code: u32| char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            let (first, last) = (shown(first), shown(last));
            return Err(BadPattern::at(at, format!("`{first}-{last}` is in the wrong order")));
        }
        let lowest = if SURROGATES.contains(&first) { SURROGATES.end } else { first };
        let highest = if SURROGATES.contains(&last) { SURROGATES.start - 1 } else { last };
        if lowest <= highest {
            class.add(lowest, highest);
        }
        Ok(())
    }
}
