//! An answer of the model after its templates were rendered.

use serde_json::Value;

/// An answer before it gets the form of an API.
#[derive(Debug, Default)]
pub(super) struct ModelAnswer {
    /// The number of the answer, from 1.
    pub(super) number: u64,
    pub(super) model: String,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<ToolCall>,
    /// The stop reason, if the script sets one.
    pub(super) stop: Option<String>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// A tool call of the model.
#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) with: Value,
    /// The arguments as JSON text, or the text that replaces them.
    pub(super) arguments: String,
}

/// An answer as server-sent events.
#[derive(Debug)]
pub(super) struct EventStream {
    pub(super) events: Vec<String>,
    /// The events that end the stream.
    pub(super) ending: Vec<String>,
}

/// The length of the pieces of a streamed text in bytes, and the most pieces of a text.
const PIECE_BYTES: usize = 12;
const MAX_PIECES: usize = 500;

/// Splits a text into the pieces of a stream.
pub(super) fn split_into_pieces(text: &str) -> Vec<&str> {
    let length = PIECE_BYTES.max(text.len() / MAX_PIECES);
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
    fn pieces_add_up_to_the_text_and_are_limited() {
        for text in ["", "short", "ä€😀 and more of it, ä€😀 up to the end 😀😀😀😀"]
        {
            assert_eq!(split_into_pieces(text).concat(), text);
        }
        assert!(split_into_pieces("twelve bytes and so on").len() > 1);
        assert!(split_into_pieces(&"x".repeat(1_000_000)).len() <= MAX_PIECES + 1);
    }
}
