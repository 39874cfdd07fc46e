//! The byte positions of all values of a JSON text, recorded once so that later access
//! needs no scanning.

use std::ops::Range;

use super::scanner::{MAX_DEPTH, Scanner, SyntaxError, SyntaxErrorKind};
use super::view::Key;

/// The maximum length of a text with an index. For a longer text, the time saved is not
/// worth the memory that a hostile text could use.
const MAX_INDEXED_BYTES: usize = 64 * 1024;

/// A value or the name of a member, with its position in the whole text.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    pub(super) start: u32,
    pub(super) end: u32,
    /// The number of nodes of this value, itself included, and the bit [`FLAG`].
    size: u32,
}

/// The flag in the size of a node: a name has escapes, or an object inside a value can
/// have duplicate names.
const FLAG: u32 = 1 << 31;

impl Node {
    /// Returns the number of nodes of this value, itself included.
    pub(super) fn size(self) -> usize {
        (self.size & !FLAG) as usize
    }

    /// Returns true if a name has escapes.
    pub(super) fn has_escapes(self) -> bool {
        self.size & FLAG != 0
    }

    /// Returns true if no object inside a value has duplicate names; false if one could
    /// have them.
    pub(super) fn has_unique_names(self) -> bool {
        self.size & FLAG == 0
    }

    pub(super) fn text(self, whole: &[u8]) -> &[u8] {
        &whole[self.start as usize..self.end as usize]
    }
}

/// The nodes of one value in the order of its text: a value before its content, a name
/// before its value.
#[derive(Debug, Default)]
pub(crate) struct NodeIndex(Vec<Node>);

impl NodeIndex {
    /// Builds the index of the value at `range` of a text that the scanner has accepted.
    /// The index of a text that is too long is empty.
    pub(crate) fn build(text: &[u8], range: Range<usize>) -> NodeIndex {
        let mut index = NodeIndex::default();
        if range.len() <= MAX_INDEXED_BYTES && range.end <= u32::MAX as usize {
            // A built frame can nest deeper than the limit for received frames.
            let mut scanner = Scanner::new(text, range.start, MAX_DEPTH);
            let _ = index.scan(&text[..range.end], &mut scanner, 0);
        }
        index
    }

    /// Consumes the scanner's next value, as [`Scanner::value_at_depth`] does, and records
    /// its nodes. After a syntax error the index is empty.
    pub(crate) fn scan(
        &mut self,
        text: &[u8],
        scanner: &mut Scanner<'_>,
        outer: usize,
    ) -> Result<Range<usize>, SyntaxError> {
        self.0.reserve((text.len() - scanner.pos()) / 8 + 4);
        scanner.peek();
        let start = scanner.pos();
        match self.scan_value(text, scanner, outer) {
            Ok(_) => Ok(start..scanner.pos()),
            Err(error) => {
                self.0.clear();
                Err(error)
            }
        }
    }

    /// Returns true if a text is short enough for an index.
    pub(crate) fn can_hold(text: &[u8]) -> bool {
        text.len() <= MAX_INDEXED_BYTES
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the nodes of the value at `start`; empty if the index is for another
    /// value.
    pub(crate) fn nodes_at(&self, start: usize) -> &[Node] {
        match self.0.first() {
            Some(node) if node.start as usize == start => &self.0,
            _ => &[],
        }
    }

    /// Records one value; returns true if an object in it can have duplicate names.
    fn scan_value(
        &mut self,
        text: &[u8],
        scanner: &mut Scanner<'_>,
        depth: usize,
    ) -> Result<bool, SyntaxError> {
        let first = scanner.peek();
        let (first_node, start) = (self.0.len(), scanner.pos() as u32);
        if !matches!(first, Some(b'{' | b'[')) {
            scanner.scalar(first)?;
            self.0.push(Node { start, end: scanner.pos() as u32, size: 1 });
            return Ok(false);
        }
        if depth >= scanner.max_depth() {
            return Err(SyntaxError { offset: scanner.pos(), kind: SyntaxErrorKind::TooDeep });
        }
        self.0.push(Node { start, ..Node::default() });
        let (open, close) = if first == Some(b'{') { (b'{', b'}') } else { (b'[', b']') };
        scanner.expect(open)?;
        let (mut names, mut duplicates) = (0, false);
        if scanner.peek() != Some(close) {
            loop {
                if close == b'}' {
                    let (name, escapes) = scanner.string()?;
                    let fingerprint = Key::new(&text[name.clone()], escapes).fingerprint();
                    duplicates |= names & fingerprint != 0;
                    names |= fingerprint;
                    let size = if escapes { FLAG | 1 } else { 1 };
                    self.0.push(Node { start: name.start as u32, end: name.end as u32, size });
                    scanner.expect(b':')?;
                }
                duplicates |= self.scan_value(text, scanner, depth + 1)?;
                if scanner.peek() != Some(b',') {
                    break;
                }
                scanner.expect(b',')?;
            }
        }
        scanner.expect(close)?;
        let size = (self.0.len() - first_node) as u32;
        let node = &mut self.0[first_node];
        (node.end, node.size) = (scanner.pos() as u32, size | if duplicates { FLAG } else { 0 });
        Ok(duplicates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_names_and_values_in_order() {
        let text = br#"{"x":{"a":[1,{"b":"y"}],"c":{}}}"#;
        let index = NodeIndex::build(text, 5..text.len() - 1);
        let nodes = index.nodes_at(5);
        let texts: Vec<_> =
            nodes.iter().map(|node| str::from_utf8(node.text(text)).unwrap()).collect();
        assert_eq!(
            texts[1..],
            ["a", r#"[1,{"b":"y"}]"#, "1", r#"{"b":"y"}"#, "b", r#""y""#, "c", "{}"]
        );
        let sizes: Vec<_> = nodes.iter().map(|node| node.size()).collect();
        assert_eq!(sizes, [9, 1, 5, 1, 3, 1, 1, 1, 1]);
        assert!(index.nodes_at(0).is_empty(), "the index is not for the whole text");
    }

    #[test]
    fn flags_values_that_can_have_duplicate_names() {
        for (text, flagged) in [
            (r#"{"a":{"b":1},"b":[{"b":2},{"b":3}]}"#, false),
            (r#"{"a":1,"a":2}"#, true),
            (r#"{"x":[{},{"a":1,"a":2}]}"#, true),
            (r#"{"a":1,"\u0061":2}"#, true),
        ] {
            let index = NodeIndex::build(text.as_bytes(), 0..text.len());
            assert_eq!(!index.nodes_at(0)[0].has_unique_names(), flagged, "{text}");
            assert_eq!(index.nodes_at(0)[0].size(), index.0.len(), "{text}");
        }
    }

    #[test]
    fn a_long_text_gets_no_index() {
        let text = format!("[{}1]", "1,".repeat(MAX_INDEXED_BYTES));
        assert!(NodeIndex::build(text.as_bytes(), 0..text.len()).nodes_at(0).is_empty());
    }
}
