//! Cleans all text that is written for people: characters that control a terminal, are invisible
//! or change the direction of text are spelled out, and so are commands to the runner of GitHub
//! Actions.
//!
//! Results that go to a program, and text under `--raw`, do not pass here.

use sparring_host::is_invisible;

/// The codes of colours that the program itself writes.
const OWN_COLOR_CODES: [&str; 5] = ["", "0", "1", "2", "4"];

/// Cleans text that arrives in pieces.
#[derive(Debug, Default)]
pub(crate) struct TextCleaner {
    /// True if the colours of the program itself stay.
    colors: bool,
    /// The beginning of a character that is not complete yet.
    rest: Vec<u8>,
    after_return: bool,
    place: Place,
}

/// The place of the next character, as far as a command to the runner may begin there.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Only white space is before it in the line.
    #[default]
    LineStart,
    /// A colon and white space are before it in the line.
    FirstColon,
    /// One `#` is before it.
    OneHash,
    /// Two or more `#` are before it.
    Hashes,
    Other,
}

/// Cleans a complete text. With `colors`, the colours of the program itself stay.
pub(crate) fn clean_text(text: &str, colors: bool) -> String {
    let mut cleaner = TextCleaner { colors, ..TextCleaner::default() };
    let mut clean = cleaner.push(text.as_bytes());
    clean.push_str(&cleaner.finish());
    clean
}

impl TextCleaner {
    /// Returns the clean form of more text. The beginning of a character waits for its end.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> String {
        let joined;
        let bytes = match self.rest.is_empty() {
            true => bytes,
            false => {
                joined = [&std::mem::take(&mut self.rest), bytes].concat();
                &joined
            }
        };
        let mut clean = String::with_capacity(bytes.len());
        let mut done = 0;
        for chunk in bytes.utf8_chunks() {
            self.push_text(chunk.valid(), &mut clean);
            done += chunk.valid().len() + chunk.invalid().len();
            let may_continue = done == bytes.len() && is_incomplete(chunk.invalid());
            if may_continue {
                self.rest = chunk.invalid().to_vec();
            } else {
                self.push_invalid(chunk.invalid(), &mut clean);
            }
        }
        clean
    }

    /// Returns the clean form of what waited.
    pub(crate) fn finish(&mut self) -> String {
        let mut clean = String::new();
        let rest = std::mem::take(&mut self.rest);
        self.push_invalid(&rest, &mut clean);
        self.end_return(&mut clean);
        clean
    }

    fn push_text(&mut self, text: &str, clean: &mut String) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if let Some(length) = own_color(rest).filter(|_| self.colors) {
                clean.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            self.push_char(c, clean);
            rest = &rest[c.len_utf8()..];
        }
    }

    fn push_char(&mut self, c: char, clean: &mut String) {
        if c == '\n' {
            self.after_return = false;
            self.place = Place::LineStart;
            return clean.push('\n');
        }
        self.end_return(clean);
        if c == '\r' {
            self.after_return = true;
            return;
        }
        // The runner reads `::` at the start of a trimmed line, and `##[` everywhere.
        let splits = matches!((self.place, c), (Place::FirstColon, ':') | (Place::Hashes, '['));
        if splits {
            clean.push(' ');
        }
        self.place = match (self.place, c) {
            (Place::LineStart, c) if c.is_whitespace() => Place::LineStart,
            (Place::LineStart, ':') => Place::FirstColon,
            (Place::OneHash | Place::Hashes, '#') => Place::Hashes,
            (_, '#') => Place::OneHash,
            _ => Place::Other,
        };
        match c {
            '\t' => clean.push(c),
            c if c.is_control() || is_invisible(c) => push_escaped(c, clean),
            c => clean.push(c),
        }
    }

    fn push_invalid(&mut self, bytes: &[u8], clean: &mut String) {
        if !bytes.is_empty() {
            self.end_return(clean);
            self.place = Place::Other;
        }
        for byte in bytes {
            clean.push_str(&format!("\\x{byte:02x}"));
        }
    }

    /// A carriage return without a line feed would let the rest of the line hide its start.
    fn end_return(&mut self, clean: &mut String) {
        if std::mem::take(&mut self.after_return) {
            push_escaped('\r', clean);
            self.place = Place::Other;
        }
    }
}

