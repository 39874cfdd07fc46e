//! One script over all four APIs: the same turns, complete and streamed.

use reqwest::RequestBuilder;
use serde_json::{Value, json};
use sparring_mock::LlmMock;

use super::agent::{Reply, send, start};

/// An API as a client sees it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Client {
    Chat,
    Responses,
    Messages,
    Gemini,
}

const ALL: [Client; 4] = [Client::Chat, Client::Responses, Client::Messages, Client::Gemini];

impl Client {
    /// Sends a question with the tool `mcp__w__look`, and the result of its call if there is one.
    async fn ask(
        self,
        llm: &LlmMock,
        text: &str,
        result: Option<(&str, &str)>,
        stream: bool,
    ) -> Reply {
        send(self.request(llm, text, result, stream)).await
    }

    fn request(
        self,
        llm: &LlmMock,
        text: &str,
        result: Option<(&str, &str)>,
        stream: bool,
    ) -> RequestBuilder {
        let url = llm.url();
        let schema = json!({"type": "object", "properties": {}});
        let (path, mut body) = match self {
            Client::Chat => {
                let function = json!({"name": "mcp__w__look", "parameters": schema});
                let mut messages = vec![json!({"role": "user", "content": text})];
                if let Some((id, result)) = result {
                    let function = json!({"name": "mcp__w__look", "arguments": "{}"});
                    let call = json!({"id": id, "type": "function", "function": function});
                    messages.push(json!({"role": "assistant", "tool_calls": [call]}));
                    messages.push(json!({"role": "tool", "tool_call_id": id, "content": result}));
                }
                let tools = json!([{"type": "function", "function": function}]);
                (
                    "/v1/chat/completions",
                    json!({"model": "m", "messages": messages, "tools": tools}),
                )
            }
            Client::Responses => {
                let mut input = vec![json!({"role": "user", "content": text})];
                if let Some((id, result)) = result {
                    input.push(
                        json!({"type": "function_call", "call_id": id, "namespace": "mcp__w__",
                        "name": "look", "arguments": "{}"}),
                    );
                    input.push(
                        json!({"type": "function_call_output", "call_id": id, "output": result}),
                    );
                }
                let tool = json!({"type": "function", "name": "look", "parameters": schema});
                let tools = json!([{"type": "namespace", "name": "mcp__w__", "tools": [tool]}]);
                ("/v1/responses", json!({"model": "m", "input": input, "tools": tools}))
            }
            Client::Messages => {
                let mut messages = vec![json!({"role": "user", "content": text})];
                if let Some((id, result)) = result {
                    let call =
                        json!({"type": "tool_use", "id": id, "name": "mcp__w__look", "input": {}});
                    messages.push(json!({"role": "assistant", "content": [call]}));
                    let result =
                        json!({"type": "tool_result", "tool_use_id": id, "content": result});
                    messages.push(json!({"role": "user", "content": [result]}));
                }
                let tools = json!([{"name": "mcp__w__look", "input_schema": schema}]);
                (
                    "/v1/messages",
                    json!({"model": "m", "max_tokens": 9, "messages": messages, "tools": tools}),
                )
            }
            Client::Gemini => {
                let mut contents = vec![json!({"role": "user", "parts": [{"text": text}]})];
                if let Some((_, result)) = result {
                    let call = json!({"functionCall": {"name": "mcp__w__look", "args": {}}});
                    contents.push(json!({"role": "model", "parts": [call]}));
                    let response = json!({"name": "mcp__w__look", "response": {"output": result}});
                    contents
                        .push(json!({"role": "user", "parts": [{"functionResponse": response}]}));
                }
                let function = json!({"name": "mcp__w__look", "parametersJsonSchema": schema});
                let tools = json!([{"functionDeclarations": [function]}]);
                let path = match stream {
                    true => "/v1beta/models/m:streamGenerateContent?alt=sse",
                    false => "/v1beta/models/m:generateContent",
                };
                (path, json!({"contents": contents, "tools": tools}))
            }
        };
        if stream && self != Client::Gemini {
            body["stream"] = true.into();
        }
        let request = reqwest::Client::new().post(format!("{url}{path}"));
        request.header("anthropic-version", "2023-06-01").body(body.to_string())
    }

