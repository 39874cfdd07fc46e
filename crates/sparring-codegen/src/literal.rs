//! Texts of a server as literals of Rust: they end where they should, and hide
//! nothing.

use crate::names::is_letter;

/// The text in quotes. What is neither ASCII nor a letter that looks like no
/// other is spelled as its number: a compiler refuses what changes the direction
/// of a line, and a reader could not see the rest.
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
            c if is_letter(c) => literal.push(c),
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
        assert_eq!(string("größe 城市"), "\"größe 城市\"");
        assert_eq!(string("\u{202e}\u{7}é\u{301}"), "\"\\u{202e}\\u{7}é\\u{301}\"");
    }
}
