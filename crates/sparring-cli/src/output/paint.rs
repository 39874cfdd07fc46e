//! Colours text if enabled, and escapes text of a target for a terminal.

use std::borrow::Cow;

use anstyle::{AnsiColor, Style};

use super::text_cleaner::clean_text;

/// Colours text, or returns it unchanged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint {
    enabled: bool,
    terminal: bool,
}

impl Paint {
    pub(crate) fn new(enabled: bool, terminal: bool) -> Self {
        Paint { enabled, terminal }
    }

    /// Leaves text of a target unchanged.
    pub(crate) fn for_programs(self) -> Paint {
        Paint { terminal: false, ..self }
    }

    /// Returns true if colours are enabled.
    pub(crate) fn is_enabled(self) -> bool {
        self.enabled
    }

    /// Text of a target: unchanged, or escaped for a terminal, which control characters
    /// could manipulate.
    pub(crate) fn untrusted(self, text: &str) -> Cow<'_, str> {
        match self.terminal {
            true => clean_text(text, false).into(),
            false => text.into(),
        }
    }

    /// A heading or a name.
    pub(crate) fn heading(self, text: &str) -> String {
        self.apply(AnsiColor::Cyan.on_default().bold(), text)
    }

    /// Less important text.
    pub(crate) fn dim(self, text: &str) -> String {
        self.apply(Style::new().dimmed(), text)
    }

    /// A success.
    pub(crate) fn success(self, text: &str) -> String {
        self.apply(AnsiColor::Green.on_default(), text)
    }

    /// An error.
    pub(crate) fn error(self, text: &str) -> String {
        self.apply(AnsiColor::Red.on_default().bold(), text)
    }

    /// A warning.
    pub(crate) fn warning(self, text: &str) -> String {
        self.apply(AnsiColor::Yellow.on_default().bold(), text)
    }

    fn apply(self, style: Style, text: &str) -> String {
        match self.enabled {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_text_of_a_target_only_for_a_terminal() {
        let text = "a\u{1b}[2J";
        assert_eq!(Paint::new(true, true).untrusted(text), "a\\u001b[2J");
        assert_eq!(Paint::new(true, false).untrusted(text), text);
    }
}
