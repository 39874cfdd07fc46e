//! The machine that takes the steps of a program over a text.
//!
//! It tries one way after the other, and goes back where one fails; what it goes
//! back to stands on a stack of its own. Where that takes long, and all that a step
//! leads to follows from the place, it remembers what has failed, so that nothing
//! is tried twice: then it takes a time that grows with the text and not with its
//! square or worse. Everything else is given up after a while.

mod loops;
mod memo;
#[cfg(test)]
mod tests;
mod text;

use crate::fold::fold;
use crate::program::{Peek, Program, Step};
use memo::Memo;
use text::Text;

/// No place.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// How much is done, beside what grows with the text, before failures are
/// remembered.
const SOON: u64 = 50_000;

/// How much is done before it is given up, where they cannot be: this, and so much
/// for each byte of the text, within an end.
const MOST: u64 = 4_000_000;
const EACH: u64 = 2_000;
const MOST_OF_ALL: u64 = 200_000_000;

/// How much is done in any case.
const MOST_EVER: u64 = 2_000_000_000;

/// How much can be gone back to.
const DEEPEST: usize = 8_000_000;

/// It takes too long.
#[derive(Debug)]
pub(crate) struct TooLong;

/// What is done when a way fails.
#[derive(Debug, Clone, Copy)]
enum Frame {
    /// Another way is taken.
    Way { step: u32, place: u32 },
    /// A place that was kept is what it was before.
    Slot { slot: u32, before: u32 },
    /// A loop takes one character less.
    Less { step: u32, least: u32, place: u32 },
    /// A loop takes one character more.
    More { step: u32, place: u32, left: u32 },
    /// All ways from a step have failed.
    Failed { memo: u32, place: u32 },
}

