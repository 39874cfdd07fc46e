//! Single characters that are repeated.

use super::{Frame, Machine, TooLong};
use crate::program::{Loop, Step};

impl Machine<'_> {
    /// Takes what must be there, then what may be there or as little as possible.
    pub(super) fn enter_loop(
        &mut self,
        step: u32,
        number: u32,
        place: u32,
    ) -> Result<Option<(u32, u32)>, TooLong> {
        let it = self.program.loops[number as usize];
        // How far one with an end may go depends on where it began.
        if it.more.is_some_and(|more| more > 0) {
            if self.has_failed(it.memo, place) {
                return Ok(None);
            }
            self.note(it.memo, place);
        }
        let Some(least) = self.take(it, place, it.least)? else { return Ok(None) };
        match it.more {
            Some(0) => Ok(Some((step + 1, least))),
            None if self.has_failed(it.memo, least) => Ok(None),
            _ if it.greedy => {
                let most = self.take_all(it, least)?;
                if most != least || self.is_remembered(it) {
                    self.stack.push(Frame::Less { step, least, place: most });
                }
                Ok(Some((step + 1, most)))
            }
            more => Ok(self.leave(it, step, least, more.unwrap_or(u32::MAX))),
        }
    }

    /// Takes exactly so many characters.
    fn take(&mut self, it: Loop, mut place: u32, many: u32) -> Result<Option<u32>, TooLong> {
        let class = &self.program.classes[it.class as usize];
        for taken in 0..many {
            match self.text.step(place, it.back) {
                Some((found, next)) if class.has(found) => place = next,
                _ => {
                    self.spend(taken.into())?;
                    return Ok(None);
                }
            }
        }
        self.spend(many.into())?;
        Ok(Some(place))
    }

    /// Takes all characters that may be taken.
    fn take_all(&mut self, it: Loop, mut place: u32) -> Result<u32, TooLong> {
        let class = &self.program.classes[it.class as usize];
        let most = it.more.unwrap_or(u32::MAX);
        let remembered = self.is_remembered(it);
        let mut taken = 0;
        while taken < most {
            match self.text.step(place, it.back) {
                Some((found, next)) if class.has(found) => {
                    // From there on all is known to fail.
                    if remembered && self.has_failed(it.memo, next) {
                        break;
                    }
                    place = next;
                }
                _ => break,
            }
            taken += 1;
        }
        self.spend(taken.into())?;
        Ok(place)
    }

    /// Takes one character less, and more than that less where what follows could
    /// not be there.
    pub(super) fn take_less(
        &mut self,
        step: u32,
        least: u32,
        mut place: u32,
    ) -> Result<Option<(u32, u32)>, TooLong> {
        let Step::Loop(number) = self.program.steps[step as usize] else { return Ok(None) };
        let it = self.program.loops[number as usize];
        let remembered = self.is_remembered(it);
        let mut given_back = 0;
        loop {
            if remembered {
                self.remember(it.memo, place);
            }
            if place == least {
                self.spend(given_back)?;
                return Ok(None);
            }
            let Some((_, next)) = self.text.step(place, !it.back) else { return Ok(None) };
            place = next;
            given_back += 1;
            if self.may_lead(step + 1, place) {
                break;
            }
        }
        if place != least || remembered {
            self.stack.push(Frame::Less { step, least, place });
        }
        self.spend(given_back)?;
        Ok(Some((step + 1, place)))
    }

    /// Takes one character more.
    pub(super) fn take_more(&mut self, step: u32, place: u32, left: u32) -> Option<(u32, u32)> {
        let Step::Loop(number) = self.program.steps[step as usize] else { return None };
        let it = self.program.loops[number as usize];
        let class = &self.program.classes[it.class as usize];
        let (_, next) = self.text.step(place, it.back).filter(|(found, _)| class.has(*found))?;
        let left = if it.more.is_some() { left - 1 } else { left };
        match it.more {
            None if self.has_failed(it.memo, next) => None,
            _ => self.leave(it, step, next, left),
        }
    }

    /// Leaves a loop that takes as little as possible, which may take more later.
    fn leave(&mut self, it: Loop, step: u32, place: u32, left: u32) -> Option<(u32, u32)> {
        if it.more.is_none() {
            self.note(it.memo, place);
        }
        if left > 0 {
            self.stack.push(Frame::More { step, place, left });
        }
        Some((step + 1, place))
    }

    /// Whether failures are remembered for every place within the loop.
    fn is_remembered(&self, it: Loop) -> bool {
        self.memo.is_some() && it.more.is_none()
    }
}
