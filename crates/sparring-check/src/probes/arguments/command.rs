//! The command line that repeats one call.

use std::borrow::Cow;

use serde_json::Value;

use crate::context::Context;

/// The longest argument that every system accepts on a command line, in bytes.
const MAX_ARGUMENT: usize = 100_000;

/// Returns the `spar call` command that repeats a call. Returns `None` if the arguments are
/// too large for a command line.
pub(super) fn call_command(context: &Context, tool: &str, arguments: &Value) -> Option<String> {
    let json = escape_invisible(&arguments.to_string());
    if json.len() > MAX_ARGUMENT || tool.len() > MAX_ARGUMENT {
        return None;
    }
    let mut words = format!("spar call {} --args {}", quote(tool), quote(&json));
    words.push_str(&format!(" --protocol {}", context.revision));
    let target = &context.options.target_arguments;
    if !target.is_empty() {
        words.push_str(&format!(" {target}"));
    }
    Some(words)
}

/// Escapes the characters of a JSON text that a terminal does not show.
fn escape_invisible(json: &str) -> String {
    let mut escaped = String::new();
    for c in json.chars() {
        match is_invisible(c) {
            false => escaped.push(c),
            true => {
                let mut units = [0; 2];
                for unit in c.encode_utf16(&mut units) {
                    escaped.push_str(&format!("\\u{unit:04x}"));
                }
            }
        }
    }
    escaped
}

fn is_invisible(c: char) -> bool {
    c.is_control()
        || c.is_whitespace() && c != ' '
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{202a}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{fff0}'..='\u{fffb}'
                | '\u{e000}'..='\u{f8ff}'
                | '\u{e0000}'..
        )
}

/// Quotes a word for a shell, if it needs quotes. Single quotes keep JSON readable.
fn quote(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match word {
        _ if !word.is_empty() && word.chars().all(is_plain) => word.into(),
        _ if !word.contains('\'') => format!("'{word}'").into(),
        _ => shlex::try_quote(word).unwrap_or_else(|_| word.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_words_for_a_shell() {
        for (word, expected) in [
            ("get-weather", "get-weather"),
            (r#"{"a":"\u0000$b"}"#, r#"'{"a":"\u0000$b"}'"#),
            ("it's", "\"it's\""),
        ] {
            assert_eq!(quote(word), expected);
            assert_eq!(shlex::split(expected), Some(vec![word.to_owned()]));
        }
    }

    #[test]
    fn escapes_what_a_terminal_does_not_show() {
        for (text, expected) in [
            ("a b😀é", "a b😀é"),
            ("\u{202e}\u{feff}\u{a0}", r"\u202e\ufeff\u00a0"),
            ("\u{10ffff}", r"\udbff\udfff"),
        ] {
            assert_eq!(escape_invisible(text), expected);
            let value: String = serde_json::from_str(&format!("\"{expected}\"")).unwrap();
            assert_eq!(value, text);
        }
    }
}
