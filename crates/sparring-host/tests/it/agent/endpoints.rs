//! What endpoints answer besides turns.

use serde_json::json;
use sparring_host::agent::{Address, AgentError, Api, End, Event, Patience};
use sparring_mock::LlmTurn;
use std::time::Duration;

use super::{Stage, WAYS, llm};
use crate::manager::fixture::tools;

async fn stage() -> Stage {
    Stage::of("s", tools(&["one"]), &[]).await
}

#[tokio::test]
async fn a_busy_endpoint_is_asked_again_as_it_says() {
    for (api, stream) in WAYS {
        let busy = LlmTurn::default().with("error", json!({"status": 429, "retry_after": "1s"}));
        let llm = llm(api).turn(busy).turn(LlmTurn::text("now")).start().await.unwrap();
        let ran = stage().await.run(&llm, stream, "go").await;
        assert_eq!(ran.answer(), "now", "{api:?} {stream}");
        let retried = ran.events.iter().find_map(|event| match event {
            Event::Retry { status, after } => Some((*status, *after)),
            _ => None,
        });
        assert_eq!(retried, Some((429, Duration::from_secs(1))));
    }
}

#[tokio::test]
async fn one_that_stays_busy_or_wants_too_long_is_told() {
    let busy = |after: &str| {
        let error = json!({"status": 429, "retry_after": after});
        LlmTurn::default().with("error", error).with("repeat", "always")
    };
    let llm = llm(Api::OpenAi).turn(busy("0s")).start().await.unwrap();
    let ran = stage().await.run(&llm, false, "go").await;
    assert!(ran.error().ends_with("(tried 4 times)"), "{}", ran.error());
    assert_eq!(llm.total(), 4);
    let llm = super::llm(Api::OpenAi).turn(busy("3600s")).start().await.unwrap();
    let ran = stage().await.run(&llm, false, "go").await;
    assert!(ran.error().contains("/v1/chat/completions answered 429: "), "{}", ran.error());
    assert_eq!(llm.total(), 1);
}

#[tokio::test]
async fn a_key_that_is_not_taken_is_told_at_once_and_not_shown() {
    for (api, stream) in WAYS {
        let error = json!({"status": 401, "message": "the key hunter2 is wrong"});
        let llm = llm(api).turn(LlmTurn::default().with("error", error)).start().await.unwrap();
        let ran = stage().await.run(&llm, stream, "go").await;
        let told = ran.error();
        assert!(matches!(ran.ended, Err(AgentError::Refused { status: 401, .. })), "{told}");
        assert!(told.ends_with("answered 401: the key (hidden) is wrong"), "{told}");
        assert_eq!(llm.total(), 1);
    }
}

#[tokio::test]
async fn a_refusal_and_an_answer_without_an_end_are_no_answers() {
    for (stop, api, expected) in [
        ("content_filter", Api::OpenAi, End::Refused(String::new())),
        ("length", Api::OpenAi, End::Cut),
        ("refusal", Api::Anthropic, End::Refused(String::new())),
        ("max_tokens", Api::Anthropic, End::Cut),
    ] {
        for stream in [false, true] {
            let turn = LlmTurn::text("I would").with("stop", stop);
            let llm = llm(api).turn(turn).start().await.unwrap();
            let ran = stage().await.run(&llm, stream, "go").await;
            let ended = ran.ended.unwrap();
            assert_eq!((ended.end, &*ended.text), (expected.clone(), "I would"), "{stop} {stream}");
        }
    }
}

#[tokio::test]
async fn nobody_at_the_address_is_told_at_once() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", free.local_addr().unwrap());
    drop(free);
    let ran = stage().await.run_at(&url, Api::OpenAi, false, "go").await;
    assert!(matches!(ran.ended, Err(AgentError::Unreachable { .. })), "{}", ran.error());
    assert!(ran.error().contains("127.0.0.1"), "{}", ran.error());
}

#[tokio::test]
async fn a_silent_endpoint_has_a_deadline() {
    for (api, stream) in WAYS {
        let silent = LlmTurn::text("never").with("fault", json!({"silent": true}));
        let llm = llm(api).turn(silent).start().await.unwrap();
        let mut stage = stage().await;
        stage.patience = Patience { request: Duration::from_millis(200), ..Patience::default() };
        let ran = stage.run(&llm, stream, "go").await;
        assert!(ran.error().ends_with("did not answer within 200ms"), "{}", ran.error());
    }
}

#[test]
fn an_address_is_shown_without_secrets() {
    let error = Address::of("http://u:hunter2@h/x?k=hunter3", None).expect_err("unclear");
    assert!(!error.to_string().contains("hunter"), "{error}");
}

#[tokio::test]
async fn a_model_that_pauses_is_asked_to_go_on() {
    for stream in [false, true] {
        let llm = llm(Api::Anthropic)
            .turn(LlmTurn::text("wait").with("stop", "pause_turn"))
            .turn(LlmTurn::text("here it is").expect(json!({"messages": {"len": 2}})))
            .start()
            .await
            .unwrap();
        let ran = stage().await.run(&llm, stream, "go").await;
        assert_eq!(ran.answer(), "here it is");
        llm.verify();
    }
}
