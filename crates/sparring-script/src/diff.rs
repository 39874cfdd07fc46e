//! Compares two texts line by line.
//!
//! `similar` does the comparison. This module limits its time, the number of equal lines
//! around a change, and the number and length of the rendered lines.

use std::borrow::Cow;
use std::time::Duration;

use similar::{DiffTag, TextDiff, TextDiffConfig};

use crate::truncate::truncate;

/// The number of equal lines that are shown around a changed one.
const CONTEXT_LINES: usize = 3;

/// The number of rendered lines, and the longest one in characters. Texts may come from a
/// server.
const MAX_LINES: usize = 400;
const MAX_LINE_CHARS: usize = 2_000;

/// The time for finding the shortest diff. After it the diff may be longer than necessary,
/// but is still correct.
const DIFF_TIMEOUT: Duration = Duration::from_secs(1);

/// A line of a diff, with its line break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffLine<'a> {
    /// Equal lines that are far from every changed one.
    Omitted,
    /// A line of both texts.
    Same(&'a str),
    /// A line of the old text only.
    Removed(&'a str),
    /// A line of the new text only.
    Added(&'a str),
}

/// Compares two texts line by line. The result is empty if they are equal.
pub(crate) fn diff_lines<'a>(old: &'a str, new: &'a str) -> Vec<DiffLine<'a>> {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let new: Vec<&str> = new.split_inclusive('\n').collect();
    let mut lines = Vec::new();
    let mut covered = 0;
    for group in config().diff_slices(&old, &new).grouped_ops(CONTEXT_LINES) {
        if group.first().is_some_and(|op| op.old_range().start > covered) {
            lines.push(DiffLine::Omitted);
        }
        for op in group {
            covered = op.old_range().end;
            let (removed, added) = (&old[op.old_range()], &new[op.new_range()]);
            match op.tag() {
                DiffTag::Equal => lines.extend(removed.iter().map(|line| DiffLine::Same(line))),
                _ => {
                    lines.extend(removed.iter().map(|line| DiffLine::Removed(line)));
                    lines.extend(added.iter().map(|line| DiffLine::Added(line)));
                }
            }
        }
    }
    if !lines.is_empty() && covered < old.len() {
        lines.push(DiffLine::Omitted);
    }
    lines
}

/// Compares two texts line by line, and renders the lines of the diff that the limits allow.
/// `render` gets each line cut to its limit.
pub fn render_diff_lines(
    old: &str,
    new: &str,
    render: impl Fn(DiffLine<'_>) -> String,
    indent: &str,
) -> String {
    let lines = diff_lines(old, new);
    let more = lines.len().saturating_sub(MAX_LINES);
    let mut rendered: Vec<String> = lines
        .iter()
        .take(MAX_LINES)
        .map(|line| match line {
            DiffLine::Omitted => render(DiffLine::Omitted),
            DiffLine::Same(line) => render(DiffLine::Same(&cut(line))),
            DiffLine::Removed(line) => render(DiffLine::Removed(&cut(line))),
            DiffLine::Added(line) => render(DiffLine::Added(&cut(line))),
        })
        .collect();
    if more > 0 {
        rendered.push(format!("{indent}… and {more} more lines"));
    }
    rendered.join("\n")
}

fn cut(line: &str) -> Cow<'_, str> {
    match line.len() <= MAX_LINE_CHARS {
        true => line.into(),
        false => truncate(line, MAX_LINE_CHARS).into(),
    }
}

/// Compares two texts in the format of `diff -u`. The result is empty if they are equal.
pub fn unified_diff(old: &str, old_name: &str, new: &str, new_name: &str) -> String {
    let diff = config().diff_lines(old, new);
    diff.unified_diff().context_radius(CONTEXT_LINES).header(old_name, new_name).to_string()
}

fn config() -> TextDiffConfig {
    let mut config = TextDiff::configure();
    config.timeout(DIFF_TIMEOUT);
    config
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    /// Renders the diff of texts whose lines are words.
    fn render_words(old: &str, new: &str) -> String {
        let [old, new] = [old, new].map(|text| text.replace(' ', "\n"));
        let render = |line| match line {
            DiffLine::Omitted => "…".to_owned(),
            DiffLine::Same(line) => format!(" {line}"),
            DiffLine::Removed(line) => format!("-{line}"),
            DiffLine::Added(line) => format!("+{line}"),
        };
        let lines: Vec<String> = diff_lines(&old, &new).into_iter().map(render).collect();
        lines.concat().replace('\n', "")
    }

    #[test]
    fn shows_changed_lines_with_their_context() {
        assert_eq!(render_words("a b c ", "a b c "), "");
        assert_eq!(render_words("", ""), "");
        assert_eq!(render_words("a b c ", "a x c "), " a-b+x c");
        assert_eq!(render_words("1 2 3 4 5 6 7 8 9 ", "1 2 3 4 x 6 7 8 9 "), "… 2 3 4-5+x 6 7 8…");
        assert_eq!(
            render_words("x 2 3 4 5 6 7 8 y ", "a 2 3 4 5 6 7 8 b "),
            "-x+a 2 3 4… 6 7 8-y+b"
        );
        assert_eq!(render_words("x 2 3 4 5 6 7 y ", "a 2 3 4 5 6 7 b "), "-x+a 2 3 4 5 6 7-y+b");
        assert_eq!(render_words("1 2 3 ", ""), "-1-2-3");
        assert_eq!(render_words("", "1 2 "), "+1+2");
        assert_eq!(render_words("1 2 3 4 ", "1 2 3 4 5 "), "… 2 3 4+5");
        assert_eq!(render_words("1 2 3 4 ", "0 1 2 3 4 "), "+0 1 2 3…");
        assert_eq!(render_words("{ x } y ", "{ x } { x } y "), " { x }+{+x+} y");
    }

    #[test]
    fn renders_a_limited_number_of_lines_of_limited_length() {
        let lines = |word: &str| -> String { (0..500).map(|at| format!("{word}{at}\n")).collect() };
        let render = |line: DiffLine<'_>| format!("{line:?}");
        let rendered = render_diff_lines(&lines("a"), &lines("b"), render, " ");
        assert_eq!(rendered.lines().count(), MAX_LINES + 1);
        assert!(rendered.ends_with(" … and 600 more lines"), "{rendered}");
        let rendered = render_diff_lines(&"a".repeat(1_000_000), "b", render, " ");
        assert!(rendered.len() < 3 * MAX_LINE_CHARS, "{}", rendered.len());
    }

    #[test]
    fn compares_long_texts_in_a_bounded_time() {
        let text = |name: &str| (0..100_000).map(|line| format!("{name} {line}\n")).collect();
        let (old, mut new): (String, String) = (text("old"), text("new"));
        new = new.replace("new 50000\n", "old 50000\n");
        let reversed: String = old.split_inclusive('\n').rev().collect();
        // The same few lines in another order: no line is unique.
        let mixed = |step: usize| -> String {
            (0..100_000).map(|line| format!("{}\n", line * step % 97 % 13)).collect()
        };
        for (old, new) in [(old.clone(), new), (old, reversed), (mixed(7), mixed(11))] {
            let started = Instant::now();
            let lines = diff_lines(&old, &new);
            assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
            let added = lines.iter().filter(|line| matches!(line, DiffLine::Added(_))).count();
            let removed = lines.iter().filter(|line| matches!(line, DiffLine::Removed(_))).count();
            assert_eq!(added, removed);
            assert!(added > 0);
        }
    }

    #[test]
    fn writes_the_format_of_patch() {
        let diff = unified_diff("a\nb\n", "one", "a\nc\n", "other");
        assert_eq!(diff, "--- one\n+++ other\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n");
        assert_eq!(unified_diff("a\n", "one", "a\n", "other"), "");
    }
}
