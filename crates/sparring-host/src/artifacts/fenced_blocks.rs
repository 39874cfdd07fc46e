//! Finds fenced code blocks in a text.

use std::ops::Range;

/// A fenced block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block<'a> {
    /// Its range in the text, including the fences.
    pub(super) range: Range<usize>,
    /// The word after the fence; may be empty.
    pub(super) language: &'a str,
    /// The text between the fences, without the last line break.
    pub(super) body: &'a str,
}

/// Finds all closed blocks. A fence has at least three backticks or tildes
/// after at most three spaces; the closing fence is at least as long as the
/// opening one.
pub(super) fn find_fenced_blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut open: Option<(Fence<'_>, Range<usize>)> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let (start, end) = (at, at + line.len());
        at = end;
        let Some(fence) = Fence::parse(line) else { continue };
        match &open {
            None => open = Some((fence, start..end)),
            Some((opened, first)) if fence.closes(*opened) => {
                let body = &text[first.end..start];
                let body = body.strip_suffix('\n').unwrap_or(body);
                let body = body.strip_suffix('\r').unwrap_or(body);
                blocks.push(Block { range: first.start..end, language: opened.language, body });
                open = None;
            }
            Some(_) => {}
        }
    }
    blocks
}

#[derive(Clone, Copy)]
struct Fence<'a> {
    mark: char,
    length: usize,
    language: &'a str,
    bare: bool,
}

impl<'a> Fence<'a> {
    fn parse(line: &'a str) -> Option<Fence<'a>> {
        let inner = line.trim_start_matches(' ');
        if line.len() - inner.len() > 3 {
            return None;
        }
        let mark = inner.chars().next().filter(|c| "`~".contains(*c))?;
        let rest = inner.trim_start_matches(mark);
        let (length, info) = (inner.len() - rest.len(), rest.trim());
        // With a backtick in the rest, it is inline code.
        if length < 3 || (mark == '`' && info.contains('`')) {
            return None;
        }
        let language = info.split([' ', '\t', ',', '{']).next().unwrap_or_default();
        Some(Fence { mark, length, language, bare: info.is_empty() })
    }

    fn closes(self, open: Fence<'_>) -> bool {
        self.bare && self.mark == open.mark && self.length >= open.length
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, &str)]) {
        let found = find_fenced_blocks(text);
        let found: Vec<_> = found.iter().map(|block| (block.language, block.body)).collect();
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn blocks_are_found_with_their_language() {
        check(
            "a\n```json\n{}\n```\nb\n~~~csv x\na,b\n1,2\n~~~",
            &[("json", "{}"), ("csv", "a,b\n1,2")],
        );
        check("```\r\nx\r\n```\r\n", &[("", "x")]);
        check("````md\n```\nx\n```\n````", &[("md", "```\nx\n```")]);
        check("```\n```", &[("", "")]);
    }

    #[test]
    fn an_unclosed_block_and_inline_code_are_not_blocks() {
        check("```json\n{}", &[]);
        check("say ``` and\n``` x ``` \n", &[]);
        check("    ```\nx\n    ```", &[]);
        check("```\nx\n~~~", &[]);
        check("````\nx\n```", &[]);
    }
}
