//! Google's Gemini API: parses requests and renders answers, complete or as chunks.

use serde_json::{Value, json};

use super::chat_request::{
    ChatRequest, InvalidRequest, Message, PastCall, ToolResult, declared_tool, list_at,
};
use super::model_answer::{EventStream, ModelAnswer, ToolCall, split_into_pieces};
use super::script::ApiError;

/// The position of this API in the table of stop reasons.
const STOP_REASONS: usize = 3;

/// The type of an error's detail with the delay before a retry.
const RETRY_INFO: &str = "type.googleapis.com/google.rpc.RetryInfo";

/// Parses the body of a request; its path has the model.
pub(super) fn parse(body: &Value, model: &str) -> Result<ChatRequest, InvalidRequest> {
    let config = member(body, "generationConfig", "generation_config");
    let choices = member(config, "candidateCount", "candidate_count").as_u64();
    let mut chat = ChatRequest {
        model: model.to_owned(),
        system: parts_text(member(body, "systemInstruction", "system_instruction")),
        choices: choices.unwrap_or(1).clamp(1, 8),
        ..ChatRequest::default()
    };
    for (at, tool) in list_at(body, "tools", true)?.iter().enumerate() {
        let functions = member(tool, "functionDeclarations", "function_declarations");
        for function in functions.as_array().into_iter().flatten() {
            let schema = ["parametersJsonSchema", "parameters_json_schema"]
                .into_iter()
                .find(|key| function.get(key).is_some());
            let tool = declared_tool(function, schema.unwrap_or("parameters"));
            let missing = || format!("`tools[{at}].functionDeclarations` must have names");
            chat.tools.push(tool.ok_or_else(missing)?);
        }
    }
    let contents = list_at(body, "contents", false)?;
    if contents.is_empty() {
        return Err("`contents` must have at least one content".to_owned());
    }
    for (at, content) in contents.iter().enumerate() {
        parse_content(at, content, &mut chat)?;
    }
    chat.check_call_results()?;
    Ok(chat)
}

/// Adds a content to the messages.
fn parse_content(at: usize, content: &Value, chat: &mut ChatRequest) -> Result<(), InvalidRequest> {
    let role = match content["role"].as_str() {
        None | Some("user") => "user",
        Some("model") => "assistant",
        Some("function" | "tool") => "tool",
        Some(_) => {
            return Err(format!("`contents[{at}].role` must be one of user, model, function"));
        }
    };
    let mut message =
        Message { role: role.to_owned(), text: parts_text(content), ..Message::default() };
    for part in content["parts"].as_array().into_iter().flatten() {
        let call = member(part, "functionCall", "function_call");
        if let Some(tool) = call["name"].as_str() {
            // Calls need no id in this API.
            let number =
                chat.messages.iter().map(|it| it.calls.len()).sum::<usize>() + message.calls.len();
            let id = call["id"].as_str().map_or_else(|| format!("call {number}"), str::to_owned);
            let with = call.get("args").cloned().unwrap_or_else(|| json!({}));
            message.calls.push(PastCall { id, tool: tool.to_owned(), with });
        }
        let result = member(part, "functionResponse", "function_response");
        if let Some(tool) = result["name"].as_str() {
            let id = match result["id"].as_str() {
                Some(id) => id.to_owned(),
                None => open_call(chat, &message, tool)
                    .ok_or(format!("the result of `{tool}` has no call before it"))?,
            };
            let (text, is_error) = result_text(&result["response"]);
            message.results.push(ToolResult { id, text, is_error: Some(is_error) });
        }
    }
    chat.messages.push(message.into());
    Ok(())
}

/// Returns the id of the first call of a tool that has no result yet.
fn open_call(chat: &ChatRequest, message: &Message, tool: &str) -> Option<String> {
    let all = || chat.messages.iter().map(|it| &**it).chain([message]);
    let has_result = |id: &str| all().flat_map(|it| &it.results).any(|result| result.id == id);
    let mut calls = all().flat_map(|it| &it.calls).filter(|call| call.tool == tool);
    calls.find(|call| !has_result(&call.id)).map(|call| call.id.clone())
}

/// Returns the text of a result, and true if it is an error. The response is an object of the
/// agent; most have one text in it.
fn result_text(response: &Value) -> (String, bool) {
    if let Some(error) = response.get("error").filter(|error| !error.is_null()) {
        return (plain_text(error), true);
    }
    let is_error = response["isError"] == true;
    let value = ["output", "result"].into_iter().find_map(|key| response.get(key));
    (plain_text(value.unwrap_or(response)), is_error)
}

fn plain_text(value: &Value) -> String {
    let content = value.get("content").unwrap_or(value);
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) if parts.iter().any(|part| part["text"].is_string()) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect()
        }
        other => other.to_string(),
    }
}

