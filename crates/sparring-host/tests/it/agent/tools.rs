//! Tools and their results between a model and servers.

use serde_json::json;
use sparring_host::agent::{AgentResult, EndReason, Event, Limits};
use sparring_mock::{LlmTurn, MockServer, Reply, ToolMock};

use super::{API_MODES, AgentFixture, calls, llm};
use crate::manager::fixture::tools;

fn weather() -> sparring_mock::MockBuilder {
    let tool = ToolMock::new("get_weather")
        .input(json!({"city": "string"}))
        .reply(Reply::text("15 degrees in ${args.city}"));
    MockServer::builder().tool(tool)
}

#[tokio::test]
async fn the_model_sees_the_tools_with_their_schemas() {
    for (api, stream) in API_MODES {
        let expected = json!({
            "system": "be short", "user": "the weather?", "model": "scripted",
            "tools": {"has": {
                "name": "mcp__w__get_weather",
                "input_schema": {"type": "object", "properties": {"city": {"type": "string"}}},
            }},
        });
        let llm = llm(api).turn(LlmTurn::text("fine").expect(expected)).start().await.unwrap();
        let run =
            AgentFixture::of("w", weather(), &[]).await.run(&llm, stream, "the weather?").await;
        assert_eq!(run.answer(), "fine", "{api:?} {stream}");
        llm.verify();
    }
}

