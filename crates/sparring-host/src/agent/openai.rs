//! OpenAI's chat completions: how messages are written, and how an answer is
//! read, at once or chunk by chunk.

use serde_json::{Value, json};

use super::said::{Called, Listening, Outcome, Said, Stop, text};

/// The most calls that an answer may begin.
const MOST_CALLS: usize = 128;

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

/// What the model said, as the next request repeats it.
pub(super) fn assistant(said: &Said) -> Value {
    let content = (!said.text.is_empty()).then_some(&said.text);
    let mut message = json!({"role": "assistant", "content": content});
    if !said.calls.is_empty() {
        let call = |it: &Called| {
            let function = json!({"name": it.tool, "arguments": it.arguments});
            json!({"id": it.id, "type": "function", "function": function})
        };
        message["tool_calls"] = said.calls.iter().map(call).collect();
    }
    message
}

/// What came of its calls: there is no word for a failure but the text.
pub(super) fn results(outcomes: &[Outcome]) -> Vec<Value> {
    let message = |it: &Outcome| json!({"role": "tool", "tool_call_id": it.id, "content": it.text});
    outcomes.iter().map(message).collect()
}

/// Reads an answer that came at once.
pub(super) fn read(answer: &Value) -> Result<Said, String> {
    let choice = answer.get("choices").and_then(|it| it.get(0)).ok_or("it has no choices")?;
    let message = choice.get("message").filter(|it| it.is_object());
    let message = message.ok_or("its choice has no message")?;
    let calls = message["tool_calls"].as_array().into_iter().flatten().map(|call| {
        let function = &call["function"];
        let arguments = match &function["arguments"] {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            // Some servers of this kind give the object itself.
            other => other.to_string(),
        };
        Called { id: text(&call["id"]), tool: text(&function["name"]), arguments }
    });
    let stop = stop(choice["finish_reason"].as_str(), &text(&message["refusal"]));
    let calls: Vec<_> = calls.collect();
    if calls.len() > MOST_CALLS {
        return Err(format!("it calls more than {MOST_CALLS} tools at once"));
    }
    Ok(Said { text: text(&message["content"]), calls, stop })
}

/// What has come of a stream.
#[derive(Default)]
pub(super) struct Chunks {
    said: Said,
    refusal: String,
    finish: Option<String>,
}

impl Listening for Chunks {
    fn take(&mut self, event: &Value) -> Result<String, String> {
        if let Some(error) = event.get("error").filter(|it| !it.is_null()) {
            return Err(format!("the endpoint gave up: {}", text(&error["message"])));
        }
        let Some(choice) = event["choices"].get(0) else { return Ok(String::new()) };
        let delta = &choice["delta"];
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let at = call["index"].as_u64().unwrap_or(0) as usize;
            if at >= MOST_CALLS {
                return Err(format!("it calls more than {MOST_CALLS} tools at once"));
            }
            if self.said.calls.len() <= at {
                self.said.calls.resize_with(at + 1, Called::default);
            }
            let known = &mut self.said.calls[at];
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
        self.said.text.push_str(&more);
        Ok(more)
    }

    fn is_whole(&self) -> bool {
        self.finish.is_some()
    }

    fn said(self) -> Said {
        Said { stop: stop(self.finish.as_deref(), &self.refusal), ..self.said }
    }
}

fn stop(finish: Option<&str>, refusal: &str) -> Stop {
    match (finish, refusal) {
        (_, refusal) if !refusal.is_empty() => Stop::Refused(refusal.to_owned()),
        (Some("content_filter"), _) => Stop::Refused(String::new()),
        (Some("length"), _) => Stop::Cut,
        _ => Stop::Done,
    }
}
