//! Truncates texts of servers and makes them safe to print.

/// Marks where a text was truncated.
const ELLIPSIS: char = '…';

/// Truncates the text to so many characters, including the mark.
pub(crate) fn truncate(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some(_) => {
            let kept = text.chars().take(characters.saturating_sub(1));
            kept.chain([ELLIPSIS]).collect()
        }
    }
}

/// Escapes control and formatting characters, so that the text is one line,
/// draws nothing on a terminal and does not look like another text.
pub fn escape_control(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() || is_invisible(c) || is_joiner(c) => {
                escaped.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// Returns true for invisible characters that change how text looks: line separators, writing
/// directions and tags. Joiners are not included: emoji and some languages need them.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_truncated_text_has_a_mark_and_at_most_the_given_characters() {
        assert_eq!(truncate("short", 5), "short");
        assert_eq!(truncate("longer", 5), "long…");
        assert_eq!(truncate("🦀🦀🦀", 2), "🦀…");
        assert_eq!(truncate("", 0), "");
    }

    #[test]
    fn escaped_text_draws_nothing_on_a_terminal() {
        assert_eq!(escape_control("a\u{1b}[2Jb\r\nc\u{9b}"), r"a\u{1b}[2Jb\u{d}\u{a}c\u{9b}");
        assert_eq!(escape_control("x\u{202e}y\u{200b}\u{e0041}"), r"x\u{202e}y\u{200b}\u{e0041}");
        assert_eq!(escape_control("日本 é"), "日本 é");
    }
}
