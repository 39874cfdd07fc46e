//! An agent for tests: requests to an endpoint and their responses.

use reqwest::{Client, RequestBuilder};
use serde_json::{Value, json};
use sparring_mock::{Api, LlmMock, LlmScript};

/// Starts an endpoint with a script.
pub(super) async fn start(script: &str) -> LlmMock {
    let script = LlmScript::from_yaml(script).unwrap_or_else(|problems| panic!("{problems}"));
    LlmMock::listen(script, ([127, 0, 0, 1], 0).into()).await.unwrap()
}

/// A response.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) headers: reqwest::header::HeaderMap,
    pub(super) text: String,
}

impl Reply {
    pub(super) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    /// Returns the message of an error.
    pub(super) fn error(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap().to_owned()
    }

    /// Returns the text of the answer, in either API.
    pub(super) fn text(&self) -> String {
        let value = self.json();
        let text_at = |pointer| value.pointer(pointer).and_then(Value::as_str);
        text_at("/choices/0/message/content").or(text_at("/content/0/text")).unwrap().to_owned()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers[name].to_str().unwrap()
    }
}

/// Returns the body of a request with one user message.
pub(super) fn body(llm: &LlmMock, text: &str) -> Value {
    let messages = json!([{"role": "user", "content": text}]);
    match llm.api() {
        Api::Anthropic => json!({"model": "m", "max_tokens": 100, "messages": messages}),
        _ => json!({"model": "m", "messages": messages}),
    }
}

/// Builds a request.
pub(super) fn request(llm: &LlmMock, body: &Value) -> RequestBuilder {
    let path = if llm.api() == Api::Anthropic { "/v1/messages" } else { "/chat/completions" };
    let request = Client::new().post(format!("{}{path}", llm.url()));
    let request = request.header("content-type", "application/json");
    request.header("anthropic-version", "2023-06-01").body(body.to_string())
}

pub(super) async fn send(request: RequestBuilder) -> Reply {
    let response = request.send().await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    Reply { status, headers, text: response.text().await.unwrap() }
}

pub(super) async fn ask(llm: &LlmMock, body: &Value) -> Reply {
    send(request(llm, body)).await
}

pub(super) async fn send_user_message(llm: &LlmMock, text: &str) -> Reply {
    ask(llm, &body(llm, text)).await
}

/// Adds keys to a body.
pub(super) fn with(mut body: Value, more: Value) -> Value {
    body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    body
}
