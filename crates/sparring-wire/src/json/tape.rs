//! Where every value of a text stands, noted once, so that looking into it
//! again and again costs no further scanning.

use std::ops::Range;

use super::scan::{DEEPEST, Fault, FaultKind, Scanner};
use super::view::Key;

/// Texts longer than this get no tape: what it saves is not worth the memory
/// that a hostile text could make it take.
const LONGEST: usize = 64 * 1024;

/// One value, or the name of a member, and where it stands in the whole text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    /// How many nodes it and everything inside it have, and one bit that says
    /// something more.
    size: u32,
}

/// Set in the size of a name that has escapes, and of a value inside of which
/// two names of one object may be the same.
const MARK: u32 = 1 << 31;

impl Node {
    /// How many nodes to step over to get past it.
    pub(super) fn size(self) -> usize {
        (self.size & !MARK) as usize
    }

    /// Of a name.
    pub(super) fn has_escapes(self) -> bool {
        self.size & MARK != 0
    }

    /// Of a value: whether no object inside it has a name twice. That it has is
    /// not certain if this says no.
    pub(super) fn has_each_name_once(self) -> bool {
        self.size & MARK == 0
    }

    pub(super) fn text(self, whole: &[u8]) -> &[u8] {
        &whole[self.start as usize..self.end as usize]
    }
}

/// The nodes of one value of a text, in the order they stand in it: each value
/// before what is inside it, each name before its value.
#[derive(Debug, Default)]
pub(crate) struct Tape(Vec<Node>);

impl Tape {
    /// Notes down the value that stands at `range` of a text, all of which the
    /// scanner has accepted, if it is not too long.
    pub(crate) fn of(text: &[u8], range: Range<usize>) -> Tape {
        let mut tape = Tape::default();
        if range.len() <= LONGEST && range.end <= u32::MAX as usize {
            // What we put together ourselves may be deeper than what is read.
            let mut scanner = Scanner::new(text, range.start, DEEPEST);
            let _ = tape.note(&text[..range.end], &mut scanner, 0);
        }
        tape
    }

    /// Takes the scanner's next value, as [`Scanner::value_below`] does, and
    /// notes it down on the way. What is no JSON leaves no notes.
    pub(crate) fn note(
        &mut self,
        text: &[u8],
        scanner: &mut Scanner<'_>,
        outer: usize,
    ) -> Result<Range<usize>, Fault> {
        self.0.reserve((text.len() - scanner.pos()) / 8 + 4);
        scanner.peek();
        let start = scanner.pos();
        match self.value(text, scanner, outer) {
            Ok(_) => Ok(start..scanner.pos()),
            Err(fault) => {
                self.0.clear();
                Err(fault)
            }
        }
    }

    /// Whether there is room in a tape for a value of that text.
    pub(crate) fn fits(text: &[u8]) -> bool {
        text.len() <= LONGEST
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The nodes of the value that stands at `start`; none if the tape is not
    /// of that value.
    pub(crate) fn at(&self, start: usize) -> &[Node] {
        match self.0.first() {
            Some(node) if node.start as usize == start => &self.0,
            _ => &[],
        }
    }

    /// Notes down one value; says whether a name in it may stand twice.
    fn value(
        &mut self,
        text: &[u8],
        scanner: &mut Scanner<'_>,
        depth: usize,
    ) -> Result<bool, Fault> {
        let first = scanner.peek();
        let (index, start) = (self.0.len(), scanner.pos() as u32);
        if !matches!(first, Some(b'{' | b'[')) {
            scanner.scalar(first)?;
            self.0.push(Node { start, end: scanner.pos() as u32, size: 1 });
            return Ok(false);
        }
        if depth >= scanner.max_depth() {
            return Err(Fault { at: scanner.pos(), kind: FaultKind::TooDeep });
        }
        self.0.push(Node { start, ..Node::default() });
        let (open, close) = if first == Some(b'{') { (b'{', b'}') } else { (b'[', b']') };
        scanner.expect(open)?;
        let (mut names, mut twice) = (0, false);
        if scanner.peek() != Some(close) {
            loop {
                if close == b'}' {
                    let (name, escapes) = scanner.string()?;
                    let fingerprint = Key::new(&text[name.clone()], escapes).fingerprint();
                    twice |= names & fingerprint != 0;
                    names |= fingerprint;
                    let size = if escapes { MARK | 1 } else { 1 };
                    self.0.push(Node { start: name.start as u32, end: name.end as u32, size });
                    scanner.expect(b':')?;
                }
                twice |= self.value(text, scanner, depth + 1)?;
                if scanner.peek() != Some(b',') {
                    break;
                }
                scanner.expect(b',')?;
            }
        }
        scanner.expect(close)?;
        let size = (self.0.len() - index) as u32;
        let node = &mut self.0[index];
        (node.end, node.size) = (scanner.pos() as u32, size | if twice { MARK } else { 0 });
        Ok(twice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_names_and_values_in_order() {
        let text = br#"{"x":{"a":[1,{"b":"y"}],"c":{}}}"#;
        let tape = Tape::of(text, 5..text.len() - 1);
        let nodes = tape.at(5);
        let texts: Vec<_> =
            nodes.iter().map(|node| str::from_utf8(node.text(text)).unwrap()).collect();
        assert_eq!(
            texts[1..],
            ["a", r#"[1,{"b":"y"}]"#, "1", r#"{"b":"y"}"#, "b", r#""y""#, "c", "{}"]
        );
        let sizes: Vec<_> = nodes.iter().map(|node| node.size()).collect();
        assert_eq!(sizes, [9, 1, 5, 1, 3, 1, 1, 1, 1]);
        assert!(tape.at(0).is_empty(), "the tape is not of the whole");
    }

    #[test]
    fn marks_what_may_have_a_name_twice() {
        for (text, marked) in [
            (r#"{"a":{"b":1},"b":[{"b":2},{"b":3}]}"#, false),
            (r#"{"a":1,"a":2}"#, true),
            (r#"{"x":[{},{"a":1,"a":2}]}"#, true),
            (r#"{"a":1,"\u0061":2}"#, true),
        ] {
            let tape = Tape::of(text.as_bytes(), 0..text.len());
            assert_eq!(!tape.at(0)[0].has_each_name_once(), marked, "{text}");
            assert_eq!(tape.at(0)[0].size(), tape.0.len(), "{text}");
        }
    }

    #[test]
    fn a_long_text_gets_none() {
        let text = format!("[{}1]", "1,".repeat(LONGEST));
        assert!(Tape::of(text.as_bytes(), 0..text.len()).at(0).is_empty());
    }
}
