//! Truncates texts and values for messages.

use std::fmt::{self, Display, Write};

use serde_json::Value;

/// The maximum length of a value in a message, in characters.
pub(crate) const MAX_VALUE_CHARS: usize = 120;

/// A text buffer with a limit. Writing beyond the limit fails.
struct LimitedBuffer {
    text: String,
    remaining: usize,
}

impl Write for LimitedBuffer {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for character in part.chars() {
            self.remaining = self.remaining.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}

/// Formats a value up to `max_chars` characters. A longer one is cut and ends with `…`; the
/// rest of it is never formatted.
pub(crate) fn truncate_display(value: &dyn Display, max_chars: usize) -> String {
    let mut buffer = LimitedBuffer { text: String::new(), remaining: max_chars };
    match write!(buffer, "{value}") {
        Ok(()) => buffer.text,
        Err(_) => buffer.text + "…",
    }
}

/// Formats a value as JSON of at most [`MAX_VALUE_CHARS`] characters.
pub(crate) fn truncate_json(value: &Value) -> String {
    truncate_display(value, MAX_VALUE_CHARS)
}

/// Cuts a text to at most `max_chars` characters.
pub(crate) fn truncate(text: &str, max_chars: usize) -> String {
    truncate_display(&text, max_chars)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        assert_eq!(truncate("aéi", 3), "aéi");
        assert_eq!(truncate("aéi", 2), "aé…");
        assert_eq!(truncate("", 0), "");
    }
}
