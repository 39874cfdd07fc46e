//! From the syntax of ECMA-262 to that of `fancy-regex`. Where a pattern is not
//! meant for `u`, as many are not, what can only mean one thing means it.

use super::class;
use super::escape::{self, Escape};

/// What `.` stands for.
const ANY: &str = r"[^\n\r\u{2028}\u{2029}]";

/// What matches nothing.
const NOTHING: &str = "(?!)";

const WORD: &str = "[A-Za-z0-9_]";

/// The characters of a pattern, one after the other.
pub(super) struct Source {
    characters: Vec<char>,
    at: usize,
}

impl Source {
    pub(super) fn new(pattern: &str) -> Source {
        Source { characters: pattern.chars().collect(), at: 0 }
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.characters.get(self.at).copied()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += 1;
        Some(next)
    }

    /// Whether this follows; if so, it is passed.
    pub(super) fn take(&mut self, expected: &str) -> bool {
        let mut end = self.at;
        for character in expected.chars() {
            if self.characters.get(end) != Some(&character) {
                return false;
            }
            end += 1;
        }
        self.at = end;
        true
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn back_to(&mut self, position: usize) {
        self.at = position;
    }
}

/// Translates a pattern.
///
/// # Errors
/// When it is none; the text says why.
pub(super) fn translate(pattern: &str) -> Result<String, String> {
    let mut source = Source::new(pattern);
    let mut out = String::with_capacity(pattern.len() + 16);
    let mut repeatable = false;
    while let Some(character) = source.next() {
        let mut repeats = true;
        match character {
            '*' | '+' | '?' => {
                repeat(&mut source, &mut out, repeatable, &character.to_string())?;
                repeats = false;
            }
            '{' => match counts(&mut source) {
                Some(counts) => {
                    repeat(&mut source, &mut out, repeatable, &counts)?;
                    repeats = false;
                }
                None => literal(&mut out, '{'),
            },
            '(' => {
                out.push('(');
                if source.take("?") {
                    out.push('?');
                }
                repeats = false;
            }
            '|' => {
                out.push('|');
                repeats = false;
            }
            '^' => {
                out.push('^');
                repeats = false;
            }
            ')' => out.push(')'),
            '$' => {
                out.push_str(r"\z");
                repeats = false;
            }
            '.' => out.push_str(ANY),
            '[' => class::translate(&mut source, &mut out)?,
            '\\' => escaped(escape::read(&mut source, false)?, &mut out),
            // These are the syntax of groups, where they follow `(?`.
            '<' | '=' | '!' | ':' | '>' => out.push(character),
            other => literal(&mut out, other),
        }
        repeatable = repeats;
    }
    Ok(out)
}

/// Writes a quantifier, which may be followed by a `?`.
fn repeat(
    source: &mut Source,
    out: &mut String,
    repeatable: bool,
    quantifier: &str,
) -> Result<(), String> {
    if !repeatable {
        return Err(format!("there is nothing to repeat before `{quantifier}`"));
    }
    out.push_str(quantifier);
    if source.take("?") {
        out.push('?');
    }
    Ok(())
}

/// What follows `{`, where it counts something.
fn counts(source: &mut Source) -> Option<String> {
    let start = source.position();
    let mut text = String::from("{");
    while let Some(next) = source.next() {
        text.push(next);
        match next {
            '0'..='9' => {}
            ',' if text.len() > 2 && text.matches(',').count() == 1 => {}
            '}' if text.len() > 2 => return Some(text),
            _ => break,
        }
    }
    source.back_to(start);
    None
}

fn escaped(escape: Escape, out: &mut String) {
    match escape {
        Escape::Character(character) => literal(out, character),
        Escape::Surrogate(_) => out.push_str(NOTHING),
        Escape::Class(class) => out.push_str(&class),
        Escape::Boundary => {
            out.push_str(&format!("(?:(?<={WORD})(?!{WORD})|(?<!{WORD})(?={WORD}))"));
        }
        Escape::NoBoundary => {
            out.push_str(&format!("(?:(?<={WORD})(?={WORD})|(?<!{WORD})(?!{WORD}))"));
        }
        // In a group, so that a digit after it stays one.
        Escape::Group(reference) => out.push_str(&format!("(?:{reference})")),
    }
}

/// Writes a character that stands for itself.
pub(super) fn literal(out: &mut String, character: char) {
    match character {
        '_' | ',' => out.push(character),
        other if other.is_ascii_alphanumeric() || !other.is_ascii() => out.push(other),
        other => out.push_str(&format!("\\x{{{:x}}}", other as u32)),
    }
}
