//! Broken streams, responses and servers.

use serde_json::json;
use sparring_host::agent::{AgentError, Api};
use sparring_host::manager::Manager;
use sparring_mock::LlmTurn;

use super::{API_MODES, AgentFixture, calls, llm};
use crate::manager::children::example_server;
use crate::manager::fixture::{server_config, tools, within};
use crate::permissions::rules;

#[tokio::test]
async fn a_truncated_or_invalid_response_is_an_error() {
    for (fault, message) in [
        (json!({"disconnect": "middle"}), ""),
        (json!({"disconnect": "before"}), "closed the connection without a response"),
        (json!({"truncate": true}), ""),
        (json!({"garbage": true}), "not JSON"),
    ] {
        for (api, stream) in API_MODES {
            let turn = LlmTurn::text("half of it is lost").with("fault", fault.clone());
            let llm = match llm(api).turn(turn).start().await {
                Ok(llm) => llm,
                Err(error) => panic!("{fault}: {error}"),
            };
            let run =
                AgentFixture::of("s", tools(&["one"]), &[]).await.run(&llm, stream, "go").await;
            let error = run.error();
            let unusable = matches!(run.ended, Err(AgentError::InvalidResponse { .. }));
            assert!(unusable && error.contains(message), "{fault} {api:?} {stream}: {error}");
        }
    }
}

#[tokio::test]
async fn the_model_gets_a_crash_during_a_call_as_an_error() {
    let servers = [server_config("child", example_server("child"))];
    let manager = Manager::new(servers.clone());
    let fixture = AgentFixture::on(manager, &servers, rules(&[], &[], &["mcp__child"])).await;
    let message = json!({"text": {"contains": "server `child` was lost during the call"}});
    let llm = calls(Api::OpenAi, "mcp__child__crash", json!({}), message).start().await.unwrap();
    let run = fixture.run(&llm, false, "go").await;
    assert!(run.answer().starts_with("it said: server `child` was lost"), "{}", run.answer());
    assert!(!run.answer().contains("last words"), "{}", run.answer());
    within(fixture.manager.shut_down(std::time::Duration::from_secs(20))).await;
}
