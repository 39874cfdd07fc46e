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

/// Truncates text to this number of columns.
pub(crate) fn truncate(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let mut used = 1;
    let fitting = text.chars().take_while(|c| {
        used += c.width().unwrap_or_default();
        used <= columns
    });
    let mut cut: String = fitting.collect();
    cut.push('…');
    cut
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
