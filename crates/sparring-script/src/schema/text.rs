//! Writes values and errors of others within a limit, however long they are.

use std::fmt::{self, Display, Write};

use serde_json::Value;

/// The most characters of a value that a message shows.
pub(super) const MAX_SHOWN: usize = 120;

/// A text that takes no more than so many characters, and then refuses.
struct Bounded {
    text: String,
    room: usize,
}

impl Write for Bounded {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        for character in part.chars() {
            self.room = self.room.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}

/// The beginning of what is displayed; the rest is not even written.
pub(super) fn display(what: &dyn Display, max: usize) -> String {
    let mut bounded = Bounded { text: String::new(), room: max };
    match write!(bounded, "{what}") {
        Ok(()) => bounded.text,
        Err(_) => bounded.text + "…",
    }
}

/// A value as JSON, cut where it is long.
pub(super) fn value(value: &Value) -> String {
    display(value, MAX_SHOWN)
}

/// The beginning of a text.
pub(super) fn shorten(text: &str, max: usize) -> String {
    display(&text, max)
}
