//! Escapes invisible characters in texts of a target and breaks commands to the runner of GitHub
//! Actions, so that they cannot break a file or deceive a reader.

/// Escapes all invisible characters but line breaks, as `\u001b`. A line break becomes one
/// character.
pub(crate) fn escape_invisible(text: &str) -> String {
    escape_prefix(text, usize::MAX, false).0
}

/// Escapes the longest prefix whose result has at most `max_bytes` bytes. Returns it with
/// the number of omitted bytes of the text. With `one_line`, line breaks are escaped too.
pub(crate) fn escape_prefix(text: &str, max_bytes: usize, one_line: bool) -> (String, usize) {
    let mut escaped = String::with_capacity(text.len().min(max_bytes));
    let mut rest = text.char_indices().peekable();
    while let Some((at, c)) = rest.next() {
        let before = escaped.len();
        match c {
            '\r' if rest.peek().is_some_and(|(_, next)| *next == '\n') => {}
            '\n' if one_line => escaped.push_str("\\n"),
            '\t' if one_line => escaped.push(' '),
            '\n' | '\t' => escaped.push(c),
            // The runner of GitHub Actions reads commands from here on, anywhere in a line.
            '[' if escaped.ends_with("##") => escaped.push_str(" ["),
            c if is_invisible(c) => push_escape(&mut escaped, c),
            c => escaped.push(c),
        }
        if escaped.len() > max_bytes {
            escaped.truncate(before);
            return (escaped, text.len() - at);
        }
    }
    (escaped, 0)
}

fn push_escape(text: &mut String, c: char) {
    match u32::from(c) {
        code @ ..=0xffff => text.push_str(&format!("\\u{code:04x}")),
        code => text.push_str(&format!("\\u{{{code:x}}}")),
    }
}

/// Returns true if a character moves the cursor, changes the text direction, carries hidden
/// text, or is a noncharacter. Joiners are not included: emoji and some languages need them.
pub fn is_invisible(c: char) -> bool {
    let is_noncharacter = u32::from(c) & 0xfffe == 0xfffe;
    c.is_control()
        || is_noncharacter
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
    fn invisible_characters_are_escaped() {
        let text = "a\u{1b}[31m\r\nb\rc\u{202e}d\u{0}\u{85}\u{ffff}\u{e0041}\u{10ffff}";
        let escaped = "a\\u001b[31m\nb\\u000dc\\u202ed\\u0000\\u0085\\uffff\\u{e0041}\\u{10ffff}";
        assert_eq!(escape_invisible(text), escaped);
    }

    #[test]
    fn commands_to_the_runner_of_github_are_broken() {
        assert_eq!(escape_invisible("a ##[error]b ###[c"), "a ## [error]b ### [c");
        assert_eq!(escape_invisible("#[a] # [b]"), "#[a] # [b]");
    }

    #[test]
    fn visible_characters_stay() {
        let text = "naïve\t日本 👩‍💻 \u{fffd} <&>\n";
        assert_eq!(escape_invisible(text), text);
    }

    #[test]
    fn line_breaks_are_escaped_in_one_line() {
        assert_eq!(escape_prefix("a\r\nb\tc", 9, true), ("a\\nb c".to_owned(), 0));
    }

    #[test]
    fn a_prefix_ends_between_characters() {
        let check = |max_bytes, escaped: &str, left| {
            assert_eq!(escape_prefix("a\u{1b}é", max_bytes, true), (escaped.to_owned(), left));
        };
        check(0, "", 4);
        check(6, "a", 3);
        check(7, "a\\u001b", 2);
        check(8, "a\\u001b", 2);
        check(9, "a\\u001bé", 0);
    }
}
