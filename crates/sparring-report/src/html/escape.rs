//! Texts of others, put into a page so that they stay texts.

use crate::clean;

/// Writes a text as the content of an element. What cannot be seen, or would turn
/// the direction of what follows, is spelled out.
pub(super) fn text(text: &str, out: &mut String) {
    let text = clean::visible(text).replace('&', "&amp;");
    out.push_str(&text.replace('<', "&lt;").replace('>', "&gt;"));
}

/// Writes JSON as the content of a `script` element. Only strings can have
/// these letters, and there the escape means the same.
pub(super) fn json(json: &str, out: &mut String) {
    let json = json.replace('<', "\\u003c");
    let json = json.replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    out.push_str(&json);
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
        check(text, "<img onerror='x'> &amp;", "&lt;img onerror='x'&gt; &amp;amp;");
        check(text, "a\nb\u{0}\u{202e}gnp.exe", "a\nb\\u0000\\u202egnp.exe");
    }

    #[test]
    fn keeps_json_within_its_script() {
        check(json, r#"{"a":"</script><!--"}"#, r#"{"a":"\u003c/script>\u003c!--"}"#);
        check(json, "\"\u{2028}\u{2029}\"", "\"\\u2028\\u2029\"");
    }
}
