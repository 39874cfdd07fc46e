//! Texts of servers, made harmless to show and bounded in length.

/// What stands where something was left out.
const MARK: char = '…';

/// The text, or so much of it that with a mark it has at most so many
/// characters.
pub(crate) fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
        None => text.to_owned(),
        Some(_) => {
            let kept = text.chars().take(characters.saturating_sub(1));
            kept.chain([MARK]).collect()
        }
    }
}

/// The text in one line, with everything spelled out that draws on a terminal,
/// breaks the line, or makes text look like another.
pub(crate) fn visible(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_control() || is_formatting(c) => {
                shown.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// Characters that nobody sees and that change what is seen: separators of
/// lines, directions of writing, joiners and tags.
fn is_formatting(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_has_a_mark_and_no_more_characters_than_it_may() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("🦀🦀🦀", 2), "🦀…");
        assert_eq!(cut("", 0), "");
    }

    #[test]
    fn nothing_of_a_server_draws_on_a_terminal() {
        assert_eq!(visible("a\u{1b}[2Jb\r\nc\u{9b}"), r"a\u{1b}[2Jb\u{d}\u{a}c\u{9b}");
        assert_eq!(visible("x\u{202e}y\u{200b}\u{e0041}"), r"x\u{202e}y\u{200b}\u{e0041}");
        assert_eq!(visible("日本 é"), "日本 é");
    }
}
