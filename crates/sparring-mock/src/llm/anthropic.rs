//! Anthropic's messages: how a request is read, and an answer written, at once
//! or event by event.

use serde_json::{Value, json};

use super::said::{Said, SaidCall, Stream, pieces};
use super::seen::{Called, Message, Outcome, Seen, Unreadable, role, text_of};

const ROLES: [&str; 3] = ["user", "assistant", "system"];

pub(super) fn read(body: &Value, messages: &[Value], mut seen: Seen) -> Result<Seen, Unreadable> {
    if body["max_tokens"].as_u64().is_none_or(|most| most == 0) {
        return Err("`max_tokens` must be a whole number of at least 1".to_owned());
    }
    let mut system = vec![text_of(&body["system"])];
    for (at, message) in messages.iter().enumerate() {
        let role = role(at, message, &ROLES)?;
        let content = &message["content"];
        if role == "system" {
            system.push(text_of(content));
            continue;
        }
        let mut read = Message { role, text: text_of(content), ..Message::default() };
        for block in content.as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_use") => read.calls.push(called(at, block)?),
                Some("tool_result") => read.results.push(outcome(at, block)?),
                _ => {}
            }
        }
        seen.messages.push(read);
    }
    system.retain(|text| !text.is_empty());
    seen.system = system.join("\n");
    Ok(seen)
}

fn called(at: usize, block: &Value) -> Result<Called, Unreadable> {
    let (Some(id), Some(tool)) = (block["id"].as_str(), block["name"].as_str()) else {
        return Err(format!("a `tool_use` in `messages[{at}]` must have an id and a name"));
    };
    Ok(Called { id: id.to_owned(), tool: tool.to_owned(), with: block["input"].clone() })
}

fn outcome(at: usize, block: &Value) -> Result<Outcome, Unreadable> {
    let Some(id) = block["tool_use_id"].as_str() else {
        return Err(format!("a `tool_result` in `messages[{at}]` must have a `tool_use_id`"));
    };
    let is_error = Some(block["is_error"] == true);
    Ok(Outcome { id: id.to_owned(), text: text_of(&block["content"]), is_error })
}

/// An answer at once.
pub(super) fn whole(said: &Said) -> Value {
    let text = said.text.iter().map(|text| json!({"type": "text", "text": text}));
    let mut content: Vec<Value> = text.collect();
    content.extend(said.calls.iter().map(|call| tool_use(call, call.with.clone())));
    let mut message = begun(said);
    message["content"] = content.into();
    message["stop_reason"] = stop(said).into();
    message["usage"]["output_tokens"] = said.output_tokens.into();
    message
}

/// An answer event by event, and what ends it.
pub(super) fn events(said: &Said) -> Stream {
    let mut events = vec![event("message_start", json!({"message": begun(said)}))];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        events.push(event("content_block_start", json!({"index": index, "content_block": start})));
        if index == 0 {
            events.push(event("ping", json!({})));
        }
        for delta in deltas {
            events.push(event("content_block_delta", json!({"index": index, "delta": delta})));
        }
        events.push(event("content_block_stop", json!({"index": index})));
        index += 1;
    };
    if let Some(text) = &said.text {
        let deltas = pieces(text).into_iter().map(|it| json!({"type": "text_delta", "text": it}));
        block(json!({"type": "text", "text": ""}), deltas.collect());
    }
    for call in &said.calls {
        let parts = std::iter::once("").chain(pieces(&call.arguments));
        let deltas = parts.map(|it| json!({"type": "input_json_delta", "partial_json": it}));
        block(tool_use(call, json!({})), deltas.collect());
    }
    let delta = json!({"stop_reason": stop(said), "stop_sequence": null});
    let usage = json!({"output_tokens": said.output_tokens});
    let last = event("message_delta", json!({"delta": delta, "usage": usage}));
    Stream { events, ending: vec![last, event("message_stop", json!({}))] }
}

/// An event, whose data says what it is as well.
fn event(name: &str, data: Value) -> String {
    let mut whole = json!({"type": name});
    if let (Value::Object(whole), Value::Object(data)) = (&mut whole, data) {
        whole.extend(data);
    }
    format!("event: {name}\ndata: {whole}\n\n")
}

pub(super) fn models(models: &[String]) -> Value {
    let model = |id: &String| {
        json!({
            "type": "model", "id": id, "display_name": id, "lifecycle": "active",
            "created_at": "1970-01-01T00:00:00Z",
        })
    };
    json!({
        "data": models.iter().map(model).collect::<Vec<_>>(),
        "has_more": false, "first_id": models.first(), "last_id": models.last(),
    })
}

/// A message of which nothing was said yet.
fn begun(said: &Said) -> Value {
    json!({
        "id": format!("msg_{}", said.number), "type": "message", "role": "assistant",
        "model": said.model, "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": said.input_tokens, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": said.output_tokens.min(1),
        },
    })
}

fn tool_use(call: &SaidCall, input: Value) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": input})
}

fn stop(said: &Said) -> &str {
    let fits = if said.calls.is_empty() { "end_turn" } else { "tool_use" };
    said.stop.as_deref().unwrap_or(fits)
}