/// A program at work on a text.
pub(crate) struct Machine<'a> {
    program: &'a Program,
    text: Text<'a>,
    stack: Vec<Frame>,
    slots: Vec<u32>,
    /// Whether anybody wants to know where the groups are.
    keeps: bool,
    /// How much may still be done.
    left: u64,
    /// Whether it has done what it was to do at first.
    is_late: bool,
    memo: Option<Memo>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(program: &'a Program, text: &'a str, keeps: bool) -> Machine<'a> {
        let length = text.len() as u64;
        Machine {
            program,
            text: Text::new(text),
            stack: Vec::new(),
            slots: vec![NOWHERE; program.slots as usize],
            keeps: keeps || program.has_references,
            left: if program.is_plain {
                SOON + 16 * length
            } else {
                MOST + (EACH * length).min(MOST_OF_ALL)
            },
            is_late: !program.is_plain,
            memo: None,
        }
    }

    /// Looks for the first match that starts at a place or after it; the slots tell
    /// where it is.
    ///
    /// # Errors
    /// When that takes too long.
    pub(crate) fn find(&mut self, from: usize) -> Result<Option<&[u32]>, TooLong> {
        let Ok(mut place) = u32::try_from(from) else { return Err(TooLong) };
        if self.text.len() >= NOWHERE as usize {
            return Err(TooLong);
        }
        self.forget();
        while let Some(start) = self.next_start(place) {
            match self.run(0, start) {
                Ok(Some(end)) => {
                    (self.slots[0], self.slots[1]) = (start, end);
                    return Ok(Some(&self.slots));
                }
                Ok(None) => match self.text.next(start) {
                    Some((_, next)) => place = next,
                    None => break,
                },
                // Once more from here.
                Err(TooLong) if self.goes_on() => {
                    self.forget();
                    place = start;
                }
                Err(TooLong) => return Err(TooLong),
            }
        }
        Ok(None)
    }

    /// Forgets what was kept. Where no way is left, all of it has been taken back.
    fn forget(&mut self) {
        self.stack.clear();
        self.slots.fill(NOWHERE);
    }

    /// Whether it goes on after what it was to do at first: it does so once, and
    /// remembers from then on what fails, where there is room.
    fn goes_on(&mut self) -> bool {
        if std::mem::replace(&mut self.is_late, true) {
            return false;
        }
        self.memo = Memo::new(self.program.memos, self.text.len());
        let length = self.text.len() as u64 + 1;
        let each = match self.memo {
            // A loop with an end takes its characters anew from each place.
            Some(_) => 32 * (u64::from(self.program.memos) + 4) + 4 * self.program.counted,
            None => EACH,
        };
        self.left = MOST + (each * length).min(MOST_EVER);
        true
    }

    /// The next place at which a match may start.
    fn next_start(&self, from: u32) -> Option<u32> {
        match self.program.peeks[0] {
            Peek::Start => (from == 0).then_some(0),
            Peek::Char(character) => self.text.find(from, character),
            Peek::Class(class) => {
                self.text.find_one_of(from, &self.program.classes[class as usize])
            }
            Peek::Anything | Peek::End => Some(from),
        }
    }

    fn spend(&mut self, much: u64) -> Result<(), TooLong> {
        match self.left.checked_sub(much) {
            Some(left) if self.stack.len() < DEEPEST => {
                self.left = left;
                Ok(())
            }
            _ => Err(TooLong),
        }
    }

    /// Takes steps from one on, up to the end of a match or until no way is left.
    fn run(&mut self, step: u32, place: u32) -> Result<Option<u32>, TooLong> {
        let base = self.stack.len();
        let (mut step, mut place) = (step, place);
        loop {
            self.spend(1)?;
            let next = match self.program.steps[step as usize] {
                Step::Match => return Ok(Some(place)),
                Step::Char { character, back } => match self.text.step(place, back) {
                    Some((found, next)) if found == character => Some((step + 1, next)),
                    _ => None,
                },
                Step::Class { class, back } => match self.text.step(place, back) {
                    Some((found, next)) if self.program.classes[class as usize].has(found) => {
                        Some((step + 1, next))
                    }
                    _ => None,
                },
                Step::Loop(number) => self.enter_loop(step, number, place)?,
                Step::Split { first, second, memo } => self.split(first, second, memo, place),
                Step::Jump(to) => Some((to, place)),
                Step::Save(slot) => {
                    self.keep(slot, place);
                    Some((step + 1, place))
                }
                Step::Clear { from, to } => {
                    if self.keeps {
                        self.spend((to - from).into())?;
                        (from..to).for_each(|slot| self.keep(slot, NOWHERE));
                    }
                    Some((step + 1, place))
                }
                Step::Progress(slot) => {
                    (self.slots[slot as usize] != place).then_some((step + 1, place))
                }
                Step::Assert(assertion) => {
                    self.text.holds(assertion, place).then_some((step + 1, place))
                }
                Step::Reference { group, back, fold } => {
                    self.refer(group, back, fold, place)?.map(|next| (step + 1, next))
                }
                Step::Look { negative, end } => {
                    self.look(step + 1, place, negative)?.then_some((end, place))
                }
            };
            (step, place) = match next {
                Some(next) => next,
                None => match self.go_back(base)? {
                    Some(next) => next,
                    None => return Ok(None),
                },
            };
        }
    }

    /// The way that is left, where there is one above a height of the stack.
    fn go_back(&mut self, base: usize) -> Result<Option<(u32, u32)>, TooLong> {
        while self.stack.len() > base {
            let Some(frame) = self.stack.pop() else { break };
            self.spend(1)?;
            match frame {
                Frame::Way { step, place } => return Ok(Some((step, place))),
                Frame::Slot { slot, before } => self.slots[slot as usize] = before,
                Frame::Failed { memo, place } => self.remember(memo, place),
                Frame::Less { step, least, place } => {
                    if let Some(next) = self.take_less(step, least, place)? {
                        return Ok(Some(next));
                    }
                }
                Frame::More { step, place, left } => {
                    if let Some(next) = self.take_more(step, place, left) {
                        return Ok(Some(next));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Takes the first of two ways that may lead anywhere, and keeps the other for
    /// later where it may too.
    fn split(&mut self, first: u32, second: u32, memo: u32, place: u32) -> Option<(u32, u32)> {
        if self.has_failed(memo, place) {
            return None;
        }
        self.note(memo, place);
        match (self.may_lead(first, place), self.may_lead(second, place)) {
            (true, true) => {
                self.stack.push(Frame::Way { step: second, place });
                Some((first, place))
            }
            (true, false) => Some((first, place)),
            (false, true) => Some((second, place)),
            (false, false) => None,
        }
    }

    /// Whether what follows a place is what a step wants to see.
    fn may_lead(&self, step: u32, place: u32) -> bool {
        match self.program.peeks[step as usize] {
            Peek::Anything => true,
            Peek::Start => place == 0,
            Peek::End => place as usize == self.text.len(),
            Peek::Char(character) => self.text.next(place).is_some_and(|(it, _)| it == character),
            Peek::Class(class) => {
                let class = &self.program.classes[class as usize];
                self.text.next(place).is_some_and(|(it, _)| class.has(it))
            }
        }
    }

    /// Keeps a place, where somebody looks at it later.
    fn keep(&mut self, slot: u32, place: u32) {
        if slot < self.program.group_slots && !self.keeps {
            return;
        }
        let before = std::mem::replace(&mut self.slots[slot as usize], place);
        self.stack.push(Frame::Slot { slot, before });
    }

    fn look(&mut self, step: u32, place: u32, negative: bool) -> Result<bool, TooLong> {
        let base = self.stack.len();
        let found = self.run(step, place)?.is_some();
        // What was found is not looked for again, but its groups are as they were
        // when what comes after it fails, or at once where it should not be there.
        let mut kept = base;
        for index in base..self.stack.len() {
            if let Frame::Slot { .. } = self.stack[index] {
                self.stack[kept] = self.stack[index];
                kept += 1;
            }
        }
        self.stack.truncate(kept);
        if found && negative {
            self.go_back(base)?;
        }
        Ok(found != negative)
    }

    /// The place after what a group has matched, where that is here too. A group
    /// that has matched nothing is empty.
    fn refer(
        &mut self,
        group: u32,
        back: bool,
        in_any_case: bool,
        place: u32,
    ) -> Result<Option<u32>, TooLong> {
        let (start, end) = (self.slots[group as usize * 2], self.slots[group as usize * 2 + 1]);
        if start == NOWHERE || end == NOWHERE {
            return Ok(Some(place));
        }
        self.spend((end - start).into())?;
        let (mut from, mut at) = (if back { end } else { start }, place);
        while from != if back { start } else { end } {
            let (Some((wanted, next)), Some((found, after))) =
                (self.text.step(from, back), self.text.step(at, back))
            else {
                return Ok(None);
            };
            if wanted != found && !(in_any_case && fold(wanted) == fold(found)) {
                return Ok(None);
            }
            (from, at) = (next, after);
        }
        Ok(Some(at))
    }

    fn has_failed(&self, memo: u32, place: u32) -> bool {
        self.memo.as_ref().is_some_and(|it| it.failed(memo, place))
    }

    fn remember(&mut self, memo: u32, place: u32) {
        if let Some(it) = &mut self.memo {
            it.fail(memo, place);
        }
    }

    /// Remembers a step once all that follows has failed. Not before: within a
    /// repetition of a repetition it may be come to again meanwhile.
    fn note(&mut self, memo: u32, place: u32) {
        if self.memo.is_some() {
            self.stack.push(Frame::Failed { memo, place });
        }
    }
}
