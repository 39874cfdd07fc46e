//! OpenAI's chat completions API: builds requests and parses responses, whole
//! or as a stream of chunks.

use serde_json::{Value, json};

use super::model_turn::{ModelTurn, StopReason, ToolCall, ToolResult, text};

/// The maximum number of calls in a response.
const MAX_CALLS: usize = 128;

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
    let system = system.map(|system| json!({"role": "system", "content": system}));
    let messages: Vec<&Value> = system.iter().chain(messages).collect();
    let mut body = json!({"model": model, "messages": messages});
    if !tools.is_empty() {
        body["tools"] = tools.into();
    }
    if let Some(most) = max_tokens {
        body["max_completion_tokens"] = most.into();
    }
    body
}

/// The message that repeats the model's turn in the next request.
pub(super) fn assistant_message(turn: &ModelTurn) -> Value {
    let content = (!turn.text.is_empty()).then_some(&turn.text);
    let mut message = json!({"role": "assistant", "content": content});
    if !turn.calls.is_empty() {
        let call = |it: &ToolCall| {
            let function = json!({"name": it.tool, "arguments": it.arguments});
            json!({"id": it.id, "type": "function", "function": function})
        };
        message["tool_calls"] = turn.calls.iter().map(call).collect();
    }
    message
}

/// The results of the calls. The API marks failures only by their text.
pub(super) fn result_messages(outcomes: &[ToolResult]) -> Vec<Value> {
    let message =
        |it: &ToolResult| json!({"role": "tool", "tool_call_id": it.id, "content": it.text});
    outcomes.iter().map(message).collect()
}

/// Parses a response that is not a stream.
pub(super) fn parse_response(answer: &Value) -> Result<ModelTurn, String> {
    let choice =
        answer.get("choices").and_then(|it| it.get(0)).ok_or("the response has no choices")?;
    let message = choice.get("message").filter(|it| it.is_object());
    let message = message.ok_or("the choice has no message")?;
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
        let function = &call["function"];
        let arguments = match &function["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // Some servers send the object itself.
            other => other.to_string(),
        };
        ToolCall { id: text(&call["id"]), tool: text(&function["name"]), arguments }
    });
    let stop = stop_reason(choice["finish_reason"].as_str(), &text(&message["refusal"]));
    let calls: Vec<_> = calls.collect();
    if calls.len() > MAX_CALLS {
        return Err(format!("the response calls more than {MAX_CALLS} tools at once"));
    }
    Ok(ModelTurn { text: text(&message["content"]), calls, stop })
}

/// Assembles a turn from a stream.
#[derive(Default)]
pub(super) struct ChunkAssembler {
    turn: ModelTurn,
    refusal: String,
    finish: Option<String>,
}

impl ChunkAssembler {
    pub(super) fn push(&mut self, event: &Value) -> Result<String, String> {
        if let Some(error) = event.get("error").filter(|it| !it.is_null()) {
            return Err(format!("the endpoint sent an error: {}", text(&error["message"])));
        }
        let Some(choice) = event["choices"].get(0) else { return Ok(String::new()) };
        let delta = &choice["delta"];
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let at = call["index"].as_u64().unwrap_or(0) as usize;
            if at >= MAX_CALLS {
                return Err(format!("the response calls more than {MAX_CALLS} tools at once"));
            }
            if self.turn.calls.len() <= at {
                self.turn.calls.resize_with(at + 1, ToolCall::default);
            }
            let known = &mut self.turn.calls[at];
            let function = &call["function"];
            for (to, from) in [(&mut known.id, &call["id"]), (&mut known.tool, &function["name"])] {
                if to.is_empty() {
                    *to = text(from);
                }
            }
            known.arguments.push_str(function["arguments"].as_str().unwrap_or_default());
        }
        if let Some(finish) = choice["finish_reason"].as_str() {
            self.finish = Some(finish.to_owned());
        }
        self.refusal.push_str(delta["refusal"].as_str().unwrap_or_default());
        let more = text(&delta["content"]);
        self.turn.text.push_str(&more);
        Ok(more)
    }

    pub(super) fn is_complete(&self) -> bool {
        self.finish.is_some()
    }

    pub(super) fn finish(self) -> ModelTurn {
        ModelTurn { stop: stop_reason(self.finish.as_deref(), &self.refusal), ..self.turn }
    }
}

fn stop_reason(finish: Option<&str>, refusal: &str) -> StopReason {
    match (finish, refusal) {
        (_, refusal) if !refusal.is_empty() => StopReason::Refused(refusal.to_owned()),
        (Some("content_filter"), _) => StopReason::Refused(String::new()),
        (Some("length"), _) => StopReason::Truncated,
        _ => StopReason::Finished,
    }
}
