//! A request in the form that all APIs share, so that one script works for each of them: for
//! expectations, the journal and templates.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value, json};
use sparring_wire::json::parse_value;

use crate::value_size::value_size;

/// The memory of a message without its texts and calls: its own, the allocation of its role, and
/// its place in a list.
const MESSAGE_BYTES: usize = size_of::<Message>() + 48;

/// A chat request of an agent.
#[derive(Debug, Clone, Default)]
pub(crate) struct ChatRequest {
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) messages: Vec<Arc<Message>>,
    pub(crate) tools: Vec<Value>,
    /// True if the answer is to be streamed.
    pub(crate) stream: bool,
    /// True if a stream ends with its token usage.
    pub(crate) with_usage: bool,
    /// The number of equal answers to send.
    pub(crate) choices: u64,
    /// The response that the request continues (Responses).
    pub(crate) previous_response: Option<String>,
    /// The tools in namespaces, by the name in `tools` (Responses).
    pub(crate) namespaces: HashMap<String, String>,
}

/// A message of the conversation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Message {
    pub(crate) role: String,
    pub(crate) text: String,
    pub(crate) calls: Vec<PastCall>,
    pub(crate) results: Vec<ToolResult>,
}

/// A past tool call of the model, as the agent repeats it.
#[derive(Debug, Clone)]
pub(crate) struct PastCall {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) with: Value,
}

/// The result of a tool call.
#[derive(Debug, Clone)]
pub(crate) struct ToolResult {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) is_error: Option<bool>,
}

impl Message {
    /// Estimates its memory in bytes.
    pub(super) fn size(&self) -> usize {
        let calls = self.calls.iter();
        let calls = calls
            .map(|it| size_of::<PastCall>() + it.id.len() + it.tool.len() + value_size(&it.with));
        let results = self.results.iter();
        let results = results.map(|it| size_of::<ToolResult>() + it.id.len() + it.text.len());
        MESSAGE_BYTES + self.text.len() + calls.sum::<usize>() + results.sum::<usize>()
    }
}

/// The error of an invalid request, as the API would report it.
pub(super) type InvalidRequest = String;

impl ChatRequest {
    /// Estimates its memory in bytes, with the messages that it shares with other requests.
    pub(super) fn size(&self) -> usize {
        let messages = self.messages.iter().map(|message| message.size());
        let tools = self.tools.iter().map(value_size);
        self.system.len() + messages.sum::<usize>() + tools.sum::<usize>()
    }

    /// Checks that each call has a result before the next message, and each result a call, as
    /// the APIs require.
    pub(super) fn check_call_results(&self) -> Result<(), InvalidRequest> {
        let mut open: Vec<&PastCall> = Vec::new();
        let unanswered = |open: &[&PastCall]| match open {
            [] => Ok(()),
            [call, ..] => {
                Err(format!("the call `{}` of `{}` has no result after it", call.id, call.tool))
            }
        };
        for message in &self.messages {
            if message.results.is_empty() {
                unanswered(&open)?;
            }
            for result in &message.results {
                let Some(at) = open.iter().position(|call| call.id == result.id) else {
                    return Err(format!("the result `{}` has no call before it", result.id));
                };
                open.remove(at);
            }
            open.extend(&message.calls);
        }
        unanswered(&open)
    }

    /// Returns the last user text.
    pub(super) fn last_user_text(&self) -> &str {
        self.user_texts().next().unwrap_or_default()
    }

    /// Returns the user texts, the last first.
    pub(super) fn user_texts(&self) -> impl Iterator<Item = &str> {
        let messages = self.messages.iter().rev().filter(|it| it.role == "user");
        messages.map(|it| &*it.text).filter(|text| !text.is_empty())
    }

    /// Returns the results of the last tool calls.
    pub(super) fn last_results(&self) -> Vec<Value> {
        let after = self.messages.iter().rposition(|it| !it.calls.is_empty());
        let since = after.map_or(&[][..], |at| &self.messages[at..]);
        since.iter().flat_map(|it| &it.results).map(|it| self.result_to_json(it)).collect()
    }

