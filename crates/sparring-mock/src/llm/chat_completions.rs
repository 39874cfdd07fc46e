//! OpenAI's chat completions API: parses requests and renders answers, complete or as chunks.

use jiff::Timestamp;
use serde_json::{Value, json};
use sparring_wire::json::parse_value;

use super::chat_request::{
    ChatRequest, InvalidRequest, Message, PastCall, ToolResult, content_text, declared_tool,
    list_at, parse_role, parse_stream, required_text,
};
use super::model_answer::{EventStream, ModelAnswer, ToolCall, split_into_pieces};

const ROLES: [&str; 5] = ["system", "developer", "user", "assistant", "tool"];

/// The position of this API in the table of stop reasons.
const STOP_REASONS: usize = 0;

/// The largest number of answers to one request.
const MAX_CHOICES: u64 = 128;

/// Parses the body of a request.
pub(super) fn parse(body: &Value) -> Result<ChatRequest, InvalidRequest> {
    let mut chat = ChatRequest {
        model: required_text(body, "model")?,
        stream: parse_stream(body)?,
        with_usage: body["stream_options"]["include_usage"] == true,
        choices: body["n"].as_u64().unwrap_or(1).clamp(1, MAX_CHOICES),
        ..ChatRequest::default()
    };
    for (at, tool) in list_at(body, "tools", true)?.iter().enumerate() {
        let (definition, schema) = match tool.get("custom") {
            Some(custom) => (custom, "format"),
            None => (&tool["function"], "parameters"),
        };
        let tool = declared_tool(definition, schema);
        chat.tools.push(tool.ok_or(format!("`tools[{at}].function.name` must be a string"))?);
    }
    let messages = list_at(body, "messages", false)?;
    if messages.is_empty() {
        return Err("`messages` must have at least one message".to_owned());
    }
    let mut system = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let role = parse_role(at, message, &ROLES)?;
        let text = content_text(&message["content"]);
        match &*role {
            "system" | "developer" => system.push(text),
            "tool" => {
                let Some(id) = message["tool_call_id"].as_str() else {
                    return Err(format!("`messages[{at}].tool_call_id` must be a string"));
                };
                let result = ToolResult { id: id.to_owned(), text: text.clone(), is_error: None };
                let results = vec![result];
                chat.messages.push(Message { role, text, results, ..Message::default() }.into());
            }
            _ => {
                let calls = message["tool_calls"].as_array().map(Vec::as_slice);
                let calls = calls.unwrap_or_default().iter().map(|call| parse_call(at, call));
                let calls = calls.collect::<Result<_, _>>()?;
                chat.messages.push(Message { role, text, calls, ..Message::default() }.into());
            }
        }
    }
    chat.system = system.join("\n");
    chat.check_call_results()?;
    Ok(chat)
}

fn parse_call(at: usize, call: &Value) -> Result<PastCall, InvalidRequest> {
    let function = &call["function"];
    let (Some(id), Some(tool)) = (call["id"].as_str(), function["name"].as_str()) else {
        return Err(format!("`messages[{at}].tool_calls` must have an id and a function's name"));
    };
    let arguments = function["arguments"].as_str().unwrap_or_default();
    let with = parse_value(arguments.as_bytes()).unwrap_or_else(|_| arguments.into());
    Ok(PastCall { id: id.to_owned(), tool: tool.to_owned(), with })
}

/// Renders a complete answer.
pub(super) fn render_complete(answer: &ModelAnswer) -> Value {
    let mut message = json!({
        "role": "assistant", "content": answer.text, "refusal": answer.refusal, "annotations": [],
    });
    if !answer.calls.is_empty() {
        let call = |it: &ToolCall| {
            let function = json!({"name": it.tool, "arguments": it.arguments});
            json!({"id": it.id, "type": "function", "function": function})
        };
        message["tool_calls"] = answer.calls.iter().map(call).collect();
    }
    let choice = |index: u64| {
        json!({
            "index": index, "message": message, "logprobs": null,
            "finish_reason": finish_reason(answer),
        })
    };
    json!({
        "id": answer_id(answer), "object": "chat.completion", "created": Timestamp::now().as_second(),
        "model": answer.model, "choices": (0..answer.choices).map(choice).collect::<Vec<_>>(),
        "usage": render_usage(answer), "system_fingerprint": "fp_sparring",
    })
}

/// Renders an answer as chunks.
pub(super) fn render_stream(answer: &ModelAnswer, with_usage: bool) -> EventStream {
    let created = Timestamp::now().as_second();
    let event = |choices: Value, usage: Option<Value>| {
        let mut chunk = json!({
            "id": answer_id(answer), "object": "chat.completion.chunk", "created": created,
            "model": answer.model, "system_fingerprint": "fp_sparring", "choices": choices,
        });
        if with_usage {
            chunk["usage"] = usage.unwrap_or_default();
        }
        format!("data: {chunk}\n\n")
    };
    let (mut events, mut ending) = (Vec::new(), Vec::new());
    for index in 0..answer.choices {
        let choice = |delta: Value, finish: Option<&str>| {
            let choice = json!({
                "index": index, "delta": delta, "logprobs": null, "finish_reason": finish,
            });
            event(json!([choice]), None)
        };
        events.extend(render_deltas(answer).into_iter().map(|delta| choice(delta, None)));
        ending.push(choice(json!({}), Some(finish_reason(answer))));
    }
    ending.extend(with_usage.then(|| event(json!([]), Some(render_usage(answer)))));
    ending.push("data: [DONE]\n\n".to_owned());
    EventStream { events, ending }
}

/// Renders the parts of a streamed message.
fn render_deltas(answer: &ModelAnswer) -> Vec<Value> {
    let content = answer.text.as_ref().map(|_| "");
    let mut deltas = vec![json!({"role": "assistant", "content": content, "refusal": null})];
    for piece in split_into_pieces(answer.text.as_deref().unwrap_or_default()) {
        deltas.push(json!({"content": piece}));
    }
    for piece in split_into_pieces(answer.refusal.as_deref().unwrap_or_default()) {
        deltas.push(json!({"refusal": piece}));
    }
    for (index, call) in answer.calls.iter().enumerate() {
        let function = json!({"name": call.tool, "arguments": ""});
        let first_part =
            json!({"index": index, "id": call.id, "type": "function", "function": function});
        deltas.push(json!({"tool_calls": [first_part]}));
        for piece in split_into_pieces(&call.arguments) {
            let more = json!({"index": index, "function": {"arguments": piece}});
            deltas.push(json!({"tool_calls": [more]}));
        }
    }
    deltas
}

fn answer_id(answer: &ModelAnswer) -> String {
    format!("chatcmpl-{}", answer.number)
}

fn finish_reason(answer: &ModelAnswer) -> &str {
    match (&answer.refusal, &answer.stop) {
        // A refusal of the model is no stop reason of this API.
        (Some(_), None) => "stop",
        _ => answer.stop_reason(STOP_REASONS),
    }
}

fn render_usage(answer: &ModelAnswer) -> Value {
    let (read, written) = (answer.input_tokens, answer.output_tokens);
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
