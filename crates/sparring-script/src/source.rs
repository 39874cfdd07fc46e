//! A text with a name, and places in it.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// What a user wrote, and what it is called. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
}

/// A part of a text, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// A place as a person counts it: both from 1, columns in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in it.
    pub column: usize,
}

impl Source {
    /// A text under the name of its file.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Source { name: name.into(), text: text.into() }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What stands in it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Where a byte stands.
    pub fn position(&self, byte: usize) -> Position {
        let before = &self.text[..floor(&self.text, byte)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// `file:line:column` of where a span begins.
    pub fn place(&self, span: Span) -> String {
        format!("{}:{}", self.name, self.position(span.start))
    }

    /// The span as a range that lies within the text, never empty where there
    /// is something to point at.
    pub(crate) fn range(&self, span: Span) -> Range<usize> {
        let start = floor(&self.text, span.start);
        let end = floor(&self.text, span.end.max(start));
        match self.text[start..].chars().next() {
            Some(first) if end == start && first != '\n' => start..start + first.len_utf8(),
            _ => start..end,
        }
    }
}

/// Says what it is called; what it says may have secrets.
impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Source").field(&self.name).finish()
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// The nearest place at or before `byte` where a character begins.
fn floor(text: &str, byte: usize) -> usize {
    let mut at = byte.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_lines_and_characters() {
        let source = Source::new("a.yaml", "one\nzwölf: x\n");
        let at = |start| source.place(Span { start, end: start });
        assert_eq!(at(0), "a.yaml:1:1");
        assert_eq!(at(4), "a.yaml:2:1");
        assert_eq!(at(4 + "zwölf: ".len()), "a.yaml:2:8");
        assert_eq!(at(10_000), "a.yaml:3:1");
    }
}