    /// Returns the text, the called tool and the stop reason of a complete answer.
    fn answer(self, answer: &Value) -> [Value; 3] {
        let at = |pointer: &str| answer.pointer(pointer).cloned().unwrap_or_default();
        match self {
            Client::Chat => [
                at("/choices/0/message/content"),
                at("/choices/0/message/tool_calls/0/function/name"),
                at("/choices/0/finish_reason"),
            ],
            Client::Responses => {
                [at("/output/0/content/0/text"), at("/output/0/name"), at("/status")]
            }
            Client::Messages => [at("/content/0/text"), at("/content/0/name"), at("/stop_reason")],
            Client::Gemini => [
                at("/candidates/0/content/parts/0/text"),
                at("/candidates/0/content/parts/0/functionCall/name"),
                at("/candidates/0/finishReason"),
            ],
        }
    }

    /// Returns the streamed text.
    fn streamed_text(self, events: &str) -> String {
        let data = events.lines().filter_map(|line| line.strip_prefix("data: "));
        let values = data.filter_map(|data| serde_json::from_str::<Value>(data).ok());
        let pointer = match self {
            Client::Chat => "/choices/0/delta/content",
            Client::Responses => "/delta",
            Client::Messages => "/delta/text",
            Client::Gemini => "/candidates/0/content/parts/0/text",
        };
        values.filter_map(|it| it.pointer(pointer)?.as_str().map(str::to_owned)).collect()
    }
}

const SCRIPT: &str = "
turns:
  - expect: {user: weather?, tools: [{name: mcp__w__look}]}
    call: {tool: {ends_with: look}, id: c1}
  - expect: {results: [{tool: mcp__w__look, text: sunny}]}
    text: \"it says ${last.tool_result}, and that is a long answer\"
  - {text: cut, stop: length}
  - {refusal: I will not}
";

#[tokio::test]
async fn one_script_serves_all_apis() {
    for client in ALL {
        let llm = start(SCRIPT).await;
        let first = client.ask(&llm, "weather?", None, false).await;
        assert_eq!(first.status, 200, "{client:?}: {}", first.text);
        let [_, tool, stop] = client.answer(&first.json());
        let (own_name, expected) = match client {
            Client::Chat => ("mcp__w__look", "tool_calls"),
            Client::Responses => ("look", "completed"),
            Client::Messages => ("mcp__w__look", "tool_use"),
            Client::Gemini => ("mcp__w__look", "STOP"),
        };
        assert_eq!((&tool, &stop), (&json!(own_name), &json!(expected)), "{client:?}");
        if client == Client::Responses {
            assert_eq!(first.json()["output"][0]["namespace"], "mcp__w__");
        }
        let result = Some(("c1", "sunny"));
        let second = client.ask(&llm, "weather?", result, true).await;
        let text = client.streamed_text(&second.text);
        assert_eq!(text, "it says sunny, and that is a long answer", "{client:?}: {}", second.text);
        let third = client.ask(&llm, "weather?", None, false).await;
        let expected = match client {
            Client::Chat => "length",
            Client::Responses => "incomplete",
            Client::Messages => "max_tokens",
            Client::Gemini => "MAX_TOKENS",
        };
        assert_eq!(client.answer(&third.json())[2], expected, "{client:?}");
        let refusal = client.ask(&llm, "weather?", None, false).await;
        assert!(refusal.text.contains("I will not"), "{client:?}: {}", refusal.text);
        llm.verify();
    }
}

#[tokio::test]
async fn errors_and_arguments_that_are_not_json_have_the_form_of_each_api() {
    let script = "turns: [{error: {status: 429, retry_after: 2s}}, \
                  {call: {tool: mcp__w__look, arguments: \"{oops\"}}, \
                  {text: before, error: {status: 503}}]";
    for client in ALL {
        let llm = start(script).await;
        let limited = client.ask(&llm, "hi", None, false).await;
        assert_eq!((limited.status, limited.header("retry-after")), (429, "2"), "{client:?}");
        let broken = client.ask(&llm, "hi", None, true).await;
        assert!(broken.text.contains("oops"), "{client:?}: {}", broken.text);
        let failed = client.ask(&llm, "hi", None, true).await;
        let last = failed.text.lines().rfind(|line| line.starts_with("data: ")).unwrap();
        assert!(last.contains("scripted error"), "{client:?}: {last}");
    }
}

