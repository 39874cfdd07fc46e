//! Streamed answers of both APIs.

use serde_json::{Value, json};

use super::agent::{ask, body, start, with};

/// Returns the events of a stream: names, if any, and data.
fn events(text: &str) -> Vec<(String, Value)> {
    let blocks = text.split_terminator("\n\n");
    let event = |block: &str| {
        let lines: Vec<&str> = block.lines().collect();
        let name = lines.iter().find_map(|line| line.strip_prefix("event: ")).unwrap_or_default();
        let data = lines.iter().find_map(|line| line.strip_prefix("data: ")).unwrap();
        (name.to_owned(), serde_json::from_str(data).unwrap_or_else(|_| data.into()))
    };
    blocks.map(event).collect()
}

const ANSWER_TEXT: &str = "a text that comes in pieces";

#[tokio::test]
async fn openai_sends_chunks_of_content_and_of_arguments_and_done() {
    let call = "{tool: look, undeclared: true, with: {city: a city of a long name}}";
    let llm = start(&format!("openai: [{{text: {ANSWER_TEXT}, calls: [{call}, {call}]}}]")).await;
    let more = json!({"stream": true, "stream_options": {"include_usage": true}});
    let reply = ask(&llm, &with(body(&llm, "hi"), more)).await;
    assert_eq!(reply.header("content-type"), "text/event-stream; charset=utf-8");
    assert_eq!(reply.header("transfer-encoding"), "chunked");
    let events = events(&reply.text);
    let (last, chunks) = events.split_last().unwrap();
    assert_eq!(last.1, "[DONE]");
    assert!(
        chunks.iter().all(|(name, it)| name.is_empty() && it["object"] == "chat.completion.chunk")
    );
    assert!(chunks.iter().all(|(_, it)| it["id"] == chunks[0].1["id"]));
    let (usage, chunks) = chunks.split_last().unwrap();
    assert_eq!(usage.1["choices"], json!([]));
    assert!(usage.1["usage"]["completion_tokens"].as_u64().unwrap() > 0);
    assert!(chunks.iter().all(|(_, it)| it["usage"].is_null() && it.get("usage").is_some()));
    let deltas: Vec<&Value> = chunks.iter().map(|(_, it)| &it["choices"][0]["delta"]).collect();
    assert_eq!(deltas[0], &json!({"role": "assistant", "content": "", "refusal": null}));
    let content: Vec<&str> = deltas.iter().filter_map(|it| it["content"].as_str()).collect();
    assert!(content.len() > 3, "{content:?}");
    assert_eq!(content.concat(), ANSWER_TEXT);
    for index in [0, 1] {
        let calls = deltas.iter().filter_map(|it| it["tool_calls"].get(0));
        let calls: Vec<&Value> = calls.filter(|it| it["index"] == index).collect();
        let begun = json!({
            "index": index, "id": format!("call_{}", index + 1), "type": "function",
            "function": {"name": "look", "arguments": ""},
        });
        assert_eq!(calls[0], &begun);
        let arguments = calls.iter().map(|it| it["function"]["arguments"].as_str().unwrap());
        assert_eq!(arguments.collect::<String>(), "{\"city\":\"a city of a long name\"}");
        assert!(calls.len() > 3 && calls[1].get("id").is_none());
    }
    let reasons: Vec<&Value> =
        chunks.iter().map(|(_, it)| &it["choices"][0]["finish_reason"]).collect();
    let (last, others) = reasons.split_last().unwrap();
    assert_eq!(**last, "tool_calls");
    assert!(others.iter().all(|it| it.is_null()));
}

#[tokio::test]
async fn openai_streams_have_usage_only_on_request() {
    let llm = start("openai: [{text: hi}]").await;
    let reply = ask(&llm, &with(body(&llm, "hi"), json!({"stream": true}))).await;
    assert!(!reply.text.contains("usage"), "{}", reply.text);
}

#[tokio::test]
async fn anthropic_sends_blocks_with_start_deltas_and_stop() {
    let call = "{tool: look, undeclared: true, with: {city: a city of a long name}}";
    let llm = start(&format!(
        "anthropic: [{{text: {ANSWER_TEXT}, call: {call}, usage: {{input: 5, output: 6}}}}]"
    ))
    .await;
    let reply = ask(&llm, &with(body(&llm, "hi"), json!({"stream": true}))).await;
    let events = events(&reply.text);
    assert!(events.iter().all(|(name, it)| it["type"] == **name));
    let mut names: Vec<&str> = events.iter().map(|(name, _)| &**name).collect();
    names.dedup();
    let block = ["content_block_start", "content_block_delta", "content_block_stop"];
    let expected = [
        &["message_start", "content_block_start", "ping"],
        &block[1..],
        &block[..],
        &["message_delta", "message_stop"],
    ];
    assert_eq!(names, expected.concat());
    let message = &events[0].1["message"];
    assert_eq!((&message["content"], &message["usage"]["input_tokens"]), (&json!([]), &json!(5)));
    assert_eq!(message["stop_reason"], Value::Null);
    let deltas = |index: u64, key: &str| -> Vec<String> {
        let of = events.iter().filter(|(_, it)| it["index"] == index);
        of.filter_map(|(_, it)| it["delta"][key].as_str().map(str::to_owned)).collect()
    };
    let (text, arguments) = (deltas(0, "text"), deltas(1, "partial_json"));
    assert!(text.len() > 2 && arguments.len() > 2, "{text:?} {arguments:?}");
    assert_eq!(text.concat(), ANSWER_TEXT);
    assert_eq!(arguments.concat(), "{\"city\":\"a city of a long name\"}");
    let begun: Vec<&Value> = events.iter().filter_map(|(_, it)| it.get("content_block")).collect();
    let tool = json!({"type": "tool_use", "id": "toolu_1", "name": "look", "input": {}});
    assert_eq!(begun, [&json!({"type": "text", "text": ""}), &tool]);
    let last = &events[events.len() - 2].1;
    let delta = json!({"stop_reason": "tool_use", "stop_sequence": null});
    assert_eq!((&last["delta"], &last["usage"]), (&delta, &json!({"output_tokens": 6})));
}

#[tokio::test(start_paused = true)]
async fn sends_events_at_the_scripted_pace() {
    let llm = start("anthropic: [{text: hi, pace: 10s}]").await;
    let begun = tokio::time::Instant::now();
    let reply = ask(&llm, &with(body(&llm, "hi"), json!({"stream": true}))).await;
    let count = u32::try_from(events(&reply.text).len()).unwrap();
    assert_eq!(begun.elapsed().as_secs() / 10, u64::from(count - 1), "{}", reply.text);
}
