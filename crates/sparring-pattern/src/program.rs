//! A pattern as steps that a machine takes.

use crate::class::Class;
use crate::tree::Assertion;

/// One step; where it does not say, the next one follows.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Step {
    /// A character, after the place or before it.
    Char {
        character: char,
        back: bool,
    },
    /// A character of a class.
    Class {
        class: u32,
        back: bool,
    },
    /// Characters of a class, as many as there are.
    Loop(u32),
    /// The first of two ways that leads to a match. The last is its number among
    /// the steps at which failures are remembered.
    Split {
        first: u32,
        second: u32,
        memo: u32,
    },
    Jump(u32),
    /// Keeps the place.
    Save(u32),
    /// Forgets the places from one to another.
    Clear {
        from: u32,
        to: u32,
    },
    /// Refuses a round that began here too.
    Progress(u32),
    Assert(Assertion),
    Reference {
        group: u32,
        back: bool,
        fold: bool,
    },
    /// What follows, up to its own end, must match here or must not; then it goes
    /// on after that end.
    Look {
        negative: bool,
        end: u32,
    },
    Match,
}

/// A single character that is repeated.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Loop {
    pub(crate) class: u32,
    pub(crate) least: u32,
    /// How many more there may be; none is without an end.
    pub(crate) more: Option<u32>,
    pub(crate) greedy: bool,
    pub(crate) back: bool,
    pub(crate) memo: u32,
}

/// What must be at a place for a step to lead anywhere.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Peek {
    Anything,
    Start,
    End,
    Char(char),
    Class(u32),
}

/// All steps, and what they refer to.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    pub(crate) steps: Vec<Step>,
    pub(crate) classes: Vec<Class>,
    pub(crate) loops: Vec<Loop>,
    /// What each step wants to see.
    pub(crate) peeks: Vec<Peek>,
    /// How many places are kept of groups, two of each.
    pub(crate) group_slots: u32,
    /// How many there are with the starts of rounds.
    pub(crate) slots: u32,
    /// At how many steps failures can be remembered.
    pub(crate) memos: u32,
    /// How many characters all loops together take at most, those without an end
    /// left out.
    pub(crate) counted: u64,
    /// Whether all that a step leads to follows from the place.
    pub(crate) is_plain: bool,
    pub(crate) has_references: bool,
}

impl Program {
    /// Finds out what each step wants to see.
    pub(crate) fn look_ahead(&mut self) {
        self.peeks = (0..self.steps.len()).map(|step| self.peek(step)).collect();
    }

    fn peek(&self, mut step: usize) -> Peek {
        // What takes no character asks nothing of the next one. As many as this are
        // before it rarely.
        for _ in 0..16 {
            step = match self.steps[step] {
                Step::Save(_) | Step::Clear { .. } | Step::Progress(_) => step + 1,
                Step::Jump(to) => to as usize,
                Step::Look { end, .. } => end as usize,
                Step::Assert(Assertion::Start) => return Peek::Start,
                Step::Assert(Assertion::End) => return Peek::End,
                Step::Assert(_) => step + 1,
                Step::Char { character, back: false } => return Peek::Char(character),
                Step::Class { class, back: false } => return Peek::Class(class),
                Step::Loop(number) => match self.loops[number as usize] {
                    Loop { class, least: 1.., back: false, .. } => return Peek::Class(class),
                    _ => return Peek::Anything,
                },
                _ => return Peek::Anything,
            };
        }
        Peek::Anything
    }
}