#[tokio::test]
async fn faults_and_usage_work_over_every_api_complete_and_streamed() {
    let script = "turns: [{text: hello there, fault: {disconnect: middle}}, \
                  {text: hello there, fault: {truncate: true}}, \
                  {text: hello there, fault: {slow: 100000}}, \
                  {error: {status: 429, retry_after: 2s}}, {error: {status: 529}}, \
                  {refusal: not this}, {text: x, usage: {input: 70707, output: 50505}}]";
    for (client, stream) in ALL.into_iter().flat_map(|client| [(client, false), (client, true)]) {
        let llm = start(script).await;
        let ask = async || client.ask(&llm, "hi", None, stream).await;
        let cut = client.request(&llm, "hi", None, stream).send().await.unwrap();
        assert!(cut.text().await.is_err(), "{client:?}");
        let half = ask().await.text;
        let whole = ask().await.text;
        assert!(half.len() < whole.len() && whole.contains("hello"), "{client:?}: {half}");
        let limited = ask().await;
        assert_eq!((limited.status, limited.header("retry-after")), (429, "2"), "{client:?}");
        assert_eq!(ask().await.status, 529, "{client:?}");
        let refused = ask().await.text;
        assert!(refused.contains("not this"), "{client:?}: {refused}");
        let used = ask().await.text;
        // A stream of chat completions has it only on request.
        let expected = client != Client::Chat || !stream;
        assert_eq!(used.contains("70707") && used.contains("50505"), expected, "{used}");
    }
}

#[tokio::test]
async fn a_response_continues_an_earlier_one() {
    let script = "turns: [{call: {tool: look, id: c1}}, \
                  {expect: {user: weather?, results: [{tool: look, text: sunny}]}, text: good}]";
    let llm = start(script).await;
    let ask = async |body: Value| {
        let request = reqwest::Client::new().post(format!("{}/v1/responses", llm.url()));
        send(request.body(body.to_string())).await
    };
    let tools = json!([{"type": "function", "name": "look", "parameters": {}}]);
    let first = ask(json!({"model": "m", "input": "weather?", "tools": tools})).await.json();
    let output = json!({"type": "function_call_output", "call_id": "c1", "output": "sunny"});
    let unknown = json!({"model": "m", "input": [output], "previous_response_id": "resp_x"});
    let unknown = ask(unknown).await;
    assert_eq!(
        (unknown.status, &unknown.json()["error"]["code"]),
        (400, &json!("previous_response_not_found"))
    );
    let second =
        ask(json!({"model": "m", "input": [output], "previous_response_id": first["id"]})).await;
    assert_eq!(second.json()["output"][0]["content"][0]["text"], "good", "{}", second.text);
    assert_eq!(second.json()["previous_response_id"], first["id"]);
}

#[tokio::test]
async fn a_gemini_stream_without_events_is_a_list() {
    let llm = start("gemini: [{text: a text that has several pieces}]").await;
    let url = format!("{}/v1beta/models/m:streamGenerateContent", llm.url());
    let body = json!({"contents": [{"parts": [{"text": "hi"}]}]});
    let reply = send(reqwest::Client::new().post(url).body(body.to_string())).await;
    let chunks = reply.json();
    assert!(chunks.as_array().unwrap().len() > 2, "{}", reply.text);
}

#[tokio::test]
async fn a_matcher_of_a_tool_must_match_exactly_one() {
    let llm = start("turns: [{call: {tool: {starts_with: x}}}]").await;
    let reply = Client::Chat.ask(&llm, "hi", None, false).await;
    let expected = "turn 1: the turn calls a tool by a matcher: no declared tool matches; declared tools: mcp__w__look";
    assert_eq!((reply.status, &*reply.error()), (400, expected));
}