    fn result_to_json(&self, result: &ToolResult) -> Value {
        let calls = self.messages.iter().rev().flat_map(|it| &it.calls);
        let tool = calls.clone().find(|call| call.id == result.id).map(|call| &*call.tool);
        let mut value = json!({"tool": tool, "id": result.id, "text": result.text});
        if let Some(is_error) = result.is_error {
            value["is_error"] = is_error.into();
        }
        if let Ok(json) = parse_value(result.text.as_bytes()) {
            value["json"] = json;
        }
        value
    }

    /// Returns the request as JSON.
    pub(super) fn to_json(&self) -> Value {
        let messages: Vec<Value> =
            self.messages.iter().map(|it| self.message_to_json(it)).collect();
        json!({
            "model": self.model, "system": self.system, "user": self.last_user_text(),
            "messages": messages, "tools": self.tools, "results": self.last_results(),
        })
    }

    fn message_to_json(&self, message: &Message) -> Value {
        let mut value = Map::new();
        value.insert("role".to_owned(), message.role.clone().into());
        value.insert("text".to_owned(), message.text.clone().into());
        if !message.calls.is_empty() {
            let call = |it: &PastCall| json!({"tool": it.tool, "with": it.with, "id": it.id});
            value.insert("calls".to_owned(), message.calls.iter().map(call).collect());
        }
        if !message.results.is_empty() {
            let results = message.results.iter().map(|it| self.result_to_json(it));
            value.insert("results".to_owned(), results.collect());
        }
        value.into()
    }

    /// Returns the names of the declared tools.
    pub(super) fn tool_names(&self) -> impl Iterator<Item = &str> {
        self.tools.iter().filter_map(|tool| tool["name"].as_str())
    }
}

/// Converts a declared tool to the shared form; `schema` is the key of its input schema. Tools
/// that run at the API may have only a type. `None` without a name.
pub(super) fn declared_tool(definition: &Value, schema: &str) -> Option<Value> {
    let name = definition["name"].as_str().or(definition["type"].as_str())?;
    let mut value = json!({"name": name});
    for (ours, theirs) in [("description", "description"), ("input_schema", schema)] {
        if let Some(given) = definition.get(theirs).filter(|given| !given.is_null()) {
            value[ours] = given.clone();
        }
    }
    Some(value)
}

/// Returns the text at a key.
pub(super) fn required_text(body: &Value, key: &str) -> Result<String, InvalidRequest> {
    match body.get(key) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(_) => Err(format!("`{key}` must be a string")),
        None => Err(format!("`{key}` is missing")),
    }
}

/// Returns true if a body asks for a stream.
pub(super) fn parse_stream(body: &Value) -> Result<bool, InvalidRequest> {
    match body.get("stream") {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(stream)) => Ok(*stream),
        Some(_) => Err("`stream` must be true or false".to_owned()),
    }
}

/// Returns the list at a key.
pub(super) fn list_at<'a>(
    body: &'a Value,
    key: &str,
    optional: bool,
) -> Result<&'a [Value], InvalidRequest> {
    match body.get(key) {
        Some(Value::Array(items)) => Ok(items),
        None | Some(Value::Null) if optional => Ok(&[]),
        Some(_) => Err(format!("`{key}` must be a list")),
        None => Err(format!("`{key}` is missing")),
    }
}

/// Concatenates the texts of a content; skips parts of other kinds.
pub(super) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

/// Parses the role of a message.
pub(super) fn parse_role(
    at: usize,
    message: &Value,
    roles: &[&str],
) -> Result<String, InvalidRequest> {
    match message["role"].as_str() {
        Some(role) if roles.contains(&role) => Ok(role.to_owned()),
        _ => Err(format!("`messages[{at}].role` must be one of {}", roles.join(", "))),
    }
}
