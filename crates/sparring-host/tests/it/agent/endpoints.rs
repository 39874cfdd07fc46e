//! Errors and other special responses of endpoints.

use serde_json::json;
use sparring_host::agent::{Address, AgentError, Api, EndReason, Event, RequestPolicy};
use sparring_mock::LlmTurn;
use std::time::Duration;

use super::{API_MODES, AgentFixture, llm};
use crate::manager::fixture::tools;

async fn fixture() -> AgentFixture {
    AgentFixture::of("s", tools(&["one"]), &[]).await
}

#[tokio::test]
async fn retries_a_busy_endpoint_after_the_delay_that_it_requests() {
    for (api, stream) in API_MODES {
        let busy = LlmTurn::default().with("error", json!({"status": 429, "retry_after": "1s"}));
        let llm = llm(api).turn(busy).turn(LlmTurn::text("now")).start().await.unwrap();
        let run = fixture().await.run(&llm, stream, "go").await;
        assert_eq!(run.answer(), "now", "{api:?} {stream}");
        let retried = run.events.iter().find_map(|event| match event {
            Event::Retry { status, after } => Some((*status, *after)),
            _ => None,
        });
        assert_eq!(retried, Some((429, Duration::from_secs(1))));
    }
}

#[tokio::test]
async fn an_endpoint_that_stays_busy_or_requests_a_long_delay_is_an_error() {
    let busy = |after: &str| {
        let error = json!({"status": 429, "retry_after": after});
        LlmTurn::default().with("error", error).with("repeat", "always")
    };
    let llm = llm(Api::OpenAi).turn(busy("0s")).start().await.unwrap();
    let run = fixture().await.run(&llm, false, "go").await;
    assert!(run.error().ends_with("(tried 4 times)"), "{}", run.error());
    assert_eq!(llm.total(), 4);
    let llm = super::llm(Api::OpenAi).turn(busy("3600s")).start().await.unwrap();
    let run = fixture().await.run(&llm, false, "go").await;
    assert!(
        run.error().contains("/v1/chat/completions responded with status 429: "),
        "{}",
        run.error()
    );
    assert_eq!(llm.total(), 1);
}

#[tokio::test]
async fn a_rejected_key_is_an_error_without_retry_and_is_not_shown() {
    for (api, stream) in API_MODES {
        let error = json!({"status": 401, "message": "the key hunter2 is wrong"});
        let llm = llm(api).turn(LlmTurn::default().with("error", error)).start().await.unwrap();
        let run = fixture().await.run(&llm, stream, "go").await;
        let message = run.error();
        assert!(matches!(run.ended, Err(AgentError::Refused { status: 401, .. })), "{message}");
        assert!(
            message.ends_with("responded with status 401: the key (hidden) is wrong"),
            "{message}"
        );
        assert_eq!(llm.total(), 1);
    }
}

#[tokio::test]
async fn a_refusal_and_a_truncated_answer_are_not_answers() {
    for (stop, api, expected) in [
        ("content_filter", Api::OpenAi, EndReason::Refused(String::new())),
        ("length", Api::OpenAi, EndReason::Truncated),
        ("refusal", Api::Anthropic, EndReason::Refused(String::new())),
        ("max_tokens", Api::Anthropic, EndReason::Truncated),
    ] {
        for stream in [false, true] {
            let turn = LlmTurn::text("I would").with("stop", stop);
            let llm = llm(api).turn(turn).start().await.unwrap();
            let run = fixture().await.run(&llm, stream, "go").await;
            let ended = run.ended.unwrap();
            assert_eq!((ended.end, &*ended.text), (expected.clone(), "I would"), "{stop} {stream}");
        }
    }
}

#[tokio::test]
async fn an_unreachable_endpoint_is_an_error_without_retry() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/v1", free.local_addr().unwrap());
    drop(free);
    let run = fixture().await.run_at(&url, Api::OpenAi, false, "go").await;
    assert!(matches!(run.ended, Err(AgentError::Unreachable { .. })), "{}", run.error());
    assert!(run.error().contains("127.0.0.1"), "{}", run.error());
}

#[tokio::test]
async fn a_silent_endpoint_has_a_deadline() {
    for (api, stream) in API_MODES {
        let silent = LlmTurn::text("never").with("fault", json!({"silent": true}));
        let llm = llm(api).turn(silent).start().await.unwrap();
        let mut fixture = fixture().await;
        fixture.request_policy =
            RequestPolicy { request: Duration::from_millis(200), ..RequestPolicy::default() };
        let run = fixture.run(&llm, stream, "go").await;
        assert!(run.error().ends_with("did not respond within 200ms"), "{}", run.error());
    }
}

#[test]
fn an_address_is_shown_without_secrets() {
    let error = Address::from_url("http://u:hunter2@h/x?k=hunter3", None).expect_err("unclear");
    assert!(!error.to_string().contains("hunter"), "{error}");
}

#[tokio::test]
async fn a_paused_model_is_asked_to_continue() {
    for stream in [false, true] {
        let llm = llm(Api::Anthropic)
            .turn(LlmTurn::text("wait").with("stop", "pause_turn"))
            .turn(LlmTurn::text("here it is").expect(json!({"messages": {"len": 2}})))
            .start()
            .await
            .unwrap();
        let run = fixture().await.run(&llm, stream, "go").await;
        assert_eq!(run.answer(), "here it is");
        llm.verify();
    }
}
