//! Colours, where they are wanted, and text of a target's as it may be shown.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};

use super::line;

/// Paints, or leaves everything as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    on: bool,
    terminal: bool,
}

impl Paint {
    pub(crate) fn new(on: bool, terminal: bool) -> Self {
        Paint { on, terminal }
    }

    /// Whether anything is painted.
    pub(crate) fn is_on(self) -> bool {
        self.on
    }

    /// Text of the target's: as it is, but for a terminal, which it could
    /// otherwise make do anything.
    pub(crate) fn foreign(self, text: &str) -> Cow<'_, str> {
        match self.terminal {
            true => line::visible(text.as_bytes()).into(),
            false => text.into(),
        }
    }

    /// A heading, or a name to find.
    pub(crate) fn name(self, text: &str) -> String {
        self.with(AnsiColor::Cyan.on_default().bold(), text)
    }

    /// What is beside the point.
    pub(crate) fn aside(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
    }

    /// What went well.
    pub(crate) fn good(self, text: &str) -> String {
        self.with(AnsiColor::Green.on_default(), text)
    }

    /// What went wrong.
    pub(crate) fn bad(self, text: &str) -> String {
        self.with(AnsiColor::Red.on_default().bold(), text)
    }

    /// What is worth a look.
    pub(crate) fn odd(self, text: &str) -> String {
        self.with(AnsiColor::Yellow.on_default().bold(), text)
    }

    fn with(self, style: Style, text: &str) -> String {
        match self.on {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_terminal_is_kept_from_what_a_target_would_do_to_it() {
        let said = "a\u{1b}[2J";
        assert_eq!(Paint::new(true, true).foreign(said), "a\\u001b[2J");
        assert_eq!(Paint::new(true, false).foreign(said), said);
    }
}
