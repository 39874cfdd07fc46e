//! OpenAI's Responses API: parses requests and renders answers, complete or as events.
//!
//! The endpoint adds the messages of the response that a request continues.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value, json};
use sparring_wire::json::parse_value;

use super::chat_request::{
    ChatRequest, InvalidRequest, Message, PastCall, ToolResult, content_text, declared_tool,
    list_at, parse_stream, required_text,
};
use super::model_answer::{EventStream, ModelAnswer, ToolCall, split_into_pieces};

/// The position of this API in the table of stop reasons.
const STOP_REASONS: usize = 1;

const ROLES: [&str; 4] = ["system", "developer", "user", "assistant"];

/// Parses the body of a request.
pub(super) fn parse(body: &Value) -> Result<ChatRequest, InvalidRequest> {
    let previous = body.get("previous_response_id").filter(|id| !id.is_null());
    let mut chat = ChatRequest {
        model: required_text(body, "model")?,
        stream: parse_stream(body)?,
        previous_response: previous.and_then(Value::as_str).map(str::to_owned),
        ..ChatRequest::default()
    };
    for (at, tool) in list_at(body, "tools", true)?.iter().enumerate() {
        parse_tool(tool, &mut chat).ok_or(format!("`tools[{at}].name` must be a string"))?;
    }
    let mut system = vec![content_text(&body["instructions"])];
    match body.get("input") {
        Some(Value::String(text)) => chat.messages.push(message("user", text.clone()).into()),
        Some(Value::Array(items)) => {
            for (at, item) in items.iter().enumerate() {
                parse_item(at, item, &mut system, &mut chat)?;
            }
        }
        Some(_) => return Err("`input` must be a string or a list".to_owned()),
        None => return Err("`input` is missing".to_owned()),
    }
    system.retain(|text| !text.is_empty());
    chat.system = system.join("\n");
    Ok(chat)
}

/// Adds a declared tool, or all tools of a namespace; `None` without a name.
fn parse_tool(tool: &Value, chat: &mut ChatRequest) -> Option<()> {
    if tool["type"] != "namespace" {
        chat.tools.push(declared_tool(tool, "parameters")?);
        return Some(());
    }
    let namespace = tool["name"].as_str()?;
    for inner in tool["tools"].as_array().into_iter().flatten() {
        let mut inner = declared_tool(inner, "parameters")?;
        let name = qualified_name(Some(namespace), inner["name"].as_str()?);
        inner["name"] = name.clone().into();
        chat.tools.push(inner);
        chat.namespaces.insert(name, namespace.to_owned());
    }
    Some(())
}

/// Returns the name of a tool with its namespace, as `mcp__weather__get`.
fn qualified_name(namespace: Option<&str>, name: &str) -> String {
    match namespace {
        None | Some("") => name.to_owned(),
        Some(namespace) if namespace.ends_with('_') => format!("{namespace}{name}"),
        Some(namespace) => format!("{namespace}__{name}"),
    }
}

fn message(role: &str, text: String) -> Message {
    Message { role: role.to_owned(), text, ..Message::default() }
}

/// Adds an item of the input. Skips items of other kinds, such as reasoning.
fn parse_item(
    at: usize,
    item: &Value,
    system: &mut Vec<String>,
    chat: &mut ChatRequest,
) -> Result<(), InvalidRequest> {
    match item["type"].as_str().unwrap_or("message") {
        "message" => {
            let role = item["role"].as_str().filter(|role| ROLES.contains(role));
            let Some(role) = role else {
                return Err(format!("`input[{at}].role` must be one of {}", ROLES.join(", ")));
            };
            let text = content_text(&item["content"]);
            match role {
                "system" | "developer" => system.push(text),
                role => chat.messages.push(message(role, text).into()),
            }
        }
        "function_call" | "custom_tool_call" => {
            let call = parse_call(at, item)?;
            match chat.messages.last_mut() {
                // Calls of one answer are separate items.
                Some(last) if last.role == "assistant" => Arc::make_mut(last).calls.push(call),
                _ => {
                    let calls = vec![call];
                    let message = Message { calls, ..message("assistant", String::new()) };
                    chat.messages.push(message.into());
                }
            }
        }
        "function_call_output" | "custom_tool_call_output" => {
            let Some(id) = item["call_id"].as_str() else {
                return Err(format!("`input[{at}].call_id` must be a string"));
            };
            let text = content_text(&item["output"]);
            let results =
                vec![ToolResult { id: id.to_owned(), text: text.clone(), is_error: None }];
            chat.messages.push(Message { results, ..message("tool", text) }.into());
        }
        _ => {}
    }
    Ok(())
}

