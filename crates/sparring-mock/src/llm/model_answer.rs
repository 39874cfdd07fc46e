//! An answer of the model after its templates were rendered.

use serde_json::Value;

/// An answer before it gets the form of an API.
#[derive(Debug, Default)]
pub(super) struct ModelAnswer {
    /// The number of the answer, from 1.
    pub(super) number: u64,
    pub(super) model: String,
    pub(super) text: Option<String>,
    /// The text of a refusal, instead of an answer.
    pub(super) refusal: Option<String>,
    pub(super) calls: Vec<ToolCall>,
    /// The stop reason, if the script sets one.
    pub(super) stop: Option<String>,
    /// The number of equal answers that the request asks for.
    pub(super) choices: u64,
    /// The response that the request continues.
    pub(super) previous_response: Option<String>,
    pub(super) input_tokens: u64,
    pub(super) output_tokens: u64,
}

/// A tool call of the model.
#[derive(Debug)]
pub(super) struct ToolCall {
    pub(super) id: String,
    pub(super) tool: String,
    /// The namespace that declares the tool; `tool` begins with it.
    pub(super) namespace: Option<String>,
    pub(super) with: Value,
    /// The arguments as JSON text, or the text that replaces them.
    pub(super) arguments: String,
    /// True if the arguments are a text of the script.
    pub(super) is_text: bool,
}

/// An answer as server-sent events.
#[derive(Debug)]
pub(super) struct EventStream {
    pub(super) events: Vec<String>,
    /// The events that end the stream.
    pub(super) ending: Vec<String>,
}

/// Words for the same stop reason: of chat completions, Responses, messages and Gemini.
const STOP_REASONS: [[&str; 4]; 4] = [
    ["stop", "completed", "end_turn", "STOP"],
    ["length", "max_output_tokens", "max_tokens", "MAX_TOKENS"],
    ["tool_calls", "completed", "tool_use", "STOP"],
    ["content_filter", "content_filter", "refusal", "SAFETY"],
];

impl ModelAnswer {
    /// Returns the stop reason in the words of an API. `api` is its position in
    /// [`STOP_REASONS`]. A reason of another API is translated; any other word is sent as it is.
    pub(super) fn stop_reason(&self, api: usize) -> &str {
        let [stop, _, tool_calls, refusal] = STOP_REASONS;
        let Some(word) = self.stop.as_deref() else {
            return match (&self.refusal, self.calls.is_empty()) {
                (Some(_), _) => refusal[api],
                (None, true) => stop[api],
                (None, false) => tool_calls[api],
            };
        };
        if STOP_REASONS.iter().any(|words| words[api] == word) {
            return word;
        }
        let found = STOP_REASONS.iter().find(|words| words.contains(&word));
        found.map_or(word, |words| words[api])
    }
}

impl ToolCall {
    /// Returns the name without its namespace.
    pub(super) fn own_name(&self) -> &str {
        let namespace = self.namespace.as_deref().unwrap_or_default();
        let rest = self.tool.strip_prefix(namespace).unwrap_or(&self.tool);
        match namespace.is_empty() || namespace.ends_with('_') {
            true => rest,
            false => rest.strip_prefix("__").unwrap_or(rest),
        }
    }
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
