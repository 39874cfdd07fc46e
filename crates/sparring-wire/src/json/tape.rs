//! Where every value of a text stands, noted once, so that looking into it
//! again and again costs no further scanning.

use std::ops::Range;

use super::scan::{DEEPEST, Fault, FaultKind, Scanner};

/// Texts longer than this get no tape: what it saves is not worth the memory
/// that a hostile text could make it take.
const LONGEST: usize = 64 * 1024;

/// One value, or the name of a member, and where it stands in the whole text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    /// How many nodes it and everything inside it have; for a name, whether it
    /// has escapes.
    size: u32,
}

/// Set in the size of a name that has escapes.
const ESCAPES: u32 = 1 << 31;

impl Node {
    /// How many nodes to step over to get past it.
    pub(super) fn size(self) -> usize {
        self.size as usize
    }

    pub(super) fn has_escapes(self) -> bool {
        self.size & ESCAPES != 0
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
        let mut tape = Tape(Vec::new());
        if range.len() <= LONGEST && range.end <= u32::MAX as usize {
            tape.0.reserve(range.len() / 12 + 4);
            let mut scanner = Scanner::new(text, range.start, DEEPEST);
            if tape.value(&mut scanner, 0).is_err() {
                tape.0.clear();
            }
        }
        tape
    }

    /// The nodes of the value that stands at `start`; none if the tape is not
    /// of that value.
    pub(crate) fn at(&self, start: usize) -> &[Node] {
        match self.0.first() {
            Some(node) if node.start as usize == start => &self.0,
            _ => &[],
        }
    }

    fn value(&mut self, scanner: &mut Scanner<'_>, depth: usize) -> Result<(), Fault> {
        // What we put together ourselves may be deeper than what is read.
        if depth > DEEPEST {
            return Err(Fault { at: scanner.pos(), kind: FaultKind::TooDeep });
        }
        let first = scanner.peek();
        let index = self.0.len();
        if !matches!(first, Some(b'{' | b'[')) {
            let range = scanner.skip()?;
            self.0.push(Node { start: range.start as u32, end: range.end as u32, size: 1 });
            return Ok(());
        }
        self.0.push(Node { start: scanner.pos() as u32, ..Node::default() });
        let (open, close) = if first == Some(b'{') { (b'{', b'}') } else { (b'[', b']') };
        scanner.expect(open)?;
        if scanner.peek() != Some(close) {
            loop {
                if close == b'}' {
                    let (name, escapes) = scanner.string()?;
                    let size = if escapes { ESCAPES } else { 1 };
                    self.0.push(Node { start: name.start as u32, end: name.end as u32, size });
                    scanner.expect(b':')?;
                }
                self.value(scanner, depth + 1)?;
                if scanner.peek() != Some(b',') {
                    break;
                }
                scanner.expect(b',')?;
            }
        }
        scanner.expect(close)?;
        let size = (self.0.len() - index) as u32;
        let node = &mut self.0[index];
        (node.end, node.size) = (scanner.pos() as u32, size);
        Ok(())
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
        let sizes: Vec<_> = nodes.iter().map(|node| node.size).collect();
        assert_eq!(sizes, [9, 1, 5, 1, 3, 1, 1, 1, 1]);
        assert!(tape.at(0).is_empty(), "the tape is not of the whole");
    }

    #[test]
    fn a_long_text_gets_none() {
        let text = format!("[{}1]", "1,".repeat(LONGEST));
        assert!(Tape::of(text.as_bytes(), 0..text.len()).at(0).is_empty());
    }
}
