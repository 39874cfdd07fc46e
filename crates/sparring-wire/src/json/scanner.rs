//! Scans bytes as JSON in one pass: finds the end of each value and the first syntax
//! error.
//!
//! The scanner is iterative, so that no input overflows the stack, and does not allocate.
//! It reads strings as bytes and does not check UTF-8.

use std::ops::Range;

/// The maximum nesting depth of any scan.
pub(crate) const MAX_DEPTH: usize = 256;

/// A syntax error in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyntaxError {
    /// The byte offset of the error.
    pub offset: usize,
    /// The kind of the error.
    pub kind: SyntaxErrorKind,
}

/// The kind of a syntax error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SyntaxErrorKind {
    /// The text ends inside a value.
    Truncated,
    /// A byte that is not allowed at this position.
    Unexpected(u8),
    /// A raw control character inside a string.
    ControlCharacter(u8),
    /// A backslash that does not start an escape.
    BadEscape,
    /// A malformed number.
    BadNumber,
    /// More nesting than allowed.
    TooDeep,
}

impl std::fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let offset = self.offset;
        match self.kind {
            SyntaxErrorKind::Truncated => write!(f, "unexpected end of text at byte {offset}"),
            SyntaxErrorKind::Unexpected(byte) => {
                write!(f, "unexpected {:?} at byte {offset}", char::from(byte))
            }
            SyntaxErrorKind::ControlCharacter(byte) => {
                write!(f, "control character 0x{byte:02x} in a string at byte {offset}")
            }
            SyntaxErrorKind::BadEscape => write!(f, "unknown escape in a string at byte {offset}"),
            SyntaxErrorKind::BadNumber => write!(f, "malformed number at byte {offset}"),
            SyntaxErrorKind::TooDeep => write!(f, "nested too deeply at byte {offset}"),
        }
    }
}

/// A cursor over bytes that reads one JSON token or value at a time.
#[derive(Debug, Clone)]
pub(crate) struct Scanner<'a> {
    bytes: &'a [u8],
    pos: usize,
    max_depth: usize,
}

