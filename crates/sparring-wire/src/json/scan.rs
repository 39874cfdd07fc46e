//! One pass over bytes that should be JSON: where each value ends, and what is
//! wrong if it is not JSON.
//!
//! Iterative, so no input can overflow the stack, and without allocation. It
//! reads strings as bytes: whether they are UTF-8 is asked elsewhere.

use std::ops::Range;

/// The deepest nesting that can be scanned at all.
pub(crate) const DEEPEST: usize = 256;

/// Why a scan stopped, and at which byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// The byte offset at which the text stopped being JSON.
    pub at: usize,
    /// What was wrong there.
    pub kind: FaultKind,
}

/// What can be wrong with a text that should be JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// The text ends inside a value.
    Truncated,
    /// A byte that cannot stand there.
    Unexpected(u8),
    /// A raw control character inside a string.
    ControlCharacter(u8),
    /// A backslash followed by something that is no escape.
    BadEscape,
    /// A number in a spelling that JSON does not have.
    BadNumber,
    /// More nesting than allowed.
    TooDeep,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let at = self.at;
        match self.kind {
            FaultKind::Truncated => write!(f, "the text ends inside a value, at byte {at}"),
            FaultKind::Unexpected(byte) => {
                write!(f, "unexpected {:?} at byte {at}", char::from(byte))
            }
            FaultKind::ControlCharacter(byte) => {
                write!(f, "control character 0x{byte:02x} in a string, at byte {at}")
            }
            FaultKind::BadEscape => write!(f, "unknown escape in a string, at byte {at}"),
            FaultKind::BadNumber => write!(f, "malformed number at byte {at}"),
            FaultKind::TooDeep => write!(f, "nested too deeply, at byte {at}"),
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
        Scanner { bytes, pos, max_depth: max_depth.min(DEEPEST) }
    }

    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn max_depth(&self) -> usize {
        self.max_depth
    }

    /// Skips white space and gives the next byte without taking it.
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

    /// Skips white space and takes `wanted`.
    #[inline]
    pub(crate) fn expect(&mut self, wanted: u8) -> Result<(), Fault> {
        match self.peek() {
            Some(byte) if byte == wanted => {
                self.pos += 1;
                Ok(())
            }
            other => Err(self.unexpected(other)),
        }
    }

    /// Takes one value and gives its range, white space around it left out.
    pub(crate) fn value(&mut self) -> Result<Range<usize>, Fault> {
        self.value_below(0)
    }

    /// Like [`Scanner::value`], for a value that already lies `outer` deep.
    pub(crate) fn value_below(&mut self, outer: usize) -> Result<Range<usize>, Fault> {
        let first = self.peek();
        let start = self.pos;
        if !matches!(first, Some(b'{' | b'[')) {
            self.scalar(first)?;
            return Ok(start..self.pos);
        }
        // One bit a level says whether that level is an object.
        let mut objects = [0u64; DEEPEST / 64];
        let mut depth = 0usize;
        loop {
            // Here a value must begin.
            match self.peek() {
                Some(open @ (b'{' | b'[')) => {
                    if outer + depth >= self.max_depth {
                        return Err(Fault { at: self.pos, kind: FaultKind::TooDeep });
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
            // Here a value has ended: close levels, or go on to the next.
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

    /// Takes a string and gives the range of what is between its quotes, and
    /// whether there are escapes in it.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<(Range<usize>, bool), Fault> {
        // Nearly all are plain, and begin where they are looked for.
        if self.bytes.get(self.pos) == Some(&b'"') {
            let start = self.pos + 1;
            let end = plain_until(self.bytes, start);
            if self.bytes.get(end) == Some(&b'"') {
                self.pos = end + 1;
                return Ok((start..end, false));
            }
        }
        self.any_string()
    }

    #[cold]
    fn any_string(&mut self) -> Result<(Range<usize>, bool), Fault> {
        self.expect(b'"')?;
        let start = self.pos;
        let mut escapes = false;
        loop {
            self.pos = plain_until(self.bytes, self.pos);
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
                    return Err(Fault { at: self.pos, kind: FaultKind::ControlCharacter(byte) });
                }
                None => return Err(Fault { at: self.pos, kind: FaultKind::Truncated }),
            }
        }
    }

    /// Passes over one value of a text that has been scanned before, and gives
    /// its range.
    pub(crate) fn skip(&mut self) -> Result<Range<usize>, Fault> {
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

    fn key(&mut self) -> Result<(), Fault> {
        self.string()?;
        self.expect(b':')
    }

    fn escape(&mut self) -> Result<(), Fault> {
        let at = self.pos;
        match self.bytes.get(at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.pos += 2,
            Some(b'u') => {
                for offset in 2..6 {
                    match self.bytes.get(at + offset) {
                        Some(digit) if digit.is_ascii_hexdigit() => {}
                        Some(_) => {
                            return Err(Fault { at, kind: FaultKind::BadEscape });
                        }
                        None => {
                            return Err(Fault { at: at + offset, kind: FaultKind::Truncated });
                        }
                    }
                }
                self.pos += 6;
            }
            Some(_) => {
                return Err(Fault { at, kind: FaultKind::BadEscape });
            }
            None => {
                return Err(Fault { at: at + 1, kind: FaultKind::Truncated });
            }
        }
        Ok(())
    }

    /// Takes a value that begins with that byte, and is neither object nor array.
    pub(crate) fn scalar(&mut self, first: Option<u8>) -> Result<(), Fault> {
        match first {
            Some(b'"') => self.string().map(|_| ()),
            Some(b't') => self.literal(b"true"),
            Some(b'f') => self.literal(b"false"),
            Some(b'n') => self.literal(b"null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            other => Err(self.unexpected(other)),
        }
    }

    fn literal(&mut self, word: &[u8]) -> Result<(), Fault> {
        for &wanted in word {
            match self.bytes.get(self.pos) {
                Some(&byte) if byte == wanted => self.pos += 1,
                other => return Err(self.unexpected(other.copied())),
            }
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), Fault> {
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
                Err(Fault { at: self.pos, kind: FaultKind::Truncated })
            }
            false => Err(Fault { at: start, kind: FaultKind::BadNumber }),
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.pos;
        while self.bytes.get(self.pos).is_some_and(u8::is_ascii_digit) {
            self.pos += 1;
        }
        self.pos - start
    }

    fn unexpected(&self, found: Option<u8>) -> Fault {
        let kind = found.map_or(FaultKind::Truncated, FaultKind::Unexpected);
        Fault { at: self.pos, kind }
    }
}

/// The next position from `pos` on of a byte that is not plain inside a string:
/// a quote, a backslash or a control character.
///
/// Eight bytes at a time: a byte is zero, or less than 0x20, exactly where the
/// subtraction borrows first, and only the first find is used.
#[inline]
fn plain_until(bytes: &[u8], mut pos: usize) -> usize {
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

/// Checks that `bytes` are exactly one JSON value, and gives its range.
pub(crate) fn one_value(bytes: &[u8], max_depth: usize) -> Result<Range<usize>, Fault> {
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
    if plain_until(text.as_bytes(), 0) == text.len() {
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

    fn check(text: &str, expected: Result<(), FaultKind>) {
        let found = one_value(text.as_bytes(), 8).map(|_| ()).map_err(|fault| fault.kind);
        assert_eq!(found, expected, "{text}");
        if expected != Err(FaultKind::TooDeep) {
            let serde = serde_json::from_str::<serde_json::Value>(text).is_ok();
            assert_eq!(serde, expected.is_ok(), "serde_json disagrees on {text}");
        }
    }

    #[test]
    fn accepts_what_is_json() {
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
    fn finds_what_is_not_plain_at_every_place() {
        for length in 0..20 {
            for at in 0..length {
                for byte in [b'"', b'\\', 0, 0x1f, b'\n'] {
                    let mut bytes = vec![0xC3; length];
                    bytes[at] = byte;
                    assert_eq!(plain_until(&bytes, 0), at, "{bytes:?}");
                    assert_eq!(plain_until(&bytes, at), at, "{bytes:?}");
                }
            }
            assert_eq!(plain_until(&vec![b' '; length], 0), length);
            assert_eq!(plain_until(&vec![0xFF; length], 0), length);
        }
    }

    #[test]
    fn names_what_is_not_json() {
        check("", Err(FaultKind::Truncated));
        check("nul", Err(FaultKind::Truncated));
        check("nulk", Err(FaultKind::Unexpected(b'k')));
        check("01", Err(FaultKind::BadNumber));
        check("1.", Err(FaultKind::Truncated));
        check("1.x", Err(FaultKind::BadNumber));
        check("-", Err(FaultKind::Truncated));
        check("+1", Err(FaultKind::Unexpected(b'+')));
        check("NaN", Err(FaultKind::Unexpected(b'N')));
        check(r#""abc"#, Err(FaultKind::Truncated));
        check(r#""\x""#, Err(FaultKind::BadEscape));
        check(r#""\u12g4""#, Err(FaultKind::BadEscape));
        check("\"a\nb\"", Err(FaultKind::ControlCharacter(b'\n')));
        check("[1", Err(FaultKind::Truncated));
        check("[1,]", Err(FaultKind::Unexpected(b']')));
        check("[1}", Err(FaultKind::Unexpected(b'}')));
        check(r#"{"a"}"#, Err(FaultKind::Unexpected(b'}')));
        check(r#"{"a":1,}"#, Err(FaultKind::Unexpected(b'}')));
        check("{a:1}", Err(FaultKind::Unexpected(b'a')));
        check("1 2", Err(FaultKind::Unexpected(b'2')));
        check("[[[[[[[[1]]]]]]]]", Ok(()));
        check("[[[[[[[[[1]]]]]]]]]", Err(FaultKind::TooDeep));
    }
}
