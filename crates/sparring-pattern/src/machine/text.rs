//! A text, character by character in both directions.

use crate::class::Class;
use crate::tree::Assertion;

/// A text with places between its characters, which are numbers of bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text<'a>(&'a str);

impl<'a> Text<'a> {
    pub(super) fn new(text: &'a str) -> Text<'a> {
        Text(text)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The character after a place, and the place after it.
    #[inline]
    pub(super) fn next(&self, place: u32) -> Option<(char, u32)> {
        let byte = *self.0.as_bytes().get(place as usize)?;
        if byte.is_ascii() {
            return Some((char::from(byte), place + 1));
        }
        let character = self.0[place as usize..].chars().next()?;
        Some((character, place + character.len_utf8() as u32))
    }

    /// The character before a place, and the place before it.
    pub(super) fn before(&self, place: u32) -> Option<(char, u32)> {
        let character = self.0[..place as usize].chars().next_back()?;
        Some((character, place - character.len_utf8() as u32))
    }

    #[inline]
    pub(super) fn step(&self, place: u32, back: bool) -> Option<(char, u32)> {
        match back {
            true => self.before(place),
            false => self.next(place),
        }
    }

    /// The first place from one on that a character follows.
    pub(super) fn find(&self, from: u32, character: char) -> Option<u32> {
        self.0[from as usize..].find(character).map(|found| from + found as u32)
    }

    /// The same with a character of a class.
    pub(super) fn find_one_of(&self, from: u32, class: &Class) -> Option<u32> {
        let mut place = from;
        loop {
            match self.next(place)? {
                (character, _) if class.has(character) => return Some(place),
                (_, next) => place = next,
            }
        }
    }

    pub(super) fn holds(&self, assertion: Assertion, place: u32) -> bool {
        let is_word = |it: (char, u32)| it.0.is_ascii_alphanumeric() || it.0 == '_';
        let ends_line = |it: (char, u32)| matches!(it.0, '\n' | '\r' | '\u{2028}' | '\u{2029}');
        let (before, next) = (self.before(place), self.next(place));
        match assertion {
            Assertion::Start => place == 0,
            Assertion::End => next.is_none(),
            Assertion::LineStart => before.is_none_or(ends_line),
            Assertion::LineEnd => next.is_none_or(ends_line),
            Assertion::Boundary => before.is_some_and(is_word) != next.is_some_and(is_word),
            Assertion::NoBoundary => before.is_some_and(is_word) == next.is_some_and(is_word),
        }
    }
}
