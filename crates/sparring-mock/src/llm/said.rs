//! What the model says in a turn, with everything in it known.

use serde_json::Value;

/// An answer before it is put into the words of an API.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// Which answer of the endpoint it is, from 1.
    pub(super) number: u64,
    pub(super) model: String,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<SaidCall>,
    /// Why it stops, where that is said.
    pub(super) stop: Option<String>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// A call of a tool.
#[derive(Debug)]
pub(super) struct SaidCall {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) with: Value,
    /// The same as a text of JSON, or what stands for it.
    pub(super) arguments: String,
}

/// An answer that comes event by event.
#[derive(Debug)]
pub(super) struct Stream {
    pub(super) events: Vec<String>,
    /// What says that it was all.
    pub(super) ending: Vec<String>,
}

/// About how long a piece of a text is that comes event by event, and the most
/// pieces that a text comes in.
const PIECE: usize = 12;
const MOST: usize = 500;

/// A text in the pieces in which it comes.
pub(super) fn pieces(text: &str) -> Vec<&str> {
    let length = PIECE.max(text.len() / MOST);
    let mut pieces = Vec::new();
    let mut rest = text;
    while rest.len() > length {
        let mut end = length;
        while !rest.is_char_boundary(end) {
            end += 1;
        }
        let (piece, after) = rest.split_at(end);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_make_the_text_again_and_are_not_too_many() {
        for text in ["", "short", "ä€😀 and more of it, ä€😀 up to the end 😀😀😀😀"]
        {
            assert_eq!(pieces(text).concat(), text);
        }
        assert!(pieces("twelve bytes and so on").len() > 1);
        assert!(pieces(&"x".repeat(1_000_000)).len() <= MOST + 1);
    }
}
