//! What a match and its groups are in a text.

use std::ops::Range;

use crate::machine::NOWHERE;

/// A match with its groups.
#[derive(Debug, Clone)]
pub struct Captures<'p, 't> {
    text: &'t str,
    names: &'p [(String, usize)],
    slots: Vec<u32>,
}

impl<'p, 't> Captures<'p, 't> {
    pub(crate) fn new(text: &'t str, names: &'p [(String, usize)], slots: &[u32]) -> Self {
        Captures { text, names, slots: slots.to_vec() }
    }

    /// What a group has matched, by its number; zero is the whole.
    pub fn get(&self, number: usize) -> Option<&'t str> {
        Some(&self.text[self.range(number)?])
    }

    /// What a group has matched, by its name.
    pub fn name(&self, name: &str) -> Option<&'t str> {
        let (_, number) = self.names.iter().find(|(known, _)| known == name)?;
        self.get(*number)
    }

    /// Where a group has matched, in bytes.
    pub fn range(&self, number: usize) -> Option<Range<usize>> {
        let (start, end) = (*self.slots.get(2 * number)?, *self.slots.get(2 * number + 1)?);
        (start != NOWHERE && end != NOWHERE).then_some(start as usize..end as usize)
    }

    /// The whole match.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.slots[0] as usize..self.slots[1] as usize
    }
}
