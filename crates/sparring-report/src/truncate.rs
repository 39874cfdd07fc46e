//! Truncates long texts and states the number of omitted bytes or lines.

use std::borrow::Cow;

use crate::{format, sanitize};

/// Returns the start of a text in one line, with invisible characters escaped.
pub(crate) fn one_line(text: &str, max_bytes: usize) -> String {
    with_omission(sanitize::escape_prefix(text.trim_end_matches(['\r', '\n']), max_bytes, true))
}

/// Returns the start of one line of a text, with invisible characters but tabs escaped.
fn line_start(line: &str, max_bytes: usize) -> String {
    with_omission(sanitize::escape_prefix(line, max_bytes, false))
}

fn with_omission((text, omitted): (String, usize)) -> String {
    match omitted {
        0 => text,
        _ => format!("{text} [{omitted} bytes omitted]"),
    }
}

/// Returns the end of a text.
pub(crate) fn end(text: &str, max_bytes: usize) -> Cow<'_, str> {
    if text.len() <= max_bytes {
        return Cow::Borrowed(text);
    }
    let from = text.len() - max_bytes;
    let at = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    Cow::Owned(format!("[{at} bytes omitted] {}", &text[at..]))
}

/// Returns the first lines of a text, with each line truncated.
pub(crate) fn first_lines(text: &str, max_lines: usize, max_line_bytes: usize) -> Vec<String> {
    let mut lines: Vec<String> =
        text.lines().take(max_lines).map(|line| line_start(line, max_line_bytes)).collect();
    let omitted = text.lines().count() - lines.len();
    if omitted > 0 {
        lines.push(format!("[{} omitted]", format::count(omitted, "line")));
    }
    lines
}

/// Returns the last lines of a text, with each line truncated.
pub(crate) fn last_lines(text: &str, max_lines: usize, max_line_bytes: usize) -> Vec<String> {
    let text = text.trim_end();
    let omitted = text.lines().count().saturating_sub(max_lines);
    let note = (omitted > 0).then(|| format!("[{} omitted]", format::count(omitted, "line")));
    let lines = text.lines().skip(omitted).map(|line| line_start(line, max_line_bytes));
    note.into_iter().chain(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters_and_count_the_omitted_bytes() {
        assert_eq!(one_line("aé\n", 2), "a [2 bytes omitted]");
        assert_eq!(one_line("aé\n", 3), "aé");
        assert_eq!(end("éa", 2), "[2 bytes omitted] a");
        assert_eq!(end("éa", 0), "[3 bytes omitted] ");
        assert_eq!(one_line("", 0), "");
    }

    #[test]
    fn lines_are_counted_from_either_end() {
        assert_eq!(first_lines("a\nb\nc\n", 1, 9), ["a", "[2 lines omitted]"]);
        assert_eq!(last_lines("a\nb\nc\n\n", 2, 9), ["[1 line omitted]", "b", "c"]);
        assert_eq!(last_lines("", 2, 9), [""; 0]);
    }
}
