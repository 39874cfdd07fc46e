//! Texts that are too long: the part that is shown, with how much is left out.

use std::borrow::Cow;

use crate::{clean, counts};

/// The beginning of a text, visible, in one line.
pub(crate) fn line(text: &str, most: usize) -> String {
    said(clean::beginning(text.trim_end_matches(['\r', '\n']), most, true))
}

/// The beginning of one line of a text, visible, with its tabs.
fn head(line: &str, most: usize) -> String {
    said(clean::beginning(line, most, false))
}

fn said((text, left): (String, usize)) -> String {
    match left {
        0 => text,
        _ => format!("{text} [{left} bytes left out]"),
    }
}

/// The end of a text.
pub(crate) fn tail(text: &str, most: usize) -> Cow<'_, str> {
    if text.len() <= most {
        return Cow::Borrowed(text);
    }
    let from = text.len() - most;
    let at = (from..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
    Cow::Owned(format!("[{at} bytes left out] {}", &text[at..]))
}

/// The first lines of a text, visible, none of them long.
pub(crate) fn first_lines(text: &str, most: usize, longest: usize) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().take(most).map(|line| head(line, longest)).collect();
    let left = text.lines().count() - lines.len();
    if left > 0 {
        lines.push(format!("[{} left out]", counts::of(left, "line")));
    }
    lines
}

/// The last lines of a text, visible, none of them long.
pub(crate) fn last_lines(text: &str, most: usize, longest: usize) -> Vec<String> {
    let text = text.trim_end();
    let left = text.lines().count().saturating_sub(most);
    let said = (left > 0).then(|| format!("[{} left out]", counts::of(left, "line")));
    said.into_iter().chain(text.lines().skip(left).map(|line| head(line, longest))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_is_between_characters_and_says_what_is_left_out() {
        assert_eq!(line("aé\n", 2), "a [2 bytes left out]");
        assert_eq!(line("aé\n", 3), "aé");
        assert_eq!(tail("éa", 2), "[2 bytes left out] a");
        assert_eq!(tail("éa", 0), "[3 bytes left out] ");
        assert_eq!(line("", 0), "");
    }

    #[test]
    fn lines_are_counted_from_either_end() {
        assert_eq!(first_lines("a\nb\nc\n", 1, 9), ["a", "[2 lines left out]"]);
        assert_eq!(last_lines("a\nb\nc\n\n", 2, 9), ["[1 line left out]", "b", "c"]);
        assert_eq!(last_lines("", 2, 9), [""; 0]);
    }
}
