//! Requests that no API would take, and clients that break off.

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::agent::{ask, body, request, say, send, start, with};

/// What is told of a request whose body is this text; the turn stays.
async fn told(api: &str, text: &str) -> (u16, String) {
    let llm = start(&format!("{api}: [{{text: good}}]")).await;
    let reply = send(request(&llm, &Value::Null).body(text.to_owned())).await;
    assert_eq!(reply.header("x-should-retry"), "false");
    assert_eq!(reply.json()["error"]["type"], "invalid_request_error");
    assert_eq!((llm.misses()[0].rule, &llm.misses()[0].message), ("llm-request", &reply.error()));
    assert_eq!(say(&llm, "hi").await.said(), "good");
    (reply.status, reply.error())
}

#[tokio::test]
async fn what_is_wrong_with_a_request_is_told_as_the_api_would() {
    let one = json!([{"role": "user", "content": "hi"}]);
    let openai = |more: Value| with(json!({"model": "m", "messages": one}), more).to_string();
    let call = json!({"role": "assistant", "tool_calls": [
        {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}]});
    let result = json!({"role": "tool", "tool_call_id": "c", "content": "x"});
    for (body, expected) in [
        (
            "{\"model\": ".to_owned(),
            "the body is no JSON: EOF while parsing a value at line 1 column 10",
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
        (openai(json!({"model": 3})), "`model` must be a text"),
        (openai(json!({"stream": "yes"})), "`stream` must be true or false"),
        (openai(json!({"tools": "look"})), "`tools` must be a list"),
        (openai(json!({"tools": [{"name": "a"}]})), "`tools[0].function.name` must be a text"),
        (openai(json!({"messages": [call]})), "the call `c` of `look` has no result behind it"),
        (
            openai(json!({"messages": [call, {"role": "user", "content": "x"}, result]})),
            "the call `c` of `look` has no result behind it",
        ),
        (openai(json!({"messages": [result]})), "the result `c` belongs to no call before it"),
        (
            openai(json!({"messages": [{"role": "tool"}]})),
            "`messages[0].tool_call_id` must be a text",
        ),
        (
            openai(json!({"messages": [{"role": "assistant", "tool_calls": [{}]}]})),
            "`messages[0].tool_calls` must have an id and a function's name",
        ),
    ] {
        assert_eq!(told("openai", &body).await, (400, expected.to_owned()), "{body}");
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
        (anthropic(json!({"tools": [{}]})), "`tools[0].name` must be a text"),
        (
            anthropic(blocks(json!({"type": "tool_result"}))),
            "a `tool_result` in `messages[0]` must have a `tool_use_id`",
        ),
        (
            anthropic(blocks(json!({"type": "tool_use"}))),
            "a `tool_use` in `messages[0]` must have an id and a name",
        ),
    ] {
        assert_eq!(told("anthropic", &body).await, (400, expected.to_owned()), "{body}");
    }
}

#[tokio::test]
async fn other_paths_and_methods_are_refused_with_those_that_there_are() {
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
        let there = "there are POST /v1/messages and GET /v1/models";
        let expected = format!("there is no {method} {path}; {there}");
        assert_eq!((reply.status, reply.error()), (status, expected));
    }
    let unversioned = client.post(format!("{}/v1/messages", llm.url()));
    let reply = send(unversioned.body(body(&llm, "hi").to_string())).await;
    assert_eq!(reply.error(), "the header anthropic-version is missing");
}

#[tokio::test]
async fn models_are_listed_and_others_refused() {
    for (api, kind) in [("openai", "invalid_request_error"), ("anthropic", "not_found_error")] {
        let llm = start(&format!("{api}: [{{text: x}}]\nmodels: [a, b]")).await;
        let origin = llm.url().trim_end_matches("/v1").to_owned();
        let listed = send(reqwest::Client::new().get(format!("{origin}/v1/models"))).await.json();
        let ids: Vec<&Value> =
            listed["data"].as_array().unwrap().iter().map(|it| &it["id"]).collect();
        assert_eq!(ids, ["a", "b"]);
        let refused = say(&llm, "hi").await;
        assert_eq!((refused.status, &*refused.error()), (404, "there is no model `m`"));
        assert_eq!(refused.json()["error"]["type"], kind);
        assert_eq!(ask(&llm, &with(body(&llm, "hi"), json!({"model": "b"}))).await.said(), "x");
    }
}

#[tokio::test]
async fn a_huge_request_is_refused_and_not_kept() {
    let llm = start("openai: [{text: good}]").await;
    let text = "x".repeat(33 * 1024 * 1024);
    let reply = say(&llm, &text).await;
    assert_eq!((reply.status, &*reply.error()), (413, "the body has more than 33554432 bytes"));
    assert_eq!(llm.requests()[0].http().body.len(), 0);
    let text = "x".repeat(9 * 1024 * 1024);
    assert_eq!(say(&llm, &text).await.said(), "good");
}

#[tokio::test]
async fn a_client_that_breaks_off_in_the_middle_of_a_stream_harms_nobody() {
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
    assert_eq!(say(&llm, "hi").await.said(), "next");
}
