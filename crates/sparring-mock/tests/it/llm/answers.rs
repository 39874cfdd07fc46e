//! Turns: texts, calls and expectations, the same for both APIs.

use serde_json::{Value, json};
use sparring_mock::{LlmMock, LlmTurn};
use sparring_wire::Rule;

use super::agent::{ask, body, send_user_message, start, with};

/// Declares a tool as OpenAI and as Anthropic clients do.
fn tools(name: &str) -> [Value; 2] {
    let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}});
    let function = json!({"name": name, "description": "Looks", "parameters": schema});
    [
        json!([{"type": "function", "function": function}]),
        json!([{"name": name, "description": "Looks", "input_schema": schema}]),
    ]
}

#[tokio::test]
async fn openai_answers_have_text_calls_ids_usage_and_finish_reason() {
    let llm = start(
        "openai: [{text: hello, usage: {input: 3, output: 4}}, \
         {text: look, calls: [{tool: a, with: {x: 1}}, {tool: a, id: mine}]}, \
         {text: cut, stop: length}]",
    )
    .await;
    let reply = send_user_message(&llm, "hi").await;
    assert_eq!((reply.status, reply.header("content-type")), (200, "application/json"));
    let answer = reply.json();
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!((&answer["id"], &answer["model"]), (&json!("chatcmpl-1"), &json!("m")));
    let message =
        json!({"role": "assistant", "content": "hello", "refusal": null, "annotations": []});
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": "stop"});
    assert_eq!(answer["choices"], json!([choice]));
    assert_eq!(answer["usage"]["prompt_tokens"], 3);
    assert_eq!(answer["usage"]["total_tokens"], 7);
    let asked = with(body(&llm, "hi"), json!({"tools": tools("a")[0]}));
    let answer = ask(&llm, &asked).await.json();
    let choice = &answer["choices"][0];
    let call = |id: &str, arguments: &str| {
        let function = json!({"name": "a", "arguments": arguments});
        json!({"id": id, "type": "function", "function": function})
    };
    let calls = json!([call("call_1", "{\"x\":1}"), call("mine", "{}")]);
    assert_eq!(
        (&choice["message"]["tool_calls"], &choice["message"]["content"]),
        (&calls, &json!("look"))
    );
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert!(answer["usage"]["prompt_tokens"].as_u64().unwrap() > 1);
    assert_eq!(send_user_message(&llm, "hi").await.json()["choices"][0]["finish_reason"], "length");
}

#[tokio::test]
async fn anthropic_answers_have_blocks_ids_usage_and_stop_reason() {
    let llm = start(
        "anthropic: [{text: hello, usage: {input: 3, output: 4}}, \
         {text: look, call: {tool: a, with: {x: 1}}}, {text: cut, stop: max_tokens}]",
    )
    .await;
    let answer = send_user_message(&llm, "hi").await.json();
    let usage = json!({
        "input_tokens": 3, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0,
        "output_tokens": 4,
    });
    let expected = json!({
        "id": "msg_1", "type": "message", "role": "assistant", "model": "m",
        "content": [{"type": "text", "text": "hello"}],
        "stop_reason": "end_turn", "stop_sequence": null, "usage": usage,
    });
    assert_eq!(answer, expected);
    let asked = with(body(&llm, "hi"), json!({"tools": tools("a")[1]}));
    let answer = ask(&llm, &asked).await.json();
    let call = json!({"type": "tool_use", "id": "toolu_1", "name": "a", "input": {"x": 1}});
    assert_eq!(answer["content"], json!([{"type": "text", "text": "look"}, call]));
    assert_eq!(answer["stop_reason"], "tool_use");
    assert_eq!(send_user_message(&llm, "hi").await.json()["stop_reason"], "max_tokens");
}

/// Returns a conversation after a call, in either API.
fn after_a_call(llm: &LlmMock, result: &str) -> Value {
    let system = "be brief";
    let user = json!({"role": "user", "content": [{"type": "text", "text": "weather?"}]});
    match llm.api().name() {
        "openai" => json!({
            "model": "gpt", "tools": tools("look")[0], "messages": [
                {"role": "system", "content": system}, user,
                {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
                    "function": {"name": "look", "arguments": "{\"city\":\"Oslo\"}"}}]},
                {"role": "tool", "tool_call_id": "c1", "content": result},
            ],
        }),
        _ => json!({
            "model": "gpt", "tools": tools("look")[1], "max_tokens": 9, "system": system,
            "messages": [
                user,
                {"role": "assistant", "content": [
                    {"type": "tool_use", "id": "c1", "name": "look", "input": {"city": "Oslo"}}]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1",
                    "content": [{"type": "text", "text": result}]}]},
            ],
        }),
    }
}

#[tokio::test]
async fn expectations_work_the_same_in_both_apis() {
    for api in ["openai", "anthropic"] {
        let llm = start(&format!(
            "{api}:
  - expect:
      model: gpt
      system: be brief
      user: weather?
      tools: [{{name: look, description: Looks, input_schema: {{properties: {{city: {{type: string}}}}}}}}]
      messages: {{has: {{role: assistant, calls: [{{tool: look, with: {{city: Oslo}}}}]}}}}
      results: [{{tool: look, id: c1, json: {{temperature: {{gt: 10}}}}}}]
      headers: {{Content-Type: application/json}}
      body: {{model: gpt}}
    text: \"it is ${{last.tool_result}}, ${{request.results[0].json.temperature}}, ${{turn}}\"\n"
        ))
        .await;
        let reply = ask(&llm, &after_a_call(&llm, "{\"temperature\": 15}")).await;
        assert_eq!(reply.text(), "it is {\"temperature\": 15}, 15, 1", "{api}");
        llm.verify();
    }
}

