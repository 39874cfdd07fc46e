//! Texts of a server as literals of Rust: they end where they should, and hide
//! nothing.

/// The text in quotes. What is not ASCII is spelled as its number: a compiler
/// refuses what changes the direction of a line, a reader takes letters for others
/// that look alike, and a formatter counts their columns in more than one way.
pub(crate) fn string(text: &str) -> String {
    let mut literal = String::with_capacity(text.len() + 2);
    literal.push('"');
    for c in text.chars() {
        match c {
            '"' => literal.push_str("\\\""),
            '\\' => literal.push_str("\\\\"),
            '\n' => literal.push_str("\\n"),
            '\r' => literal.push_str("\\r"),
            '\t' => literal.push_str("\\t"),
            ' '..='~' => literal.push(c),
            c => literal.extend(c.escape_unicode()),
        }
    }
    literal.push('"');
    literal
}

#[cfg(test)]
mod tests {
    use super::string;

    #[test]
    fn a_literal_ends_at_its_end() {
        assert_eq!(string("a\"b\\\n"), r#""a\"b\\\n""#);
        assert_eq!(string("größe"), "\"gr\\u{f6}\\u{df}e\"");
        assert_eq!(string("\u{202e}\u{7}é\u{301}"), "\"\\u{202e}\\u{7}\\u{e9}\\u{301}\"");
    }
}