impl<'a> Scanner<'a> {
    pub(crate) fn new(bytes: &'a [u8], pos: usize, max_depth: usize) -> Self {
        Scanner { bytes, pos, max_depth: max_depth.min(MAX_DEPTH) }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn max_depth(&self) -> usize {
        self.max_depth
    }

    /// Skips white space and returns the next byte without consuming it.
    #[inline]
    pub(crate) fn peek(&mut self) -> Option<u8> {
        while let Some(&byte) = self.bytes.get(self.pos) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Some(byte);
            }
            self.pos += 1;
        }
        None
    }

    /// Skips white space and consumes `wanted`.
    #[inline]
    pub(crate) fn expect(&mut self, wanted: u8) -> Result<(), SyntaxError> {
        match self.peek() {
            Some(byte) if byte == wanted => {
                self.pos += 1;
                Ok(())
            }
            other => Err(self.unexpected(other)),
        }
    }

    /// Consumes one value and returns its range, without surrounding white space.
    pub(crate) fn value(&mut self) -> Result<Range<usize>, SyntaxError> {
        self.value_at_depth(0)
    }

    /// Like [`Scanner::value`], for a value inside `outer` levels of nesting.
    pub(crate) fn value_at_depth(&mut self, outer: usize) -> Result<Range<usize>, SyntaxError> {
        let first = self.peek();
        let start = self.pos;
        if !matches!(first, Some(b'{' | b'[')) {
            self.scalar(first)?;
            return Ok(start..self.pos);
        }
        // One bit per level, set if that level is an object.
        let mut objects = [0u64; MAX_DEPTH / 64];
        let mut depth = 0usize;
        loop {
            // A value must start here.
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    if outer + depth >= self.max_depth {
                        return Err(SyntaxError {
                            offset: self.pos,
                            kind: SyntaxErrorKind::TooDeep,
                        });
                    }
                    self.pos += 1;
                    let (word, bit) = (depth / 64, 1u64 << (depth % 64));
                    depth += 1;
                    if open == b'{' {
                        objects[word] |= bit;
                        if self.peek() != Some(b'}') {
                            self.key()?;
                            continue;
                        }
                    } else {
                        objects[word] &= !bit;
                        if self.peek() != Some(b']') {
                            continue;
                        }
                    }
                }
                other => self.scalar(other)?,
            }
            // A value has ended here: close levels, or continue with the next value.
            loop {
                let level = depth - 1;
                let object = objects[level / 64] & (1u64 << (level % 64)) != 0;
                match self.peek() {
                    Some(b',') => {
                        self.pos += 1;
                        if object {
                            self.key()?;
                        }
                        break;
                    }
                    Some(b'}') if object => self.pos += 1,
                    Some(b']') if !object => self.pos += 1,
                    other => return Err(self.unexpected(other)),
                }
                depth -= 1;
                if depth == 0 {
                    return Ok(start..self.pos);
                }
            }
        }
    }

    /// Consumes a string; returns the range between its quotes, and true if it has
    /// escapes.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<(Range<usize>, bool), SyntaxError> {
        // Most strings have no escapes and no white space before them.
        if self.bytes.get(self.pos) == Some(&b'"') {
            let start = self.pos + 1;
            let end = find_special_byte(self.bytes, start);
            if self.bytes.get(end) == Some(&b'"') {
                self.pos = end + 1;
                return Ok((start..end, false));
            }
        }
        self.string_with_escapes()
    }

    #[cold]
    fn string_with_escapes(&mut self) -> Result<(Range<usize>, bool), SyntaxError> {
        self.expect(b'"')?;
        let start = self.pos;
        let mut escapes = false;
        loop {
            self.pos = find_special_byte(self.bytes, self.pos);
            match self.bytes.get(self.pos) {
                Some(b'"') => {
                    self.pos += 1;
                    return Ok((start..self.pos - 1, escapes));
                }
                Some(b'\\') => {
                    escapes = true;
                    self.escape()?;
                }
                Some(&byte) => {
                    return Err(SyntaxError {
                        offset: self.pos,
                        kind: SyntaxErrorKind::ControlCharacter(byte),
                    });
                }
                None => {
                    return Err(SyntaxError { offset: self.pos, kind: SyntaxErrorKind::Truncated });
                }
            }
        }
    }

    /// Skips one value of a text that was scanned before; returns its range.
    pub(crate) fn skip(&mut self) -> Result<Range<usize>, SyntaxError> {
        let first = self.peek();
        let start = self.pos;
        if !matches!(first, Some(b'{' | b'[')) {
            self.scalar(first)?;
            return Ok(start..self.pos);
        }
        let mut depth = 0usize;
        while let Some(&byte) = self.bytes.get(self.pos) {
            match byte {
                b'"' => {
                    self.string()?;
                    continue;
                }
                b'{' | b'[' => depth += 1,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.pos += 1;
            if depth == 0 {
                return Ok(start..self.pos);
            }
        }
        Err(self.unexpected(None))
    }

    fn key(&mut self) -> Result<(), SyntaxError> {
        self.string()?;
        self.expect(b':')
    }

    fn escape(&mut self) -> Result<(), SyntaxError> {
        let start = self.pos;
        match self.bytes.get(start + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.pos += 2,
            Some(b'u') => {
                for digit_offset in 2..6 {
                    match self.bytes.get(start + digit_offset) {
                        Some(digit) if digit.is_ascii_hexdigit() => {}
                        Some(_) => {
                            return Err(SyntaxError {
                                offset: start,
                                kind: SyntaxErrorKind::BadEscape,
                            });
                        }
                        None => {
                            return Err(SyntaxError {
                                offset: start + digit_offset,
                                kind: SyntaxErrorKind::Truncated,
                            });
                        }
                    }
                }
                self.pos += 6;
            }
            Some(_) => {
                return Err(SyntaxError { offset: start, kind: SyntaxErrorKind::BadEscape });
            }
            None => {
                return Err(SyntaxError { offset: start + 1, kind: SyntaxErrorKind::Truncated });
            }
        }
        Ok(())
    }

    /// Consumes a value that starts with that byte and is neither object nor array.
    pub(crate) fn scalar(&mut self, first: Option<u8>) -> Result<(), SyntaxError> {
        match first {
            Some(b'"') => self.string().map(|_| ()),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            other => Err(self.unexpected(other)),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), SyntaxError> {
        for &wanted in word {
            match self.bytes.get(self.pos) {
                Some(&byte) if byte == wanted => self.pos += 1,
                other => return Err(self.unexpected(other.copied())),
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let start = self.pos;
        if self.bytes[self.pos] == b'-' {
            self.pos += 1;
        }
        let leading_zero = self.bytes.get(self.pos) == Some(&b'0');
        let whole = self.digits();
        let mut good = whole > 0 && !(leading_zero && whole > 1);
        if self.bytes.get(self.pos) == Some(&b'.') {
            self.pos += 1;
            good &= self.digits() > 0;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.pos) {
            self.pos += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.pos) {
                self.pos += 1;
            }
            good &= self.digits() > 0;
        }
        match good {
            true => Ok(()),
            false if self.pos == self.bytes.len() && whole <= 1 => {
                Err(SyntaxError { offset: self.pos, kind: SyntaxErrorKind::Truncated })
            }
            false => Err(SyntaxError { offset: start, kind: SyntaxErrorKind::BadNumber }),
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.pos;
        while self.bytes.get(self.pos).is_some_and(u8::is_ascii_digit) {
            self.pos += 1;
        }
        self.pos - start
    }

    fn unexpected(&self, found: Option<u8>) -> SyntaxError {
        let kind = found.map_or(SyntaxErrorKind::Truncated, SyntaxErrorKind::Unexpected);
        SyntaxError { offset: self.pos, kind }
    }
}

/// Returns the position, from `pos` on, of the next byte that is special inside a
/// string: a quote, a backslash or a control character.
///
/// It compares eight bytes at a time. The first byte at which the subtraction borrows is
/// zero or less than 0x20; only that first byte is used.
#[inline]
fn find_special_byte(bytes: &[u8], mut pos: usize) -> usize {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    while let Some(chunk) = bytes.get(pos..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * b'"' as u64);
        let slash = word ^ (ONES * b'\\' as u64);
        let found = (quote.wrapping_sub(ONES) & !quote)
            | (slash.wrapping_sub(ONES) & !slash)
            | (word.wrapping_sub(ONES * 0x20) & !word);
        match found & HIGH {
            0 => pos += 8,
            found => return pos + found.trailing_zeros() as usize / 8,
        }
    }
    while let Some(&byte) = bytes.get(pos) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            return pos;
        }
        pos += 1;
    }
    pos
}

