//! What a backslash in a pattern begins.

use super::translate::Source;

/// Space, as ECMA-262 has it.
const SPACE: &str =
    r"\t\n\x0B\f\r \u{A0}\u{1680}\u{2000}-\u{200A}\u{2028}\u{2029}\u{202F}\u{205F}\u{3000}\u{FEFF}";

/// What an escape means.
pub(super) enum Escape {
    Character(char),
    /// Half of a pair, which no text has.
    Surrogate(u32),
    /// A class of characters, in brackets or as a property.
    Class(String),
    /// `\b`
    Boundary,
    /// `\B`
    NoBoundary,
    /// What a group has matched.
    Group(String),
}

/// Reads what follows a backslash.
pub(super) fn read(source: &mut Source, in_class: bool) -> Result<Escape, String> {
    let Some(next) = source.next() else {
        return Err("a backslash is the last of it".to_owned());
    };
    Ok(match next {
        'd' => Escape::Class("[0-9]".to_owned()),
        'D' => Escape::Class("[^0-9]".to_owned()),
        'w' => Escape::Class("[A-Za-z0-9_]".to_owned()),
        'W' => Escape::Class("[^A-Za-z0-9_]".to_owned()),
        's' => Escape::Class(format!("[{SPACE}]")),
        'S' => Escape::Class(format!("[^{SPACE}]")),
        'p' | 'P' => property(source, next)?,
        'b' if in_class => Escape::Character('\u{8}'),
        'b' => Escape::Boundary,
        'B' if !in_class => Escape::NoBoundary,
        't' => Escape::Character('\t'),
        'n' => Escape::Character('\n'),
        'v' => Escape::Character('\u{b}'),
        'f' => Escape::Character('\u{c}'),
        'r' => Escape::Character('\r'),
        '0' => Escape::Character('\0'),
        '1'..='9' if !in_class => group(source, next),
        'k' if !in_class => name(source)?,
        'c' => control(source)?,
        'x' => match digits(source, 2).and_then(char::from_u32) {
            Some(character) => Escape::Character(character),
            None => return Err("`\\x` wants two digits".to_owned()),
        },
        'u' => unicode(source)?,
        other if other.is_ascii_alphanumeric() => {
            return Err(format!("`\\{other}` is no escape of ECMA-262"));
        }
        other => Escape::Character(other),
    })
}

fn property(source: &mut Source, kind: char) -> Result<Escape, String> {
    let mut name = String::new();
    if source.take("{") {
        while let Some(next) = source.next() {
            match next {
                '}' if !name.is_empty() => return known(format!("\\{kind}{{{name}}}")),
                'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '=' => name.push(next),
                _ => break,
            }
        }
    }
    Err(format!("`\\{kind}` wants the name of a property in braces"))
}

/// A property of Unicode, where there is one of this name.
fn known(property: String) -> Result<Escape, String> {
    match fancy_regex::Regex::new(&property) {
        Ok(_) => Ok(Escape::Class(property)),
        Err(_) => Err(format!("`{property}` is no property of Unicode that is known")),
    }
}

fn group(source: &mut Source, first: char) -> Escape {
    let mut reference = format!("\\{first}");
    while let Some(digit) = source.peek().filter(char::is_ascii_digit) {
        reference.push(digit);
        source.next();
    }
    Escape::Group(reference)
}

fn name(source: &mut Source) -> Result<Escape, String> {
    let mut name = String::new();
    if source.take("<") {
        while let Some(next) = source.next() {
            if next == '>' {
                return Ok(Escape::Group(format!("\\k<{name}>")));
            }
            name.push(next);
        }
    }
    Err("`\\k` wants the name of a group".to_owned())
}

fn control(source: &mut Source) -> Result<Escape, String> {
    match source.next() {
        Some(letter) if letter.is_ascii_alphabetic() => {
            Ok(Escape::Character(char::from(letter as u8 & 31)))
        }
        _ => Err("`\\c` wants a letter".to_owned()),
    }
}

fn unicode(source: &mut Source) -> Result<Escape, String> {
    if source.take("{") {
        let mut code: u32 = 0;
        while let Some(next) = source.next() {
            match (next, next.to_digit(16)) {
                (_, Some(digit)) if code <= 0x10_FFFF => code = code * 16 + digit,
                ('}', _) => return scalar(code),
                _ => break,
            }
        }
        return Err("`\\u{` wants digits and a `}`".to_owned());
    }
    let Some(high) = digits(source, 4) else {
        return Err("`\\u` wants four digits".to_owned());
    };
    if (0xD800..0xDC00).contains(&high) {
        let start = source.position();
        if source.take("\\u")
            && let Some(low @ 0xDC00..0xE000) = digits(source, 4)
        {
            return scalar(0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
        }
        source.back_to(start);
    }
    scalar(high)
}

fn scalar(code: u32) -> Result<Escape, String> {
    match char::from_u32(code) {
        Some(character) => Ok(Escape::Character(character)),
        None if code <= 0x10_FFFF => Ok(Escape::Surrogate(code)),
        None => Err(format!("there is no character {code:x}")),
    }
}

fn digits(source: &mut Source, count: usize) -> Option<u32> {
    let mut code = 0;
    for _ in 0..count {
        code = code * 16 + source.next()?.to_digit(16)?;
    }
    Some(code)
}
