//! Anthropic's messages API: parses requests and renders answers, complete or as events.

use serde_json::{Value, json};

use super::chat_request::{
    ChatRequest, InvalidRequest, Message, PastCall, ToolResult, content_text, declared_tool,
    list_at, parse_role, parse_stream, required_text,
};
use super::model_answer::{EventStream, ModelAnswer, ToolCall, split_into_pieces};

const ROLES: [&str; 3] = ["user", "assistant", "system"];

/// The position of this API in the table of stop reasons.
const STOP_REASONS: usize = 2;

/// Parses the body of a request.
pub(super) fn parse(body: &Value) -> Result<ChatRequest, InvalidRequest> {
    let chat = parse_without_limit(body)?;
    if body["max_tokens"].as_u64().is_none_or(|max| max == 0) {
        return Err("`max_tokens` must be a whole number of at least 1".to_owned());
    }
    Ok(chat)
}

/// Parses the body of a request whose tokens are only counted.
pub(super) fn parse_without_limit(body: &Value) -> Result<ChatRequest, InvalidRequest> {
    let mut chat = ChatRequest {
        model: required_text(body, "model")?,
        stream: parse_stream(body)?,
        ..ChatRequest::default()
    };
    for (at, tool) in list_at(body, "tools", true)?.iter().enumerate() {
        let tool = declared_tool(tool, "input_schema");
        chat.tools.push(tool.ok_or(format!("`tools[{at}].name` must be a string"))?);
    }
    let messages = list_at(body, "messages", false)?;
    if messages.is_empty() {
        return Err("`messages` must have at least one message".to_owned());
    }
    let mut system = vec![content_text(&body["system"])];
    for (at, message) in messages.iter().enumerate() {
        let role = parse_role(at, message, &ROLES)?;
        let content = &message["content"];
        if role == "system" {
            system.push(content_text(content));
            continue;
        }
        let mut read = Message { role, text: content_text(content), ..Message::default() };
        for block in content.as_array().into_iter().flatten() {
            match block["type"].as_str() {
                Some("tool_use") => read.calls.push(parse_call(at, block)?),
                Some("tool_result") => read.results.push(parse_result(at, block)?),
                _ => {}
            }
        }
        chat.messages.push(read.into());
    }
    system.retain(|text| !text.is_empty());
    chat.system = system.join("\n");
    chat.check_call_results()?;
    Ok(chat)
}

fn parse_call(at: usize, block: &Value) -> Result<PastCall, InvalidRequest> {
    let (Some(id), Some(tool)) = (block["id"].as_str(), block["name"].as_str()) else {
        return Err(format!("a `tool_use` in `messages[{at}]` must have an id and a name"));
    };
    Ok(PastCall { id: id.to_owned(), tool: tool.to_owned(), with: block["input"].clone() })
}

fn parse_result(at: usize, block: &Value) -> Result<ToolResult, InvalidRequest> {
    let Some(id) = block["tool_use_id"].as_str() else {
        return Err(format!("a `tool_result` in `messages[{at}]` must have a `tool_use_id`"));
    };
    let is_error = Some(block["is_error"] == true);
    Ok(ToolResult { id: id.to_owned(), text: content_text(&block["content"]), is_error })
}

/// Renders a complete answer.
pub(super) fn render_complete(answer: &ModelAnswer) -> Value {
    let text =
        answer.text.iter().chain(&answer.refusal).map(|text| json!({"type": "text", "text": text}));
    let mut content: Vec<Value> = text.collect();
    content.extend(answer.calls.iter().map(|call| tool_use(call, complete_input(call))));
    let mut message = empty_message(answer);
    message["content"] = content.into();
    message["stop_reason"] = stop_reason(answer).into();
    message["usage"]["output_tokens"] = answer.output_tokens.into();
    message
}

/// Renders an answer as events.
pub(super) fn render_stream(answer: &ModelAnswer) -> EventStream {
    let mut events = vec![render_event("message_start", json!({"message": empty_message(answer)}))];
    let mut index = 0;
    let mut block = |start: Value, deltas: Vec<Value>| {
        events.push(render_event(
            "content_block_start",
            json!({"index": index, "content_block": start}),
        ));
        if index == 0 {
            events.push(render_event("ping", json!({})));
        }
        for delta in deltas {
            events
                .push(render_event("content_block_delta", json!({"index": index, "delta": delta})));
        }
        events.push(render_event("content_block_stop", json!({"index": index})));
        index += 1;
    };
    for text in answer.text.iter().chain(&answer.refusal) {
        let deltas =
            split_into_pieces(text).into_iter().map(|it| json!({"type": "text_delta", "text": it}));
        block(json!({"type": "text", "text": ""}), deltas.collect());
    }
    for call in &answer.calls {
        let parts = std::iter::once("").chain(split_into_pieces(&call.arguments));
        let deltas = parts.map(|it| json!({"type": "input_json_delta", "partial_json": it}));
        block(tool_use(call, json!({})), deltas.collect());
    }
    let delta = json!({"stop_reason": stop_reason(answer), "stop_sequence": null});
    let usage = json!({"output_tokens": answer.output_tokens});
    let last = render_event("message_delta", json!({"delta": delta, "usage": usage}));
    EventStream { events, ending: vec![last, render_event("message_stop", json!({}))] }
}

/// Renders an event; its data repeats the event name as `type`.
fn render_event(name: &str, data: Value) -> String {
    let mut whole = json!({"type": name});
    if let (Value::Object(whole), Value::Object(data)) = (&mut whole, data) {
        whole.extend(data);
    }
    format!("event: {name}\ndata: {whole}\n\n")
}

/// Renders a message without content.
fn empty_message(answer: &ModelAnswer) -> Value {
    json!({
        "id": format!("msg_{}", answer.number), "type": "message", "role": "assistant",
        "model": answer.model, "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {
            "input_tokens": answer.input_tokens, "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0, "output_tokens": answer.output_tokens.min(1),
        },
    })
}

fn tool_use(call: &ToolCall, input: Value) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": input})
}

/// Returns the input of a call in a complete answer, which has no text of its own.
fn complete_input(call: &ToolCall) -> Value {
    if call.is_text { call.arguments.clone().into() } else { call.with.clone() }
}

fn stop_reason(answer: &ModelAnswer) -> &str {
    answer.stop_reason(STOP_REASONS)
}