fn parse_call(at: usize, item: &Value) -> Result<PastCall, InvalidRequest> {
    let (Some(id), Some(name)) = (item["call_id"].as_str(), item["name"].as_str()) else {
        return Err(format!("the call in `input[{at}]` must have a `call_id` and a name"));
    };
    let arguments = item["arguments"].as_str().or(item["input"].as_str()).unwrap_or_default();
    let with = parse_value(arguments.as_bytes()).unwrap_or_else(|_| arguments.into());
    let tool = qualified_name(item["namespace"].as_str(), name);
    Ok(PastCall { id: id.to_owned(), tool, with })
}

/// Returns the id of an answer, which a later request may continue.
pub(super) fn answer_id(answer: &ModelAnswer) -> String {
    format!("resp_{}", answer.number)
}

/// Renders a complete answer.
pub(super) fn render_complete(answer: &ModelAnswer) -> Value {
    let output: Vec<Value> = render_items(answer).into_iter().map(|(item, _)| item).collect();
    let mut response = empty_response(answer);
    let (status, details) = end(answer);
    response["status"] = status.into();
    response["incomplete_details"] = details;
    response["output"] = output.into();
    response["completed_at"] = response["created_at"].clone();
    response["usage"] = json!({
        "input_tokens": answer.input_tokens,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": answer.output_tokens, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": answer.input_tokens.saturating_add(answer.output_tokens),
    });
    response
}

/// Renders an answer as events.
pub(super) fn render_stream(answer: &ModelAnswer) -> EventStream {
    let mut stream = Stream::default();
    for name in ["response.created", "response.in_progress"] {
        stream.push(name, json!({"response": empty_response(answer)}));
    }
    for (index, (item, parts)) in render_items(answer).into_iter().enumerate() {
        stream.push_item(index, &item, parts);
    }
    let response = render_complete(answer);
    let name = format!("response.{}", response["status"].as_str().unwrap_or_default());
    let events = std::mem::take(&mut stream.events);
    stream.push(&name, json!({"response": response}));
    EventStream { events, ending: stream.events }
}

/// Renders the last event of a stream that fails after `sequence` events.
pub(super) fn render_failure(answer: &ModelAnswer, error: &Value, sequence: usize) -> String {
    let mut stream = Stream { sequence, ..Stream::default() };
    let mut response = empty_response(answer);
    response["status"] = "failed".into();
    let error = &error["error"];
    let code = error["code"].as_str().or(error["type"].as_str());
    response["error"] = json!({"code": code, "message": error["message"]});
    stream.push("response.failed", json!({"response": response}));
    stream.events.concat()
}

