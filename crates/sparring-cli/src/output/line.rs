//! Makes text of a target safe and short enough for a line of a terminal.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Returns the first line that is not blank, without control characters.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    clean(line)
}

/// Replaces control characters, and invisible ones that change the direction of text, with
/// spaces.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || is_misleading(c) { ' ' } else { c }).collect()
}

/// Returns true for characters that make a text look like another one. Joiners are not
/// included: emoji and some languages need them.
fn is_misleading(c: char) -> bool {
    matches!(c,
        '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{feff}')
}

/// Escapes everything but text, tabs and line breaks: `\u001b` for a control character,
/// `\xff` for a byte that is not UTF-8.
pub(crate) fn escape_controls(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\n' | '\t' => text.push(c),
                c if c.is_control() => text.push_str(&format!("\\u{:04x}", u32::from(c))),
                c => text.push(c),
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
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
        assert_eq!(first_line("\n  a\u{1b}[2Jb\tc  \nd"), "a [2Jb c");
        assert_eq!(clean("a\u{202e}b\u{200b}c 👩\u{200d}💻"), "a b c 👩\u{200d}💻");
    }

    #[test]
    fn escapes_everything_but_text() {
        assert_eq!(
            escape_controls(b"a\x1b[2Jb\r\n\tc\xff\xfe"),
            "a\\u001b[2Jb\\u000d\n\tc\\xff\\xfe"
        );
        assert_eq!(escape_controls("日\u{9b}本".as_bytes()), "日\\u009b本");
    }

    #[test]
    fn bytes_are_counted_in_units() {
        assert_eq!(format_bytes(1), "1 byte");
        assert_eq!(format_bytes(999), "999 bytes");
        assert_eq!(format_bytes(1_234), "1.2 kB");
        assert_eq!(format_bytes(12_345_678), "12.3 MB");
    }
}
