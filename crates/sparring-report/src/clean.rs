//! Text of a target's, made harmless: what cannot be seen is spelled out, so that
//! it neither breaks a file nor shows what is not there.

/// All of it, with what is neither seen nor the break of a line spelled out, as
/// `\u001b`. Line breaks are one character each.
pub(crate) fn visible(text: &str) -> String {
    beginning(text, usize::MAX, false).0
}

/// As much of the beginning as has no more than `most` bytes once it is made
/// visible, and how many bytes of the text are not in it. In one line, its breaks
/// are spelled out too.
pub(crate) fn beginning(text: &str, most: usize, one_line: bool) -> (String, usize) {
    let mut clean = String::with_capacity(text.len().min(most));
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let whole = clean.len();
        match c {
            '\r' if rest.peek().is_some_and(|(_, next)| *next == '\n') => {}
            '\n' if one_line => clean.push_str("\\n"),
            '\t' if one_line => clean.push(' '),
            '\n' | '\t' => clean.push(c),
            c if is_unseen(c) => spell(&mut clean, c),
            c => clean.push(c),
        }
        if clean.len() > most {
            clean.truncate(whole);
            return (clean, text.len() - at);
        }
    }
    (clean, 0)
}

fn spell(text: &mut String, c: char) {
    match u32::from(c) {
        code @ ..=0xffff => text.push_str(&format!("\\u{code:04x}")),
        code => text.push_str(&format!("\\u{{{code:x}}}")),
    }
}

/// Whether a character moves the cursor, turns the direction of what follows,
/// carries a text that nobody sees, or is none. The joiners are not among them:
/// emoji and some languages need those.
fn is_unseen(c: char) -> bool {
    let none = u32::from(c) & 0xfffe == 0xfffe;
    c.is_control()
        || none
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{feff}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fdd0}'..='\u{fdef}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_seen_is_spelled_out() {
        let text = "a\u{1b}[31m\r\nb\rc\u{202e}d\u{0}\u{85}\u{ffff}\u{e0041}\u{10ffff}";
        let clean = "a\\u001b[31m\nb\\u000dc\\u202ed\\u0000\\u0085\\uffff\\u{e0041}\\u{10ffff}";
        assert_eq!(visible(text), clean);
    }

    #[test]
    fn what_can_be_seen_stays() {
        let text = "naïve\t日本 👩‍💻 \u{fffd} <&>\n";
        assert_eq!(visible(text), text);
    }

    #[test]
    fn a_line_has_no_break() {
        assert_eq!(beginning("a\r\nb\tc", 9, true), ("a\\nb c".to_owned(), 0));
    }

    #[test]
    fn a_beginning_ends_between_characters() {
        let check = |most, clean: &str, left| {
            assert_eq!(beginning("a\u{1b}é", most, true), (clean.to_owned(), left));
        };
        check(0, "", 4);
        check(6, "a", 3);
        check(7, "a\\u001b", 2);
        check(8, "a\\u001b", 2);
        check(9, "a\\u001bé", 0);
    }
}
