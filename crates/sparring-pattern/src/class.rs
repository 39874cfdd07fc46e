//! Sets of characters.

use crate::fold;
use crate::property::Property;

/// The characters that are no ordinary ones to `.`.
pub(crate) const LINE_ENDS: [(u32, u32); 3] = [(0xA, 0xA), (0xD, 0xD), (0x2028, 0x2029)];

/// `\d`
pub(crate) const DIGITS: [(u32, u32); 1] = [(0x30, 0x39)];

/// `\w`
pub(crate) const WORD: [(u32, u32); 4] = [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];

/// `\s`, as ECMA-262 has it.
pub(crate) const SPACE: [(u32, u32); 10] = [
    (0x9, 0xD),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];

const LAST: u32 = char::MAX as u32;

/// A set of characters.
#[derive(Debug, Clone, Default)]
pub(crate) struct Class {
    /// Which characters of ASCII are in it, all else considered.
    ascii: u128,
    ranges: Vec<(u32, u32)>,
    /// Properties, and whether they are what a character must not have.
    properties: Vec<(Property, bool)>,
    negated: bool,
    /// Whether a character stands for what differs from it in case only.
    fold: bool,
}

impl Class {
    pub(crate) fn new(fold: bool) -> Class {
        Class { fold, ..Class::default() }
    }

    /// One character, in any case.
    pub(crate) fn folded(character: char) -> Class {
        let mut class = Class::new(true);
        class.add(character as u32, character as u32);
        class.done(false)
    }

    /// How many ranges it has.
    pub(crate) fn len(&self) -> u64 {
        self.ranges.len() as u64
    }

    /// All but the characters in these ranges.
    pub(crate) fn but(ranges: &[(u32, u32)]) -> Class {
        let mut class = Class::new(false);
        class.add_all(ranges);
        class.done(true)
    }

    pub(crate) fn add(&mut self, first: u32, last: u32) {
        self.ranges.push((first, last));
    }

    pub(crate) fn add_all(&mut self, ranges: &[(u32, u32)]) {
        self.ranges.extend(ranges);
    }

    /// Adds all that is not in these ranges, which are in order and begin above zero.
    /// Where case is nothing, two more characters are those of words.
    pub(crate) fn add_but(&mut self, ranges: &[(u32, u32)]) {
        let mut ranges = ranges.to_vec();
        if self.fold && ranges == WORD {
            ranges.extend([(0x17F, 0x17F), (0x212A, 0x212A)]);
        }
        let mut next = 0;
        for (first, last) in ranges {
            self.ranges.push((next, first - 1));
            next = last + 1;
        }
        self.ranges.push((next, LAST));
    }

    pub(crate) fn add_property(&mut self, property: Property, negated: bool) {
        self.properties.push((property, negated));
    }

    /// Adds all that is in another set, which is not done yet either.
    pub(crate) fn merge(&mut self, other: Class) {
        self.ranges.extend(other.ranges);
        self.properties.extend(other.properties);
    }

    /// The set as it is to be used, or all that is not in it.
    pub(crate) fn done(mut self, negated: bool) -> Class {
        self.negated = negated;
        self.ranges.sort_unstable();
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(self.ranges.len());
        for (first, last) in self.ranges {
            match merged.last_mut() {
                Some(before) if first <= before.1.saturating_add(1) => {
                    before.1 = before.1.max(last);
                }
                _ => merged.push((first, last)),
            }
        }
        self.ranges = merged;
        for code in 0..128_u8 {
            self.ascii |= u128::from(self.looked_up(char::from(code))) << code;
        }
        self
    }

    #[inline]
    pub(crate) fn has(&self, character: char) -> bool {
        match character.is_ascii() {
            true => self.ascii >> (character as u32) & 1 == 1,
            false => self.looked_up(character),
        }
    }

    fn looked_up(&self, character: char) -> bool {
        let found = self.lists(character)
            || self.fold && fold::alike(character).any(|other| self.lists(other));
        found != self.negated
    }

    fn lists(&self, character: char) -> bool {
        let code = character as u32;
        let after = self.ranges.partition_point(|(first, _)| *first <= code);
        after > 0 && code <= self.ranges[after - 1].1
            || self.properties.iter().any(|(property, negated)| property.has(character) != *negated)
    }
}
