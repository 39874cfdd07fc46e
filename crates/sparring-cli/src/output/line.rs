//! Makes text of a target safe and short enough for a line of a terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::text_cleaner::clean_text;

/// Returns the first line that is not blank, without control characters.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    clean(line)
}

/// Replaces control characters with spaces, and spells out invisible ones.
pub(crate) fn clean(text: &str) -> String {
    let spaced: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    clean_text(&spaced, false)
}

/// The largest number of characters for each column of a truncated text. Some have no width.
const MAX_CHARS_PER_COLUMN: usize = 4;

/// Truncates text to this number of columns.
pub(crate) fn truncate(text: &str, columns: usize) -> String {
    let max_chars = columns.saturating_mul(MAX_CHARS_PER_COLUMN);
    if text.chars().nth(max_chars).is_none() && text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let fitting = text.chars().take(max_chars).take_while(|c| {
        used += c.width().unwrap_or_default();
        used <= columns
    });
    let mut cut: String = fitting.collect();
    cut.push('…');
    cut
}

/// Divides a line into lines of at most this number of columns. The later ones are indented by
/// two more spaces than the first.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let indent = " ".repeat((indent + 2).min(columns / 2));
    let mut lines = vec![String::new()];
    let mut used = 0;
    for c in text.chars() {
        let width = c.width().unwrap_or_default();
        if used + width > columns && used > indent.len() {
            lines.push(indent.clone());
            used = indent.len();
        }
        used += width;
        if let Some(line) = lines.last_mut() {
            line.push(c);
        }
    }
    lines
}

/// Divides a line between words into lines of at most this number of columns. The later ones
/// are indented by two more spaces than the first. A longer word is divided.
pub(crate) fn wrap_words(text: &str, columns: usize) -> Vec<String> {
    let indent = text.len() - text.trim_start_matches(' ').len();
    let (first, later) = (" ".repeat(indent), " ".repeat((indent + 2).min(columns / 2)));
    let mut lines = vec![first];
    let mut is_empty = true;
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let used = lines.last().map(|line| line.width()).unwrap_or_default();
        let gap = usize::from(!is_empty);
        if !is_empty && used + gap + word.width() > columns {
            lines.push(later.clone());
            is_empty = true;
        }
        let Some(line) = lines.last_mut() else { continue };
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines.iter().flat_map(|line| wrap(line, columns)).collect()
}

/// Formats a number of bytes.
pub(crate) fn format_bytes(count: usize) -> String {
    match count {
        1 => "1 byte".to_owned(),
        0..1_000 => format!("{count} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truncates_a_line_by_its_columns() {
        assert_eq!(truncate("short", 5), "short");
        assert_eq!(truncate("longer", 5), "long…");
        assert_eq!(truncate("日本語", 5), "日本…");
        assert_eq!(truncate("日本語", 6), "日本語");
        let accents = format!("e{}", "\u{301}".repeat(100));
        assert_eq!(truncate(&accents, 2), format!("e{}…", "\u{301}".repeat(7)));
    }

    #[test]
    fn a_long_line_continues_with_an_indent() {
        assert_eq!(wrap("  short", 7), ["  short"]);
        assert_eq!(wrap("  longer text", 8), ["  longer", "     tex", "    t"]);
        assert_eq!(wrap("日本語", 5), ["日本", "  語"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn words_stay_whole_if_they_fit() {
        assert_eq!(wrap_words("one two three", 8), ["one two", "  three"]);
        assert_eq!(wrap_words("  one two", 20), ["  one two"]);
        assert_eq!(wrap_words("a longerword", 6), ["a", "  long", "   erw", "   ord"]);
        assert_eq!(wrap_words("", 5), [""]);
    }

    #[test]
    fn a_line_of_a_target_does_not_move_the_cursor() {
        assert_eq!(first_line("\n  a\u{1b}[2Jb\tc\u{202e}  \nd"), "a [2Jb c\\u202e");
    }

    #[test]
    fn bytes_are_counted_in_units() {
        assert_eq!(format_bytes(1), "1 byte");
        assert_eq!(format_bytes(999), "999 bytes");
        assert_eq!(format_bytes(1_234), "1.2 kB");
        assert_eq!(format_bytes(12_345_678), "12.3 MB");
    }
}