/// Spells out a character as JSON does; others than those of the first plane in braces.
fn push_escaped(c: char, clean: &mut String) {
    match u32::from(c) {
        code @ ..=0xffff => clean.push_str(&format!("\\u{code:04x}")),
        code => clean.push_str(&format!("\\u{{{code:x}}}")),
    }
}

/// Returns true if bytes that are not UTF-8 may be the beginning of a character.
fn is_incomplete(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Returns the length of a colour at the beginning of a text. Colours that hide text or imitate
/// another place are not the program's own.
fn own_color(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let codes = &codes[..codes.find('m')?];
    let is_foreground = |code: &str| {
        code.len() == 2 && (code.starts_with('3') || code.starts_with('9')) && code != "38"
    };
    let is_own = |code: &str| {
        code.bytes().all(|byte| byte.is_ascii_digit())
            && (OWN_COLOR_CODES.contains(&code) || is_foreground(code))
    };
    codes.split(';').all(is_own).then_some(codes.len() + 3)
}

/// Spells out such characters and commands in a JSON text, in which they can only be parts of
/// strings.
pub(crate) fn clean_json(json: &str) -> String {
    let mut clean = String::with_capacity(json.len());
    for c in json.chars() {
        if c != '\n' && (c.is_control() || is_invisible(c)) {
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                clean.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            clean.push(c);
        }
    }
    clean.replace("##[", "#\\u0023[")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        assert_eq!(clean_text(text, false), expected, "{text:?}");
        // In pieces of one byte the result is the same.
        let mut cleaner = TextCleaner::default();
        let mut clean: String = text.bytes().map(|byte| cleaner.push(&[byte])).collect();
        clean.push_str(&cleaner.finish());
        assert_eq!(clean, expected, "{text:?} in pieces");
    }

    #[test]
    fn spells_out_controls_and_invisible_characters() {
        check("a\u{1b}[2Jb\u{9b}c\u{7}", "a\\u001b[2Jb\\u009bc\\u0007");
        check("x\u{202e}y\u{200b}\u{e0041}\u{feff}", "x\\u202ey\\u200b\\u{e0041}\\ufeff");
        check("tab\tand\r\nlines\nend\rhidden", "tab\tand\nlines\nend\\u000dhidden");
        check("日本 é 👩\u{200d}💻", "日本 é 👩\u{200d}💻");
    }

    #[test]
    fn breaks_commands_to_the_runner_of_github() {
        check("::error::x\n  ::add-mask::y", ": :error::x\n  : :add-mask::y");
        check("say ##[error]x ###[y", "say ## [error]x ### [y");
        check("std::io a#[b] # ::c", "std::io a#[b] # ::c");
    }

    #[test]
    fn spells_out_bytes_that_are_not_utf_8() {
        let mut cleaner = TextCleaner::default();
        assert_eq!(cleaner.push(b"a\xff\xe6"), "a\\xff");
        assert_eq!(cleaner.push(b"\x97"), "");
        assert_eq!(cleaner.push(b"\xa5b\xe6"), "日b");
        assert_eq!(cleaner.finish(), "\\xe6");
    }

    #[test]
    fn keeps_only_the_colours_of_the_program() {
        let text = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m \u{1b}[8mhidden\u{1b}[2J";
        let clean = "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m \\u001b[8mhidden\\u001b[2J";
        assert_eq!(clean_text(text, true), clean);
        assert!(!clean_text(text, false).contains('\u{1b}'));
    }

    #[test]
    fn a_clean_json_text_has_the_same_value() {
        let value = serde_json::json!({"a\u{9b}": "b\u{202e}\u{e0041}\u{1b} \\##[error]x ###[y"});
        let clean = clean_json(&value.to_string());
        assert!(clean.is_ascii() && !clean.contains("##["), "{clean}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&clean).unwrap(), value);
    }
}
