//! Requests that the APIs reject, and clients that disconnect.

use serde_json::{Value, json};
use sparring_wire::Rule;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::agent::{ask, body, request, send, send_user_message, start, with};

/// Returns the error for a request with this body; the turn is not used up.
async fn reported(api: &str, text: &str) -> (u16, String) {
    let llm = start(&format!("{api}: [{{text: good}}]")).await;
    let reply = send(request(&llm, &Value::Null).body(text.to_owned())).await;
    assert_eq!(reply.header("x-should-retry"), "false");
    assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
    assert_eq!(
        (llm.mismatches()[0].rule, &llm.mismatches()[0].message),
        (Rule::InvalidLlmRequest, &reply.error())
    );
    assert_eq!(send_user_message(&llm, "hi").await.text(), "good");
    (reply.status, reply.error())
}

#[tokio::test]
async fn reports_invalid_requests_like_the_api() {
    let one = json!([{"role": "user", "content": "hi"}]);
    let openai = |more: Value| with(json!({"model": "m", "messages": one}), more).to_string();
    let call = json!({"role": "assistant", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "x"});
    for (body, expected) in [
        (
            "{\"model\": ".to_owned(),
            "the body is not JSON: EOF while parsing a value at line 1 column 10",
        ),
        ("[]".to_owned(), "the body must be an object"),
        ("{\"messages\": []}".to_owned(), "`model` is missing"),
        ("{\"model\": \"m\"}".to_owned(), "`messages` is missing"),
        (openai(json!({"messages": []})), "`messages` must have at least one message"),
        (openai(json!({"messages": {}})), "`messages` must be a list"),
        (
            openai(json!({"messages": [{"role": "robot"}]})),
            "`messages[0].role` must be one of system, developer, user, assistant, tool",
        ),
        (openai(json!({"model": 3})), "`model` must be a string"),
        (openai(json!({"stream": "yes"})), "`stream` must be true or false"),
        (openai(json!({"tools": "look"})), "`tools` must be a list"),
        (openai(json!({"tools": [{"name": "a"}]})), "`tools[0].function.name` must be a string"),
        (openai(json!({"messages": [call]})), "the call `c` of `look` has no result after it"),
        (
            openai(json!({"messages": [call, {"role": "user", "content": "x"}, result]})),
            "the call `c` of `look` has no result after it",
        ),
        (openai(json!({"messages": [result]})), "the result `c` has no call before it"),
        (
            openai(json!({"messages": [{"role": "tool"}]})),
            "`messages[0].tool_call_id` must be a string",
        ),
        (
            openai(json!({"messages": [{"role": "assistant", "tool_calls": [{}]}]})),
            "`messages[0].tool_calls` must have an id and a function's name",
        ),
    ] {
        assert_eq!(reported("openai", &body).await, (400, expected.to_owned()), "{body}");
    }
    let anthropic = |more: Value| {
        with(json!({"model": "m", "max_tokens": 1, "messages": one}), more).to_string()
    };
    let blocks = |block: Value| json!({"messages": [{"role": "user", "content": [block]}]});
    for (body, expected) in [
        (openai(json!({})), "`max_tokens` must be a whole number of at least 1"),
        (
            anthropic(json!({"messages": [{"role": "tool"}]})),
            "`messages[0].role` must be one of user, assistant, system",
        ),
        (anthropic(json!({"tools": [{}]})), "`tools[0].name` must be a string"),
        (
            anthropic(blocks(json!({"type": "tool_result"}))),
            "a `tool_result` in `messages[0]` must have a `tool_use_id`",
        ),
        (
            anthropic(blocks(json!({"type": "tool_use"}))),
            "a `tool_use` in `messages[0]` must have an id and a name",
        ),
    ] {
        assert_eq!(reported("anthropic", &body).await, (400, expected.to_owned()), "{body}");
    }
}

#[tokio::test]
async fn rejects_other_paths_and_methods_with_the_available_ones() {
    let llm = start("anthropic: [{text: x}]").await;
    let client = reqwest::Client::new();
    for (method, path, status) in [
        ("POST", "/v1/chat/completions", 404),
        ("GET", "/", 404),
        ("GET", "/v1/messages", 405),
        ("DELETE", "/v1/models", 405),
    ] {
        let method = method.parse::<reqwest::Method>().unwrap();
        let url = format!("{}{path}", llm.url());
        let reply = send(client.request(method.clone(), url)).await;
        let there = "available: POST /v1/messages and GET /v1/models";
        let expected = format!("no such endpoint: {method} {path}; {there}");
        assert_eq!((reply.status, reply.error()), (status, expected));
    }
    let unversioned = client.post(format!("{}/v1/messages", llm.url()));
    let reply = send(unversioned.body(body(&llm, "hi").to_string())).await;
    assert_eq!(reply.error(), "missing header anthropic-version");
}

#[tokio::test]
async fn lists_models_and_rejects_others() {
    for (api, kind) in [("openai", "invalid_request_error"), ("anthropic", "not_found_error")] {
        let llm = start(&format!("{api}: [{{text: x}}]\nmodels: [a, b]")).await;
        let origin = llm.url().trim_end_matches("/v1").to_owned();
        let listed = send(reqwest::Client::new().get(format!("{origin}/v1/models"))).await.json();
        let ids: Vec<&Value> =
            listed["data"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
        assert_eq!(ids, ["a", "b"]);
        let refused = send_user_message(&llm, "hi").await;
        assert_eq!((refused.status, &*refused.error()), (404, "no such model: `m`"));
        assert_eq!(refused.json()["error"]["type"], kind);
        assert_eq!(ask(&llm, &with(body(&llm, "hi"), json!({"model": "b"}))).await.text(), "x");
    }
}

#[tokio::test]
async fn rejects_a_huge_request_and_does_not_record_its_body() {
    let llm = start("openai: [{text: good}]").await;
    let text = "x".repeat(33 * 1024 * 1024);
    let reply = send_user_message(&llm, &text).await;
    assert_eq!((reply.status, &*reply.error()), (413, "the body has more than 33554432 bytes"));
    assert_eq!(llm.requests()[0].http().body.len(), 0);
    let text = "x".repeat(9 * 1024 * 1024);
    assert_eq!(send_user_message(&llm, &text).await.text(), "good");
}

#[tokio::test]
async fn survives_a_client_that_disconnects_during_a_stream() {
    let llm =
        start("openai: [{text: a long text that takes its time, pace: 1h}, {text: next}]").await;
    let address = llm.url();
    let address = address.strip_prefix("http://").unwrap().strip_suffix("/v1").unwrap();
    let body = with(body(&llm, "hi"), json!({"stream": true})).to_string();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 200");
    drop(stream);
    assert_eq!(send_user_message(&llm, "hi").await.text(), "next");
}

#[tokio::test]
async fn refuses_requests_of_web_pages() {
    let llm = start("openai: [{text: good}]").await;
    let url = llm.url();
    let authority = url.trim_start_matches("http://").split('/').next().unwrap();
    for (headers, status) in [
        ("Host: evil.example", "403"),
        ("Host: localhost\r\nOrigin: https://evil.example", "403"),
        ("Host: localhost\r\nOrigin: http://localhost:8080", "200"),
        ("Host: 127.0.0.1", "200"),
    ] {
        let mut stream = TcpStream::connect(authority).await.unwrap();
        let request = format!("GET /health HTTP/1.1\r\n{headers}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{headers}: {answer}");
    }
    assert_eq!(llm.requests().len(), 2, "only accepted requests are recorded");
}
