//! Anthropic's messages API: builds requests and parses responses, whole or as
//! a stream of events.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::model_turn::{ModelTurn, StopReason, ToolCall, ToolResult, text};

/// The default limit of tokens per turn; the API requires one.
const DEFAULT_MAX_TOKENS: u32 = 4096;

/// The maximum number of blocks in a response.
const MAX_BLOCKS: usize = 256;

pub(super) fn user_message(prompt: &str) -> Value {
    json!({"role": "user", "content": prompt})
}

pub(super) fn request_body(
    model: &str,
    system: Option<&str>,
    messages: &[Value],
    tools: &[Value],
    max_tokens: Option<u32>,
) -> Value {
    let most = max_tokens.unwrap_or(DEFAULT_MAX_TOKENS);
    let mut body = json!({"model": model, "max_tokens": most, "messages": messages});
    if let Some(system) = system {
        body["system"] = system.into();
    }
    if !tools.is_empty() {
        body["tools"] = tools.into();
    }
    body
}

/// The message that repeats the model's turn in the next request.
pub(super) fn assistant_message(turn: &ModelTurn) -> Value {
    let text = (!turn.text.is_empty()).then(|| json!({"type": "text", "text": turn.text}));
    let calls = turn.calls.iter().map(|it| {
        // Invalid arguments are reported in the result of the call.
        let input = it.value().unwrap_or_else(|_| json!({}));
        json!({"type": "tool_use", "id": it.id, "name": it.tool, "input": input})
    });
    let content: Vec<Value> = text.into_iter().chain(calls).collect();
    json!({"role": "assistant", "content": content})
}

/// The results of the calls, in one message.
pub(super) fn result_messages(outcomes: &[ToolResult]) -> Vec<Value> {
    let block = |it: &ToolResult| {
        json!({
            "type": "tool_result", "tool_use_id": it.id, "content": it.text,
            "is_error": it.is_error,
        })
    };
    vec![json!({"role": "user", "content": outcomes.iter().map(block).collect::<Vec<_>>()})]
}

/// Parses a response that is not a stream.
pub(super) fn parse_response(answer: &Value) -> Result<ModelTurn, String> {
    let blocks = answer["content"].as_array().ok_or("the response has no content")?;
    if blocks.len() > MAX_BLOCKS {
        return Err(format!("the response has more than {MAX_BLOCKS} blocks"));
    }
    let mut turn =
        ModelTurn { stop: stop_reason(answer["stop_reason"].as_str()), ..ModelTurn::default() };
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => turn.text.push_str(block["text"].as_str().unwrap_or_default()),
            Some("tool_use") => turn.calls.push(ToolCall {
                id: text(&block["id"]),
                tool: text(&block["name"]),
                arguments: block["input"].to_string(),
            }),
            _ => {}
        }
    }
    Ok(turn)
}

/// Assembles a turn from a stream.
#[derive(Default)]
pub(super) struct EventAssembler {
    text: String,
    /// The calls, by the index of their blocks.
    calls: BTreeMap<u64, ToolCall>,
    stop: Option<String>,
    complete: bool,
}

impl EventAssembler {
    pub(super) fn push(&mut self, event: &Value) -> Result<String, String> {
        let at = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str() {
            Some("error") => {
                return Err(format!(
                    "the endpoint sent an error: {}",
                    text(&event["error"]["message"])
                ));
            }
            Some("content_block_start") => {
                let block = &event["content_block"];
                match block["type"].as_str() {
                    Some("tool_use") if self.calls.len() >= MAX_BLOCKS => {
                        return Err(format!("the response has more than {MAX_BLOCKS} blocks"));
                    }
                    Some("tool_use") => {
                        let (id, tool) = (text(&block["id"]), text(&block["name"]));
                        self.calls.insert(at, ToolCall { id, tool, arguments: String::new() });
                    }
                    Some("text") => return Ok(self.add(&block["text"])),
                    _ => {}
                }
            }
            Some("content_block_delta") => {
                let delta = &event["delta"];
                match delta["type"].as_str() {
                    Some("text_delta") => return Ok(self.add(&delta["text"])),
                    Some("input_json_delta") => {
                        if let Some(call) = self.calls.get_mut(&at) {
                            let more = delta["partial_json"].as_str().unwrap_or_default();
                            call.arguments.push_str(more);
                        }
                    }
                    _ => {}
                }
            }
            Some("message_delta") => {
                if let Some(reason) = event["delta"]["stop_reason"].as_str() {
                    self.stop = Some(reason.to_owned());
                }
            }
            Some("message_stop") => self.complete = true,
            _ => {}
        }
        Ok(String::new())
    }

    pub(super) fn is_complete(&self) -> bool {
        self.complete
    }

    pub(super) fn finish(self) -> ModelTurn {
        let stop = stop_reason(self.stop.as_deref());
        ModelTurn { text: self.text, calls: self.calls.into_values().collect(), stop }
    }
    fn add(&mut self, more: &Value) -> String {
        let more = text(more);
        self.text.push_str(&more);
        more
    }
}

fn stop_reason(reason: Option<&str>) -> StopReason {
    match reason {
        Some("max_tokens" | "model_context_window_exceeded") => StopReason::Truncated,
        Some("refusal") => StopReason::Refused(String::new()),
        Some("pause_turn") => StopReason::Paused,
        _ => StopReason::Finished,
    }
}