#[tokio::test]
async fn an_unmet_expectation_names_case_and_turn_and_keeps_the_turn() {
    for api in ["openai", "anthropic"] {
        let llm = start(&format!(
            "{api}: [{{text: one}}, {{expect: {{user: again, tools: {{has: {{name: look}}}}}}, text: two}}]"
        ))
        .await;
        send_user_message(&llm, "hi [test_case_id=c.1]").await;
        for _ in 0..2 {
            let reply = send_user_message(&llm, "hi [test_case_id=c.1]").await;
            assert_eq!((reply.status, reply.header("x-should-retry")), (400, "false"));
            assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
            let reported = reply.error();
            assert!(
                reported.starts_with(
                    "case 'c.1': turn 2: the request does not meet the expectation:\n"
                ),
                "{reported}"
            );
            assert!(
                reported.contains("at user: expected \"again\", found \"hi [test_case_id=c.1]\""),
                "{reported}"
            );
            assert!(reported.contains("at tools: "), "{reported}");
        }
        let misses = llm.mismatches();
        assert_eq!((misses.len(), misses[0].rule), (2, Rule::UnexpectedTurn));
        let verified = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| llm.verify()));
        assert!(verified.is_err());
    }
}

#[tokio::test]
async fn a_mismatch_does_not_reveal_keys() {
    let script = "openai: [{expect: {headers: {Authorization: Bearer right, x-a: b}}, text: hi}]";
    let llm = start(script).await;
    let request = super::agent::request(&llm, &body(&llm, "hi"));
    let reported =
        super::agent::send(request.header("authorization", "Bearer wrong")).await.error();
    assert!(reported.contains("at headers.authorization: the value differs"), "{reported}");
    assert!(reported.contains("at headers.x-a: expected \"b\", found nothing"), "{reported}");
    assert!(!reported.contains("right") && !reported.contains("wrong"), "{reported}");
}

#[tokio::test]
async fn calls_only_declared_tools_unless_undeclared_is_set() {
    let llm = start("openai: [{call: {tool: lok}}]").await;
    let reported = send_user_message(&llm, "hi").await.error();
    assert_eq!(
        reported,
        "turn 1: the turn calls `lok`, which the request does not declare; the request declares no tools"
    );
    let asked = with(body(&llm, "hi"), json!({"tools": tools("look")[0]}));
    let reported = ask(&llm, &asked).await.error();
    assert_eq!(
        reported,
        "turn 1: the turn calls `lok`, which the request does not declare; did you mean 'look'?"
    );
    let llm = start("openai: [{call: {tool: lok, undeclared: true, arguments: '{\"half'}}]").await;
    let answer = send_user_message(&llm, "hi").await.json();
    let function = &answer["choices"][0]["message"]["tool_calls"][0]["function"];
    assert_eq!(function, &json!({"name": "lok", "arguments": "{\"half"}));
}

#[tokio::test]
async fn an_undefined_template_names_its_turn_and_keeps_the_turn() {
    let llm = start("openai: [{text: \"${last.tool_result}\"}, {text: next}]").await;
    for _ in 0..2 {
        let reported = send_user_message(&llm, "hi").await.error();
        assert!(
            reported.starts_with("turn 1: ${last.tool_result}: last has no key `tool_result`"),
            "{reported}"
        );
    }
}

#[tokio::test]
async fn texts_arguments_and_expectations_use_variables() {
    let llm = start(
        "vars: {city: Oslo, n: 5}\nopenai:\n  - expect: {user: {contains: \"${vars.city}\"}}\n    \
         text: \"in ${vars.city}\"\n    \
         call: {tool: a, undeclared: true, with: {n: \"${vars.n}\", t: \"${last.text}\"}}\n",
    )
    .await;
    let answer = send_user_message(&llm, "go to Oslo").await.json();
    let message = &answer["choices"][0]["message"];
    assert_eq!(message["content"], "in Oslo");
    let arguments = "{\"n\":5,\"t\":\"go to Oslo\"}";
    assert_eq!(message["tool_calls"][0]["function"]["arguments"], arguments);
}

#[tokio::test]
async fn builds_an_endpoint_in_rust() {
    let llm = LlmMock::anthropic()
        .turn(LlmTurn::call("look", json!({"city": "Oslo"})).expect(json!({"user": "weather?"})))
        .turn(LlmTurn::error(529))
        .turn(LlmTurn::text("${last.tool_result}").delay(std::time::Duration::from_millis(1)))
        .case("b", [LlmTurn::text("of b")])
        .with("models", json!(["m", "gpt"]))
        .start()
        .await
        .unwrap();
    let asked = with(body(&llm, "weather?"), json!({"tools": tools("look")[1]}));
    assert_eq!(ask(&llm, &asked).await.json()["content"][0]["input"], json!({"city": "Oslo"}));
    let next = after_a_call(&llm, "rain");
    let refused = ask(&llm, &next).await;
    assert_eq!(
        (refused.status, &refused.json()["error"]["type"]),
        (529, &json!("overloaded_error"))
    );
    assert_eq!(ask(&llm, &next).await.text(), "rain");
    assert_eq!(send_user_message(&llm, "[test_case_id=b]").await.text(), "of b");
    assert_eq!((llm.total(), llm.mismatches()), (4, vec![]));
    let wrong = LlmMock::openai().turn(LlmTurn::default()).start().await.unwrap_err();
    assert!(wrong.to_string().contains("the turn has no answer"), "{wrong}");
}
