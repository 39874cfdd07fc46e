//! What is known to fail: a bit for each step and place.

/// The most bits that are kept, which are 64 MiB.
const MOST_BITS: u64 = 1 << 29;

/// Steps that lead nowhere from certain places.
#[derive(Debug)]
pub(super) struct Memo {
    bits: Vec<u64>,
    width: usize,
}

impl Memo {
    /// Room for so many steps in a text of this length, unless that is too much.
    pub(super) fn new(steps: u32, length: usize) -> Option<Memo> {
        let width = length + 1;
        let bits = u64::from(steps).checked_mul(width as u64).filter(|bits| *bits <= MOST_BITS)?;
        Some(Memo { bits: vec![0; bits as usize / 64 + 1], width })
    }

    pub(super) fn failed(&self, step: u32, place: u32) -> bool {
        let bit = self.bit(step, place);
        self.bits[bit / 64] >> (bit % 64) & 1 == 1
    }

    pub(super) fn fail(&mut self, step: u32, place: u32) {
        let bit = self.bit(step, place);
        self.bits[bit / 64] |= 1 << (bit % 64);
    }

    fn bit(&self, step: u32, place: u32) -> usize {
        step as usize * self.width + place as usize
    }
}
