//! Errors and faults on demand.

use std::time::Duration;

use serde_json::json;

use super::agent::{ask, body, request, send, send_user_message, start, with};

#[tokio::test]
async fn sends_errors_like_the_api() {
    let errors = "[{error: {status: 429, retry_after: 1500ms, message: slow down}}, \
                  {error: {status: 529}}, {error: {status: 401, type: mine}}, {text: good}]";
    for (api, kinds) in [
        ("openai", ["rate_limit_exceeded", "server_error", "mine"]),
        ("anthropic", ["rate_limit_error", "overloaded_error", "mine"]),
    ] {
        let llm = start(&format!("{api}: {errors}")).await;
        let refused = send_user_message(&llm, "hi").await;
        assert_eq!((refused.status, &*refused.error()), (429, "slow down"));
        assert_eq!(
            (refused.header("retry-after"), refused.header("retry-after-ms")),
            ("2", "1500")
        );
        assert_eq!(refused.json()["error"]["type"], kinds[0]);
        for (status, kind) in [529, 401].into_iter().zip(&kinds[1..]) {
            let refused = send_user_message(&llm, "hi").await;
            assert_eq!((refused.status, &refused.json()["error"]["type"]), (status, &json!(kind)));
        }
        // Each error used up a turn, so a retry gets the next.
        assert_eq!(send_user_message(&llm, "hi").await.text(), "good");
        assert_eq!(llm.mismatches(), []);
    }
    let llm = start("openai: [{error: {status: 400, code: context_length_exceeded}}]").await;
    let error = json!({
        "message": "scripted error", "type": "invalid_request_error", "param": null,
        "code": "context_length_exceeded",
    });
    assert_eq!(send_user_message(&llm, "hi").await.json(), json!({"error": error}));
}

#[tokio::test]
async fn in_a_stream_an_error_comes_after_the_answer() {
    for (api, expected) in [
        ("openai", "data: {\"error\":{"),
        ("anthropic", "event: error\ndata: {\"type\":\"error\",\"error\":{"),
    ] {
        let turn = "{text: some of it, error: {status: 529, message: too much}}";
        let llm = start(&format!("{api}: [{turn}, {turn}]")).await;
        let reply = ask(&llm, &with(body(&llm, "hi"), json!({"stream": true}))).await;
        assert_eq!(reply.status, 200);
        let last = reply.text.trim_end().rsplit("\n\n").next().unwrap();
        assert!(last.starts_with(expected) && last.contains("too much"), "{last}");
        assert!(reply.text.contains("some of it"), "{}", reply.text);
        assert!(!reply.text.contains("[DONE]") && !reply.text.contains("message_stop"));
        assert_eq!(send_user_message(&llm, "hi").await.status, 529);
    }
}

/// Returns the part of the answer that arrived, and true if it was complete.
async fn read_until_end(llm: &sparring_mock::LlmMock, more: serde_json::Value) -> (String, bool) {
    let mut response = match request(llm, &with(body(llm, "hi"), more)).send().await {
        Ok(response) => response,
        Err(_) => return (String::new(), false),
    };
    let mut text = String::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => text += &String::from_utf8_lossy(&chunk),
            Ok(None) => return (text, true),
            Err(_) => return (text, false),
        }
    }
}

#[tokio::test]
async fn disconnects_before_or_in_the_middle_of_an_answer() {
    for api in ["openai", "anthropic"] {
        let middle = "{text: hello there, fault: {disconnect: middle}}";
        let llm =
            start(&format!("{api}: [{middle}, {middle}, {{fault: {{disconnect: before}}}}]")).await;
        let (text, ended) = read_until_end(&llm, json!({"stream": true})).await;
        assert!(
            !ended && text.contains("data: {") && !text.contains("stop_reason\":\"end"),
            "{text}"
        );
        let (text, ended) = read_until_end(&llm, json!({})).await;
        assert!(!ended && text.starts_with('{') && !text.ends_with('}'), "{text}");
        assert_eq!(read_until_end(&llm, json!({})).await, (String::new(), false));
    }
}

#[tokio::test]
async fn sends_truncated_garbage_or_mistyped_answers() {
    for api in ["openai", "anthropic"] {
        let llm = start(&format!(
            "{api}: [{{text: hello, fault: {{truncate: true}}, repeat: 2}}, \
             {{text: hello, fault: {{garbage: true}}, repeat: 2}}, \
             {{text: hello, fault: {{garbage: '{{oops', bad_content_type: text/html}}}}]"
        ))
        .await;
        let plain = send_user_message(&llm, "hi").await;
        assert!(plain.status == 200 && plain.text.starts_with('{') && !plain.text.ends_with('}'));
        let (text, ended) = read_until_end(&llm, json!({"stream": true})).await;
        assert!(ended && text.contains("data: {") && !text.ends_with("\n\n"), "{text}");
        assert_eq!(send_user_message(&llm, "hi").await.text, "%% not JSON %%");
        let (text, ended) = read_until_end(&llm, json!({"stream": true})).await;
        let (before, after) = text.split_once("data: %% not JSON %%\n\n").unwrap();
        assert!(ended && before.contains("data: {") && after.contains("data: "), "{text}");
        let other = send_user_message(&llm, "hi").await;
        assert_eq!((other.header("content-type"), &*other.text), ("text/html", "{oops"));
    }
}

#[tokio::test(start_paused = true)]
async fn answers_late_slowly_or_never() {
    let llm = start(
        "openai: [{text: hello, delay: 30s}, {text: hello, fault: {slow: 100}}, {fault: {silent: true}}]",
    )
    .await;
    let begun = tokio::time::Instant::now();
    let length = send_user_message(&llm, "hi").await.text.len();
    assert_eq!(begun.elapsed().as_secs(), 30);
    let begun = tokio::time::Instant::now();
    assert_eq!(send_user_message(&llm, "hi").await.text.len(), length);
    assert!(begun.elapsed().as_secs() + 1 >= length as u64 / 100, "{:?}", begun.elapsed());
    let asked = send(request(&llm, &body(&llm, "hi")));
    assert!(tokio::time::timeout(Duration::from_secs(600), asked).await.is_err());
    assert_eq!(llm.total(), 3);
}
