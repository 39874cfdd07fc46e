//! OpenAI's chat completions: how a request is read, and an answer written, at
//! once or in chunks.

use jiff::Timestamp;
use serde_json::{Value, json};
use sparring_wire::json::tree;

use super::said::{Said, SaidCall, Stream, pieces};
use super::seen::{Called, Message, Outcome, Seen, Unreadable, role, text_of};

const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

pub(super) fn read(body: &Value, messages: &[Value], mut seen: Seen) -> Result<Seen, Unreadable> {
    seen.with_usage = body["stream_options"]["include_usage"] == true;
    let mut system = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = role(at, message, &ROLES)?;
        let text = text_of(&message["content"]);
        match &*role {
            "system" | "developer" => system.push(text),
            "tool" => {
                let Some(id) = message["tool_call_id"].as_str() else {
                    return Err(format!("`messages[{at}].tool_call_id` must be a text"));
                };
                let outcome = Outcome { id: id.to_owned(), text: text.clone(), is_error: None };
                let results = vec![outcome];
                seen.messages.push(Message { role, text, results, ..Message::default() });
            }
            _ => {
                let calls = message["tool_calls"].as_array().map(Vec::as_slice);
                let calls = calls.unwrap_or_default().iter().map(|call| called(at, call));
                let calls = calls.collect::<Result<_, _>>()?;
                seen.messages.push(Message { role, text, calls, ..Message::default() });
            }
        }
    }
    seen.system = system.join("\n");
    Ok(seen)
}

fn called(at: usize, call: &Value) -> Result<Called, Unreadable> {
    let function = &call["function"];
    let (Some(id), Some(tool)) = (call["id"].as_str(), function["name"].as_str()) else {
        return Err(format!("`messages[{at}].tool_calls` must have an id and a function's name"));
    };
    let arguments = function["arguments"].as_str().unwrap_or_default();
    let with = tree(arguments.as_bytes()).unwrap_or_else(|_| arguments.into());
    Ok(Called { id: id.to_owned(), tool: tool.to_owned(), with })
}

/// An answer at once.
pub(super) fn whole(said: &Said) -> Value {
    let mut message = json!({
        "role": "assistant", "content": said.text, "refusal": null, "annotations": [],
    });
    if !said.calls.is_empty() {
        let call = |it: &SaidCall| {
            let function = json!({"name": it.tool, "arguments": it.arguments});
            json!({"id": it.id, "type": "function", "function": function})
        };
        message["tool_calls"] = said.calls.iter().map(call).collect();
    }
    json!({
        "id": id(said), "object": "chat.completion", "created": Timestamp::now().as_second(),
        "model": said.model,
        "choices": [{
            "index": 0, "message": message, "logprobs": null, "finish_reason": finish(said),
        }],
        "usage": usage(said), "system_fingerprint": "fp_sparring",
    })
}

/// An answer event by event, and what ends it.
pub(super) fn chunks(said: &Said, with_usage: bool) -> Stream {
    let created = Timestamp::now().as_second();
    let event = |choices: Value, usage: Option<Value>| {
        let mut chunk = json!({
            "id": id(said), "object": "chat.completion.chunk", "created": created,
            "model": said.model, "system_fingerprint": "fp_sparring", "choices": choices,
        });
        if with_usage {
            chunk["usage"] = usage.unwrap_or_default();
        }
        format!("data: {chunk}\n\n")
    };
    let choice = |delta: Value, finish: Option<&str>| {
        let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
        event(json!([choice]), None)
    };
    let content = said.text.as_ref().map(|_| "");
    let first = json!({"role": "assistant", "content": content, "refusal": null});
    let mut events = vec![choice(first, None)];
    for piece in pieces(said.text.as_deref().unwrap_or_default()) {
        events.push(choice(json!({"content": piece}), None));
    }
    for (index, call) in said.calls.iter().enumerate() {
        let function = json!({"name": call.tool, "arguments": ""});
        let begun =
            json!({"index": index, "id": call.id, "type": "function", "function": function});
        events.push(choice(json!({"tool_calls": [begun]}), None));
        for piece in pieces(&call.arguments) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            events.push(choice(json!({"tool_calls": [more]}), None));
        }
    }
    let mut ending = vec![choice(json!({}), Some(finish(said)))];
    ending.extend(with_usage.then(|| event(json!([]), Some(usage(said)))));
    ending.push("data: [DONE]\n\n".to_owned());
    Stream { events, ending }
}

pub(super) fn models(models: &[String]) -> Value {
    let model =
        |id: &String| json!({"id": id, "object": "model", "created": 0, "owned_by": "sparring"});
    json!({"object": "list", "data": models.iter().map(model).collect::<Vec<_>>()})
}

fn id(said: &Said) -> String {
    format!("chatcmpl-{}", said.number)
}

fn finish(said: &Said) -> &str {
    let fits = if said.calls.is_empty() { "stop" } else { "tool_calls" };
    said.stop.as_deref().unwrap_or(fits)
}

fn usage(said: &Said) -> Value {
    let (read, written) = (said.input_tokens, said.output_tokens);
    json!({
        "prompt_tokens": read, "completion_tokens": written,
        "total_tokens": read.saturating_add(written),
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0, "audio_tokens": 0,
            "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    })
}