/// Concatenates the texts of the parts of a content, without thoughts.
fn parts_text(content: &Value) -> String {
    let parts = content["parts"].as_array().map(Vec::as_slice);
    let parts = parts.unwrap_or(std::slice::from_ref(&content["parts"]));
    let texts = parts.iter().filter(|part| part["thought"] != true);
    texts.filter_map(|part| part["text"].as_str()).collect()
}

/// Returns a member by its name on the wire, or in the other spelling that the API accepts.
fn member<'a>(value: &'a Value, name: &str, other: &str) -> &'a Value {
    value.get(name).unwrap_or(&value[other])
}

/// Renders a complete answer.
pub(super) fn render_complete(answer: &ModelAnswer) -> Value {
    let mut parts: Vec<Value> = answer.text.iter().map(|text| json!({"text": text})).collect();
    parts.extend(answer.calls.iter().filter(|call| !call.is_text).map(render_call));
    render_chunk(answer, parts, true)
}

/// Renders an answer as chunks.
pub(super) fn render_stream(answer: &ModelAnswer) -> EventStream {
    let event =
        |parts: Vec<Value>, is_last| format!("data: {}\n\n", render_chunk(answer, parts, is_last));
    let pieces = split_into_pieces(answer.text.as_deref().unwrap_or_default());
    let mut events: Vec<String> =
        pieces.into_iter().map(|piece| event(vec![json!({"text": piece})], false)).collect();
    let calls = answer.calls.iter().filter(|call| !call.is_text);
    events.extend(calls.map(|call| event(vec![render_call(call)], false)));
    EventStream { events, ending: vec![event(Vec::new(), true)] }
}

fn render_call(call: &ToolCall) -> Value {
    json!({"functionCall": {"id": call.id, "name": call.tool, "args": call.with}})
}

/// Renders a response with these parts in each candidate. The last one has the reason of its end.
fn render_chunk(answer: &ModelAnswer, parts: Vec<Value>, is_last: bool) -> Value {
    let candidate = |index: u64| {
        let mut candidate = json!({"index": index});
        if !parts.is_empty() || is_last && answer.refusal.is_none() {
            let parts = if parts.is_empty() { vec![json!({"text": ""})] } else { parts.clone() };
            candidate["content"] = json!({"role": "model", "parts": parts});
        }
        if is_last {
            candidate["finishReason"] = finish_reason(answer).into();
        }
        if let Some(refusal) = answer.refusal.as_ref().filter(|_| is_last) {
            candidate["finishMessage"] = refusal.clone().into();
        }
        if let Some(call) = answer.calls.iter().find(|call| call.is_text && is_last) {
            let message = format!("Malformed function call: {}({})", call.tool, call.arguments);
            candidate["finishMessage"] = message.into();
        }
        candidate
    };
    let mut chunk = json!({
        "candidates": (0..answer.choices).map(candidate).collect::<Vec<_>>(),
        "modelVersion": answer.model, "responseId": format!("answer_{}", answer.number),
    });
    if is_last {
        chunk["usageMetadata"] = json!({
            "promptTokenCount": answer.input_tokens, "candidatesTokenCount": answer.output_tokens,
            "totalTokenCount": answer.input_tokens.saturating_add(answer.output_tokens),
        });
    }
    chunk
}

/// Returns the reason of the end. The API reports arguments that are not JSON itself.
fn finish_reason(answer: &ModelAnswer) -> &str {
    match answer.stop.is_none() && answer.calls.iter().any(|call| call.is_text) {
        true => "MALFORMED_FUNCTION_CALL",
        false => answer.stop_reason(STOP_REASONS),
    }
}

/// Renders one model.
pub(super) fn render_model(id: &str) -> Value {
    json!({
        "name": format!("models/{id}"), "version": "001", "displayName": id,
        "inputTokenLimit": 1_000_000, "outputTokenLimit": 65_536,
        "supportedGenerationMethods": ["generateContent", "countTokens"],
    })
}

/// Renders the body of an error.
pub(super) fn render_error(error: &ApiError, status: &str) -> Value {
    let mut body = json!({"error": {
        "code": error.status, "message": error.message, "status": status,
    }});
    if let Some(after) = error.retry_after {
        let delay = format!("{}s", after.as_secs_f64());
        body["error"]["details"] = json!([{"@type": RETRY_INFO, "retryDelay": delay}]);
    }
    body
}

/// Returns the default status word of an HTTP status.
pub(super) fn default_error_status(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        429 => "RESOURCE_EXHAUSTED",
        400..=499 => "INVALID_ARGUMENT",
        503 | 529 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        _ => "INTERNAL",
    }
}
