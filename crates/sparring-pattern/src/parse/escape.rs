//! What a backslash begins.

use super::{Parser, Reference};
use crate::class::{Class, DIGITS, SPACE, WORD};
use crate::error::BadPattern;
use crate::property::Property;
use crate::tree::Assertion;

/// What an escape means.
pub(super) enum Escape {
    Char(char),
    /// Half of a pair, which no text has.
    Surrogate(u32),
    Class(Class),
    Assert(Assertion),
    Reference(Reference),
}

impl Parser {
    /// Reads what follows the backslash at `start`.
    pub(super) fn escape(&mut self, start: usize, in_class: bool) -> Result<Escape, BadPattern> {
        let Some(next) = self.source.next() else {
            return Err(BadPattern::at(start, "a backslash is the last of it"));
        };
        let wide = self.is_wide();
        Ok(match next {
            'd' | 'D' => self.ranges(&DIGITS, next == 'D'),
            'w' | 'W' => self.ranges(&WORD, next == 'W'),
            's' | 'S' => self.ranges(&SPACE, next == 'S'),
            'p' | 'P' => self.property(start, next == 'P')?,
            'b' if in_class => Escape::Char('\u{8}'),
            'b' => Escape::Assert(Assertion::Boundary),
            'B' if !in_class => Escape::Assert(Assertion::NoBoundary),
            'A' if wide && !in_class => Escape::Assert(Assertion::Start),
            'z' if wide && !in_class => Escape::Assert(Assertion::End),
            't' => Escape::Char('\t'),
            'n' => Escape::Char('\n'),
            'v' => Escape::Char('\u{b}'),
            'f' => Escape::Char('\u{c}'),
            'r' => Escape::Char('\r'),
            '0' => Escape::Char('\0'),
            '1'..='9' if !in_class => self.numbered(start)?,
            'k' if !in_class => match self.source.take("<") {
                true => Escape::Reference(Reference::Name(self.name()?)),
                false => return Err(BadPattern::at(start, "`\\k` wants the name of a group")),
            },
            'c' => match self.source.next() {
                Some(letter) if letter.is_ascii_alphabetic() => {
                    Escape::Char(char::from(letter as u8 & 31))
                }
                _ => return Err(BadPattern::at(start, "`\\c` wants a letter")),
            },
            'x' if wide && self.source.take("{") => self.in_braces(start, 'x')?,
            'x' => match self.digits(2) {
                Some(code) => scalar(start, code)?,
                None => return Err(BadPattern::at(start, "`\\x` wants two digits")),
            },
            'u' => self.unicode(start)?,
            // To others these are something else, so that they are nothing here.
            '<' | '>' if wide => return Err(no_escape(start, next, wide)),
            other if other.is_ascii_alphanumeric() => return Err(no_escape(start, other, wide)),
            other => Escape::Char(other),
        })
    }

    fn ranges(&self, ranges: &[(u32, u32)], negated: bool) -> Escape {
        let mut class = self.set();
        match negated {
            true => class.add_but(ranges),
            false => class.add_all(ranges),
        }
        Escape::Class(class)
    }

    fn property(&mut self, start: usize, negated: bool) -> Result<Escape, BadPattern> {
        let kind = if negated { 'P' } else { 'p' };
        let mut name = String::new();
        let mut closed = false;
        if self.source.take("{") {
            while let Some(next) = self.source.next() {
                match next {
                    '}' => {
                        closed = true;
                        break;
                    }
                    'A'..='Z' | 'a'..='z' | '0'..='9' | '_' | '=' => name.push(next),
                    _ => break,
                }
            }
        } else if self.is_wide()
            && let Some(letter) = self.source.next()
        {
            name.push(letter);
            closed = true;
        }
        if !closed || name.is_empty() {
            let why = format!("`\\{kind}` wants the name of a property in braces");
            return Err(BadPattern::at(start, why));
        }
        let Some(property) = Property::named(&name) else {
            let why = format!("`\\{kind}{{{name}}}` is no property of Unicode that is known");
            return Err(BadPattern::at(start, why));
        };
        let mut class = self.set();
        class.add_property(property, negated);
        Ok(Escape::Class(class))
    }

    fn numbered(&mut self, start: usize) -> Result<Escape, BadPattern> {
        self.source.back_to(start + 1);
        match self.number()? {
            Some(number) => Ok(Escape::Reference(Reference::Number(number as usize))),
            None => Err(no_escape(start, '0', self.is_wide())),
        }
    }

    fn unicode(&mut self, start: usize) -> Result<Escape, BadPattern> {
        if self.source.take("{") {
            return self.in_braces(start, 'u');
        }
        let Some(high) = self.digits(4) else {
            return Err(BadPattern::at(start, "`\\u` wants four digits"));
        };
        if (0xD800..0xDC00).contains(&high) {
            let after = self.source.position();
            if self.source.take("\\u")
                && let Some(low @ 0xDC00..0xE000) = self.digits(4)
            {
                return scalar(start, 0x1_0000 + ((high - 0xD800) << 10) + (low - 0xDC00));
            }
            self.source.back_to(after);
        }
        scalar(start, high)
    }

    /// A character by its number, after a brace.
    fn in_braces(&mut self, start: usize, kind: char) -> Result<Escape, BadPattern> {
        let mut code: Option<u32> = None;
        while let Some(next) = self.source.next() {
            match (next.to_digit(16), code) {
                (Some(digit), _) if code.is_none_or(|code| code <= 0x10_FFFF) => {
                    code = Some(code.unwrap_or(0) * 16 + digit);
                }
                (None, Some(code)) if next == '}' => return scalar(start, code),
                _ => break,
            }
        }
        Err(BadPattern::at(start, format!("`\\{kind}{{` wants digits and a `}}`")))
    }

    fn digits(&mut self, count: usize) -> Option<u32> {
        let mut code = 0;
        for _ in 0..count {
            code = code * 16 + self.source.next()?.to_digit(16)?;
        }
        Some(code)
    }
}

fn scalar(start: usize, code: u32) -> Result<Escape, BadPattern> {
    match char::from_u32(code) {
        Some(character) => Ok(Escape::Char(character)),
        None if code <= 0x10_FFFF => Ok(Escape::Surrogate(code)),
        None => Err(BadPattern::at(start, format!("there is no character {code:x}"))),
    }
}

fn no_escape(start: usize, character: char, wide: bool) -> BadPattern {
    let of = if wide { "" } else { " of ECMA-262" };
    BadPattern::at(start, format!("`\\{character}` is no escape{of}"))
}