#[tokio::test]
async fn the_agent_makes_the_models_calls_and_returns_the_results() {
    for (api, stream) in API_MODES {
        let result = json!({"tool": "mcp__w__get_weather", "text": "15 degrees in Oslo"});
        let llm = calls(api, "mcp__w__get_weather", json!({"city": "Oslo"}), result);
        let llm = llm.start().await.unwrap();
        let run =
            AgentFixture::of("w", weather(), &[]).await.run(&llm, stream, "the weather?").await;
        assert_eq!(run.answer(), "it said: 15 degrees in Oslo", "{api:?} {stream}");
        assert_eq!(run.results(), [("15 degrees in Oslo", false)]);
        let pieces: String = run
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Delta(more) => Some(more.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(pieces, if stream { run.answer() } else { "" }, "{api:?}");
        llm.verify();
    }
}

#[tokio::test]
async fn a_denied_tool_is_hidden_and_not_called() {
    for (api, stream) in API_MODES {
        let hidden = json!({"tools": {"len": 0}});
        let llm = llm(api)
            .turn(
                LlmTurn::default()
                    .with("call", json!({"tool": "mcp__w__get_weather", "undeclared": true}))
                    .expect(hidden),
            )
            .turn(LlmTurn::text("then not"))
            .start()
            .await
            .unwrap();
        let fixture = AgentFixture::of("w", weather(), &["mcp__w__get_*"]).await;
        let run = fixture.run(&llm, stream, "the weather?").await;
        let [(text, true)] = run.results()[..] else { panic!("{:?}", run.results()) };
        assert!(text.contains("is denied by rule"), "{text}");
        assert_eq!(run.answer(), "then not");
    }
}

#[tokio::test]
async fn the_model_gets_its_mistakes_as_errors() {
    for (api, stream) in API_MODES {
        for (call, message) in [
            (
                json!({"tool": "mcp__w__get_wether", "undeclared": true}),
                "did you mean 'mcp__w__get_weather'?",
            ),
            (
                json!({"tool": "mcp__w__get_weather", "arguments": "{\"city\": "}),
                "the arguments are not JSON",
            ),
            (json!({"tool": "mcp__w__get_weather", "arguments": "[1]"}), "are not a JSON object"),
        ] {
            // Anthropic's API has no arguments that are not JSON.
            if call.get("arguments").is_some() && api == super::Api::Anthropic {
                continue;
            }
            let llm = llm(api)
                .turn(LlmTurn::default().with("call", call))
                .turn(LlmTurn::text("sorry"))
                .start()
                .await
                .unwrap();
            let run =
                AgentFixture::of("w", weather(), &[]).await.run(&llm, stream, "the weather?").await;
            assert_eq!(run.answer(), "sorry", "{api:?} {stream}");
            let [(text, true)] = run.results()[..] else { panic!("{:?}", run.results()) };
            assert!(text.contains(message), "{text}");
        }
    }
}

#[tokio::test]
async fn several_calls_of_a_turn_are_answered_in_their_order() {
    for (api, stream) in API_MODES {
        let both = json!({"results": [{"text": "one"}, {"text": "two"}]});
        let llm = llm(api)
            .turn(LlmTurn::call("mcp__s__one", json!({})).and_call("mcp__s__two", json!({})))
            .turn(LlmTurn::text("both").expect(both))
            .start()
            .await
            .unwrap();
        let run =
            AgentFixture::of("s", tools(&["one", "two"]), &[]).await.run(&llm, stream, "go").await;
        assert_eq!(run.answer(), "both", "{api:?} {stream}");
        llm.verify();
    }
}

#[tokio::test]
async fn a_model_that_never_answers_reaches_the_limit_of_turns() {
    for (api, stream) in API_MODES {
        let again = LlmTurn::call("mcp__s__one", json!({})).with("repeat", "always");
        let llm = llm(api).turn(again).start().await.unwrap();
        let mut fixture = AgentFixture::of("s", tools(&["one"]), &[]).await;
        fixture.limits = Limits { max_turns: 3, ..Limits::default() };
        let run = fixture.run(&llm, stream, "go").await;
        let ended = run.ended.as_ref().unwrap();
        assert_eq!(
            *ended,
            AgentResult { end: EndReason::OutOfTurns, text: String::new(), turns: 3 }
        );
        assert_eq!(llm.total(), 3);
        assert_eq!(run.results().len(), 2, "the last one is unused");
    }
}

#[tokio::test]
async fn a_huge_result_is_truncated_for_the_model_with_a_note() {
    let huge = ToolMock::new("huge").reply(Reply::text("x".repeat(1_000_000)));
    let cut = json!({"text": {"contains": "983616 of 1000000 bytes omitted; not saved"}});
    for (api, stream) in API_MODES {
        let llm = calls(api, "mcp__s__huge", json!({}), cut.clone()).start().await.unwrap();
        let mock = MockServer::builder().tool(huge.clone());
        let run = AgentFixture::of("s", mock, &[]).await.run(&llm, stream, "go").await;
        assert!(run.answer().len() < 20_000, "{api:?} {stream}");
        llm.verify();
    }
}

#[tokio::test]
async fn read_only_tools_run_concurrently_and_others_one_by_one() {
    for (reads, expected) in [
        (true, ["call one", "call two", "result one", "result two"]),
        (false, ["call one", "result one", "call two", "result two"]),
    ] {
        let tool = |name: &str| {
            let hint = json!({"readOnlyHint": reads});
            ToolMock::new(name).with("annotations", hint).reply(Reply::text(name))
        };
        let mock = MockServer::builder().tool(tool("one")).tool(tool("two"));
        let llm = llm(super::Api::OpenAi)
            .turn(LlmTurn::call("mcp__s__one", json!({})).and_call("mcp__s__two", json!({})))
            .turn(LlmTurn::text("both"))
            .start()
            .await
            .unwrap();
        let run = AgentFixture::of("s", mock, &[]).await.run(&llm, false, "go").await;
        assert_eq!(run.answer(), "both");
        let order: Vec<String> = run
            .events
            .iter()
            .filter_map(|event| match event {
                Event::Call(call) => Some(format!("call {}", &call.tool["mcp__s__".len()..])),
                Event::Result { call, .. } => {
                    Some(format!("result {}", &call.tool["mcp__s__".len()..]))
                }
                _ => None,
            })
            .collect();
        assert_eq!(order, expected, "{reads}");
    }
}
