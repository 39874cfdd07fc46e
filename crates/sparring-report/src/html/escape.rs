//! Texts of others, put into a page so that they stay texts.

/// Writes a text as the content of an element or of a quoted attribute. What
/// cannot be seen, or would turn the direction of what follows, is shown by its
/// number.
pub(super) fn text(text: &str, out: &mut String) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(letter),
            _ if is_hidden(letter) => out.push_str(&format!("U+{:04X}", u32::from(letter))),
            _ => out.push(letter),
        }
    }
}

/// Writes JSON as the content of a `script` element. Only strings can have
/// these letters, and there the escape means the same.
pub(super) fn json(json: &str, out: &mut String) {
    let json = json.replace('<', "\\u003c");
    let json = json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    out.push_str(&json);
}

/// Control characters, and those that set the direction of a text.
fn is_hidden(letter: char) -> bool {
    let turns = ['\u{200e}'..='\u{200f}', '\u{202a}'..='\u{202e}', '\u{2066}'..='\u{2069}'];
    letter.is_control() || turns.iter().any(|some| some.contains(&letter))
}

#[cfg(test)]
mod tests {
    use super::{json, text};

    fn check(write: fn(&str, &mut String), given: &str, expected: &str) {
        let mut out = String::new();
        write(given, &mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn keeps_a_text_a_text() {
        check(text, "<img onerror='x'> & \"y\"", "&lt;img onerror='x'&gt; &amp; &quot;y&quot;");
        check(text, "a\nb\tc\u{0}\u{1b}[31m\u{85}", "a\nb\tcU+0000U+001B[31mU+0085");
        check(text, "\u{202e}gnp.exe\u{2069}", "U+202Egnp.exeU+2069");
    }

    #[test]
    fn keeps_json_within_its_script() {
        check(json, r#"{"a":"</script><!--"}"#, r#"{"a":"\u003c/script>\u003c!--"}"#);
        check(json, "\"\u{2028}\u{2029}\"", "\"\\u2028\\u2029\"");
    }
}
