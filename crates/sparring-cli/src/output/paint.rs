//! Colours, where they are wanted.

use anstyle::{AnsiColor, Style};

/// Paints, or leaves everything as it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paint(bool);

impl Paint {
    pub(crate) fn new(on: bool) -> Self {
        Paint(on)
    }

    /// A heading, or a name to find.
    pub(crate) fn name(self, text: &str) -> String {
        self.with(AnsiColor::Cyan.on_default().bold(), text)
    }

    /// What is beside the point.
    pub(crate) fn aside(self, text: &str) -> String {
        self.with(Style::new().dimmed(), text)
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
        match self.0 {
            true => format!("{style}{text}{style:#}"),
            false => text.to_owned(),
        }
    }
}
