//! What breaks on the way: streams, answers, servers.

use serde_json::json;
use sparring_host::agent::{AgentError, Api};
use sparring_host::manager::Manager;
use sparring_mock::LlmTurn;

use super::{Stage, WAYS, calls, llm};
use crate::manager::children::stand_in;
use crate::manager::fixture::{to, tools, within};
use crate::permissions::rules;

#[tokio::test]
async fn what_breaks_off_or_is_no_answer_is_told_and_not_taken_for_one() {
    for (fault, told) in [
        (json!({"disconnect": "middle"}), ""),
        (json!({"disconnect": "before"}), "closed the connection without a response"),
        (json!({"truncate": true}), ""),
        (json!({"garbage": true}), "not JSON"),
    ] {
        for (api, stream) in WAYS {
            let turn = LlmTurn::text("half of it is lost").with("fault", fault.clone());
            let llm = match llm(api).turn(turn).start().await {
                Ok(llm) => llm,
                Err(error) => panic!("{fault}: {error}"),
            };
            let ran = Stage::of("s", tools(&["one"]), &[]).await.run(&llm, stream, "go").await;
            let error = ran.error();
            let unusable = matches!(ran.ended, Err(AgentError::Unusable { .. }));
            assert!(unusable && error.contains(told), "{fault} {api:?} {stream}: {error}");
        }
    }
}

#[tokio::test]
async fn a_server_that_crashes_during_a_call_is_told_to_the_model() {
    let servers = [to("child", stand_in("child"))];
    let manager = Manager::new(servers.clone());
    let stage = Stage::on(manager, &servers, rules(&[], &[], &["mcp__child"])).await;
    let told = json!({"text": {"contains": "server `child` was lost during the call"}});
    let llm = calls(Api::OpenAi, "mcp__child__crash", json!({}), told).start().await.unwrap();
    let ran = stage.run(&llm, false, "go").await;
    assert!(ran.answer().starts_with("it said: server `child` was lost"), "{}", ran.answer());
    assert!(!ran.answer().contains("last words"), "{}", ran.answer());
    within(stage.manager.shut_down(std::time::Duration::from_secs(20))).await;
}