/// The streamed part of an item.
enum Part<'a> {
    Text(&'a str),
    Refusal(&'a str),
    Arguments(&'a str),
}

/// Renders the items of an answer, each with its streamed part.
fn render_items(answer: &ModelAnswer) -> Vec<(Value, Part<'_>)> {
    let item = |content: Value| {
        json!({
            "type": "message", "id": format!("msg_{}", answer.number), "status": "completed",
            "role": "assistant", "content": [content],
        })
    };
    let mut items = Vec::new();
    if let Some(text) = &answer.text {
        let content =
            json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
        items.push((item(content), Part::Text(text)));
    }
    if let Some(refusal) = &answer.refusal {
        items.push((item(json!({"type": "refusal", "refusal": refusal})), Part::Refusal(refusal)));
    }
    for call in &answer.calls {
        items.push((render_call(call), Part::Arguments(&call.arguments)));
    }
    items
}

fn render_call(call: &ToolCall) -> Value {
    let mut item = json!({
        "type": "function_call", "id": format!("fc_{}", call.id), "call_id": call.id,
        "name": call.own_name(), "arguments": call.arguments, "status": "completed",
    });
    if let Some(namespace) = &call.namespace {
        item["namespace"] = namespace.clone().into();
    }
    item
}

/// Renders a response without output.
fn empty_response(answer: &ModelAnswer) -> Value {
    json!({
        "id": answer_id(answer), "object": "response", "created_at": Timestamp::now().as_second(),
        "status": "in_progress", "background": false, "error": null, "incomplete_details": null,
        "instructions": null, "max_output_tokens": null, "model": answer.model, "output": [],
        "parallel_tool_calls": true, "previous_response_id": answer.previous_response,
        "reasoning": {"effort": null, "summary": null}, "store": true, "temperature": 1.0,
        "text": {"format": {"type": "text"}}, "tool_choice": "auto", "tools": [], "top_p": 1.0,
        "truncation": "disabled", "usage": null, "user": null, "metadata": {},
    })
}

/// Returns the status of a response, and the reason if it is incomplete.
fn end(answer: &ModelAnswer) -> (&'static str, Value) {
    match answer.stop.as_ref().map(|_| answer.stop_reason(STOP_REASONS)) {
        None | Some("completed") => ("completed", Value::Null),
        Some(reason) => ("incomplete", json!({"reason": reason})),
    }
}

/// The events of a response, which have numbers.
#[derive(Default)]
struct Stream {
    events: Vec<String>,
    sequence: usize,
}

impl Stream {
    fn push(&mut self, name: &str, mut data: Value) {
        data["type"] = name.into();
        data["sequence_number"] = self.sequence.into();
        self.sequence += 1;
        self.events.push(format!("event: {name}\ndata: {data}\n\n"));
    }

    /// Adds the events of an item.
    fn push_item(&mut self, index: usize, item: &Value, part: Part<'_>) {
        let mut started = item.clone();
        started["status"] = "in_progress".into();
        let at = |more: Value| {
            let mut data = json!({"item_id": item["id"], "output_index": index});
            if let (Value::Object(data), Value::Object(more)) = (&mut data, more) {
                data.extend(more);
            }
            data
        };
        let added = |item: Value| json!({"output_index": index, "item": item});
        match part {
            Part::Arguments(arguments) => {
                started["arguments"] = "".into();
                self.push("response.output_item.added", added(started));
                for piece in split_into_pieces(arguments) {
                    let delta = at(json!({"delta": piece}));
                    self.push("response.function_call_arguments.delta", delta);
                }
                let done = at(json!({"arguments": arguments, "name": item["name"]}));
                self.push("response.function_call_arguments.done", done);
            }
            Part::Text(text) | Part::Refusal(text) => {
                let is_text = matches!(part, Part::Text(_));
                let name = if is_text { "output_text" } else { "refusal" };
                let key = if is_text { "text" } else { "refusal" };
                let content = &item["content"][0];
                let mut empty = content.clone();
                empty[key] = "".into();
                started["content"] = json!([]);
                self.push("response.output_item.added", added(started));
                let part = at(json!({"content_index": 0, "part": empty}));
                self.push("response.content_part.added", part);
                for piece in split_into_pieces(text) {
                    let delta = json!({"content_index": 0, "delta": piece, "logprobs": []});
                    self.push(&format!("response.{name}.delta"), at(delta));
                }
                let done = at(json!({"content_index": 0, key: text, "logprobs": []}));
                self.push(&format!("response.{name}.done"), done);
                let part = at(json!({"content_index": 0, "part": content}));
                self.push("response.content_part.done", part);
            }
        }
        self.push("response.output_item.done", added(item.clone()));
    }
}