/// Checks that `bytes` are exactly one JSON value; returns its range.
pub(crate) fn scan_single_value(
    bytes: &[u8],
    max_depth: usize,
) -> Result<Range<usize>, SyntaxError> {
    let mut scanner = Scanner::new(bytes, 0, max_depth);
    let range = scanner.value()?;
    match scanner.peek() {
        None => Ok(range),
        found => Err(scanner.unexpected(found)),
    }
}

/// Appends `text` as a JSON string.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    out.push(b'"');
    if find_special_byte(text.as_bytes(), 0) == text.len() {
        out.extend_from_slice(text.as_bytes());
    } else {
        let quoted = serde_json::Value::from(text).to_string();
        out.extend_from_slice(&quoted.as_bytes()[1..quoted.len() - 1]);
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<(), SyntaxErrorKind>) {
        let found = scan_single_value(text.as_bytes(), 8).map(|_| ()).map_err(|error| error.kind);
        assert_eq!(found, expected, "{text}");
        if expected != Err(SyntaxErrorKind::TooDeep) {
            let serde = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(serde, expected.is_ok(), "serde_json disagrees on {text}");
        }
    }

    #[test]
    fn accepts_valid_json() {
        for text in [
            "null",
            " true ",
            "false",
            "0",
            "-0",
            "12",
            "-1.5",
            "1e5",
            "1E-5",
            "1.25e+10",
            r#""""#,
            r#""a\u00e9\n\\\"""#,
            "[]",
            "[ ]",
            "[1,2]",
            "{}",
            "{ }",
            r#"{"a":{"b":[1,{"c":null}]}, "d" : "e"}"#,
            "[[],[[]],{}]",
        ] {
            check(text, Ok(()));
        }
    }

    #[test]
    fn finds_a_special_byte_at_every_position() {
        for length in 0..20 {
            for position in 0..length {
                for byte in [b'"', b'\\', 0, 0x1f, b'\n'] {
                    let mut bytes = vec![0xC3; length];
                    bytes[position] = byte;
                    assert_eq!(find_special_byte(&bytes, 0), position, "{bytes:?}");
                    assert_eq!(find_special_byte(&bytes, position), position, "{bytes:?}");
                }
            }
            assert_eq!(find_special_byte(&vec![b' '; length], 0), length);
            assert_eq!(find_special_byte(&vec![0xFF; length], 0), length);
        }
    }

    #[test]
    fn reports_the_kind_of_a_syntax_error() {
        check("", Err(SyntaxErrorKind::Truncated));
        check("nul", Err(SyntaxErrorKind::Truncated));
        check("nulk", Err(SyntaxErrorKind::Unexpected(b'k')));
        check("01", Err(SyntaxErrorKind::BadNumber));
        check("1.", Err(SyntaxErrorKind::Truncated));
        check("1.x", Err(SyntaxErrorKind::BadNumber));
        check("-", Err(SyntaxErrorKind::Truncated));
        check("+1", Err(SyntaxErrorKind::Unexpected(b'+')));
        check("NaN", Err(SyntaxErrorKind::Unexpected(b'N')));
        check(r#""abc"#, Err(SyntaxErrorKind::Truncated));
        check(r#""\x""#, Err(SyntaxErrorKind::BadEscape));
        check(r#""\u12g4""#, Err(SyntaxErrorKind::BadEscape));
        check("\"a\nb\"", Err(SyntaxErrorKind::ControlCharacter(b'\n')));
        check("[1", Err(SyntaxErrorKind::Truncated));
        check("[1,]", Err(SyntaxErrorKind::Unexpected(b']')));
        check("[1}", Err(SyntaxErrorKind::Unexpected(b'}')));
        check(r#"{"a"}"#, Err(SyntaxErrorKind::Unexpected(b'}')));
        check(r#"{"a":1,}"#, Err(SyntaxErrorKind::Unexpected(b'}')));
        check("{a:1}", Err(SyntaxErrorKind::Unexpected(b'a')));
        check("1 2", Err(SyntaxErrorKind::Unexpected(b'2')));
        check("[[[[[[[[1]]]]]]]]", Ok(()));
        check("[[[[[[[[[1]]]]]]]]]", Err(SyntaxErrorKind::TooDeep));
    }
}
