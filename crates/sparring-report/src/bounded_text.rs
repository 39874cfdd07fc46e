//! A text with a size limit.

/// The bytes that are reserved for the line that counts the omitted pieces.
const REST_LINE_BYTES: usize = 200;

/// A text with a size limit. Each piece is added completely or not at all.
pub(crate) struct BoundedText {
    text: String,
    max_bytes: usize,
}

impl BoundedText {
    pub(crate) fn new(max_bytes: usize) -> Self {
        BoundedText { text: String::new(), max_bytes }
    }

    /// Adds a piece if the text then has at most `limit` bytes. Returns true if it was added.
    pub(crate) fn add(&mut self, piece: &str, limit: usize) -> bool {
        let fits = self.text.len() + piece.len() <= limit.min(self.max_bytes);
        if fits {
            self.text.push_str(piece);
        }
        fits
    }

    /// Adds pieces while they take at most `share` bytes together. If some do not fit, adds
    /// `rest` with their number.
    pub(crate) fn add_all(
        &mut self,
        pieces: impl ExactSizeIterator<Item = String>,
        share: usize,
        rest: impl Fn(usize) -> String,
    ) {
        let limit = (self.text.len() + share).min(self.max_bytes.saturating_sub(REST_LINE_BYTES));
        let all = pieces.len();
        let added = pieces.take_while(|piece| self.add(piece, limit)).count();
        if added < all {
            let rest = rest(all - added);
            debug_assert!(rest.len() <= REST_LINE_BYTES, "{rest}");
            self.add(&rest, self.max_bytes);
        }
    }

    /// Renders each item and adds it if the text then has at most `limit` bytes. Returns the
    /// items that did not fit. Items are not rendered if fewer than `min_room` bytes are left.
    pub(crate) fn add_fitting<'a, T>(
        &mut self,
        items: &'a [T],
        limit: usize,
        min_room: usize,
        render: impl Fn(&T) -> String,
    ) -> Vec<&'a T> {
        let mut left = Vec::new();
        for item in items {
            if self.len() + min_room > limit || !self.add(&render(item), limit) {
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
    fn a_big_piece_does_not_exclude_small_ones() {
        let mut text = BoundedText::new(1_000);
        let items = ["one ", "very big ", "two ", "three "];
        let left = text.add_fitting(&items, 10, 3, |it| (*it).to_owned());
        assert_eq!(left, [&"very big ", &"three "]);
        assert_eq!(text.into_text(), "one two ");
    }

    #[test]
    fn pieces_that_do_not_fit_are_counted() {
        let mut text = BoundedText::new(1_000);
        let pieces = ["one ", "two ", "three "].map(str::to_owned);
        text.add_all(pieces.clone().into_iter(), 8, |left| format!("and {left} more"));
        assert_eq!(text.into_text(), "one two and 1 more");
        let mut text = BoundedText::new(1_000);
        text.add_all(pieces.into_iter(), 100, |left| format!("and {left} more"));
        assert_eq!(text.into_text(), "one two three ");
    }
}
