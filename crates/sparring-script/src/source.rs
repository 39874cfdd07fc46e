//! Source texts with a name, and positions in them.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A user's text and its name. Cheap to clone.
#[derive(Clone, PartialEq, Eq)]
pub struct Source {
    name: Arc<str>,
    text: Arc<str>,
}

/// A range of bytes in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last one.
    pub end: usize,
}

/// A line and a column, both counted from 1. Columns count characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The character in the line.
    pub column: usize,
}

impl Source {
    /// Creates a source from the name of a file and its text.
    pub fn new(name: impl Into<Arc<str>>, text: impl Into<Arc<str>>) -> Self {
        Source { name: name.into(), text: text.into() }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the line and column of a byte.
    pub fn position(&self, byte: usize) -> Position {
        let before = &self.text[..floor_char_boundary(&self.text, byte)];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        Position {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        }
    }

    /// Returns the start of a span as `file:line:column`.
    pub fn location(&self, span: Span) -> String {
        format!("{}:{}", self.name, self.position(span.start))
    }

    /// Returns the span as a range within the text. An empty span is widened to one
    /// character, unless it is at the end of a line or of the text.
    pub(crate) fn highlight_range(&self, span: Span) -> Range<usize> {
        let start = floor_char_boundary(&self.text, span.start);
        let end = floor_char_boundary(&self.text, span.end.max(start));
        match self.text[start..].chars().next() {
            Some(first) if end == start && first != '\n' => start..start + first.len_utf8(),
            _ => start..end,
        }
    }
}

/// Shows only the name: the text may contain secrets.
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

/// Returns the nearest character boundary at or before `byte`.
fn floor_char_boundary(text: &str, byte: usize) -> usize {
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
    fn positions_count_lines_and_characters() {
        let source = Source::new("a.yaml", "one\nzwölf: x\n");
        let at = |start| source.location(Span { start, end: start });
        assert_eq!(at(0), "a.yaml:1:1");
        assert_eq!(at(4), "a.yaml:2:1");
        assert_eq!(at(4 + "zwölf: ".len()), "a.yaml:2:8");
        assert_eq!(at(10_000), "a.yaml:3:1");
    }
}
