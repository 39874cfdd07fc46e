//! A text that is put together of pieces and does not grow beyond a limit.

/// What a line that counts the rest may take.
const REST: usize = 200;

/// A text with a limit. A piece is in it whole or not at all.
pub(crate) struct Bounded {
    text: String,
    most: usize,
}

impl Bounded {
    pub(crate) fn new(most: usize) -> Self {
        Bounded { text: String::new(), most }
    }

    /// Adds a piece if the text does not grow beyond `limit` by it.
    pub(crate) fn add(&mut self, piece: &str, limit: usize) -> bool {
        let fits = self.text.len() + piece.len() <= limit.min(self.most);
        if fits {
            self.text.push_str(piece);
        }
        fits
    }

    /// Adds pieces for as long as they take no more than `share` together, and a
    /// last one that says how many there are besides.
    pub(crate) fn add_all(
        &mut self,
        pieces: impl ExactSizeIterator<Item = String>,
        share: usize,
        rest: impl Fn(usize) -> String,
    ) {
        let limit = (self.text.len() + share).min(self.most.saturating_sub(REST));
        let all = pieces.len();
        let fitting = pieces.take_while(|piece| self.add(piece, limit)).count();
        if fitting < all {
            let rest = rest(all - fitting);
            debug_assert!(rest.len() <= REST, "{rest}");
            self.add(&rest, self.most);
        }
    }

    /// Adds what is made of each item if the text does not grow beyond `limit` by
    /// it, and gives the items that did not fit. With less room than `least` no
    /// more are tried.
    pub(crate) fn add_fitting<'a, T>(
        &mut self,
        items: &'a [T],
        limit: usize,
        least: usize,
        made: impl Fn(&T) -> String,
    ) -> Vec<&'a T> {
        let mut left = Vec::new();
        for item in items {
            if self.len() + least > limit || !self.add(&made(item), limit) {
                left.push(item);
            }
        }
        left
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_big_piece_does_not_keep_small_ones_out() {
        let mut text = Bounded::new(1_000);
        let items = ["one ", "very big ", "two ", "three "];
        let left = text.add_fitting(&items, 10, 3, |it| (*it).to_owned());
        assert_eq!(left, [&"very big ", &"three "]);
        assert_eq!(text.into_text(), "one two ");
    }

    #[test]
    fn pieces_that_do_not_fit_are_counted() {
        let mut text = Bounded::new(1_000);
        let pieces = ["one ", "two ", "three "].map(str::to_owned);
        text.add_all(pieces.clone().into_iter(), 8, |left| format!("and {left} more"));
        assert_eq!(text.into_text(), "one two and 1 more");
        let mut text = Bounded::new(1_000);
        text.add_all(pieces.into_iter(), 100, |left| format!("and {left} more"));
        assert_eq!(text.into_text(), "one two three ");
    }
}
