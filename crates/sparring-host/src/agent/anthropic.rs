//! Anthropic's messages: how they are written, and how an answer is read, at
//! once or event by event.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::said::{Called, Listening, Outcome, Said, Stop, text};

/// How much a model may say where nobody says otherwise: the API wants a number.
const MAX_TOKENS: u32 = 4096;

/// The most blocks that an answer may have.
const MOST_BLOCKS: usize = 256;

pub(super) fn user(prompt: &str) -> Value {
    json!({"role": "user", "content": prompt})
}

pub(super) fn body(
    model: &str,
    system: Option<&str>,
    messages: &[Value],
    tools: &[Value],
    max_tokens: Option<u32>,
) -> Value {
    let most = max_tokens.unwrap_or(MAX_TOKENS);
    let mut body = json!({"model": model, "max_tokens": most, "messages": messages});
    if let Some(system) = system {
        body["system"] = system.into();
    }
    if !tools.is_empty() {
        body["tools"] = tools.into();
    }
    body
}

/// What the model said, as the next request repeats it.
pub(super) fn assistant(said: &Said) -> Value {
    let text = (!said.text.is_empty()).then(|| json!({"type": "text", "text": said.text}));
    let calls = said.calls.iter().map(|it| {
        // Arguments that are none were not called with; it is told so.
        let input = it.value().unwrap_or_else(|_| json!({}));
        json!({"type": "tool_use", "id": it.id, "name": it.tool, "input": input})
    });
    let content: Vec<Value> = text.into_iter().chain(calls).collect();
    json!({"role": "assistant", "content": content})
}

/// What came of its calls: all of them in one message.
pub(super) fn results(outcomes: &[Outcome]) -> Vec<Value> {
    let block = |it: &Outcome| {
        json!({
            "type": "tool_result", "tool_use_id": it.id, "content": it.text,
            "is_error": it.is_error,
        })
    };
    vec![json!({"role": "user", "content": outcomes.iter().map(block).collect::<Vec<_>>()})]
}

/// Reads an answer that came at once.
pub(super) fn read(answer: &Value) -> Result<Said, String> {
    let blocks = answer["content"].as_array().ok_or("it has no content")?;
    if blocks.len() > MOST_BLOCKS {
        return Err(format!("it has more than {MOST_BLOCKS} blocks"));
    }
    let mut said = Said { stop: stop(answer["stop_reason"].as_str()), ..Said::default() };
    for block in blocks {
        match block["type"].as_str() {
            Some("text") => said.text.push_str(block["text"].as_str().unwrap_or_default()),
            Some("tool_use") => said.calls.push(Called {
                id: text(&block["id"]),
                tool: text(&block["name"]),
                arguments: block["input"].to_string(),
            }),
            _ => {}
        }
    }
    Ok(said)
}

/// What has come of a stream.
#[derive(Default)]
pub(super) struct Events {
    text: String,
    /// The calls, by the index of their blocks.
    calls: BTreeMap<u64, Called>,
    stop: Option<String>,
    whole: bool,
}

impl Listening for Events {
    fn take(&mut self, event: &Value) -> Result<String, String> {
        let at = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str() {
            Some("error") => {
                return Err(format!("the endpoint gave up: {}", text(&event["error"]["message"])));
            }
            Some("content_block_start") => {
                let block = &event["content_block"];
                match block["type"].as_str() {
                    Some("tool_use") if self.calls.len() >= MOST_BLOCKS => {
                        return Err(format!("it has more than {MOST_BLOCKS} blocks"));
                    }
                    Some("tool_use") => {
                        let (id, tool) = (text(&block["id"]), text(&block["name"]));
                        self.calls.insert(at, Called { id, tool, arguments: String::new() });
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
            Some("message_stop") => self.whole = true,
            _ => {}
        }
        Ok(String::new())
    }

    fn is_whole(&self) -> bool {
        self.whole
    }

    fn said(self) -> Said {
        let stop = stop(self.stop.as_deref());
        Said { text: self.text, calls: self.calls.into_values().collect(), stop }
    }
}

impl Events {
    fn add(&mut self, more: &Value) -> String {
        let more = text(more);
        self.text.push_str(&more);
        more
    }
}

fn stop(reason: Option<&str>) -> Stop {
    match reason {
        Some("max_tokens" | "model_context_window_exceeded") => Stop::Cut,
        Some("refusal") => Stop::Refused(String::new()),
        Some("pause_turn") => Stop::Paused,
        _ => Stop::Done,
    }
}
