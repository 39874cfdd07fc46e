//! Builds an LLM endpoint in Rust with the keys of its script.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Map, Value, json};
use sparring_script::Source;

use super::StartError;
use crate::llm::{Api, LlmMock};
use crate::load::load_llm;

/// Builds an [`LlmMock`].
#[derive(Clone, PartialEq)]
#[must_use = "a builder does nothing until it starts something"]
pub struct LlmBuilder {
    api: Api,
    script: Map<String, Value>,
    address: SocketAddr,
}

/// One turn of an LLM endpoint. Texts are templates.
#[derive(Clone, Default, PartialEq)]
#[must_use = "a turn does nothing until it is given to an endpoint"]
pub struct LlmTurn(Map<String, Value>);

impl LlmBuilder {
    pub(crate) fn new(api: Api) -> Self {
        let script = Map::from_iter([(api.name().to_owned(), json!([]))]);
        LlmBuilder { api, script, address: SocketAddr::from(([127, 0, 0, 1], 0)) }
    }

    /// Adds a turn for requests that name no case with its own turns.
    pub fn turn(mut self, turn: LlmTurn) -> Self {
        if let Some(Value::Array(turns)) = self.script.get_mut(self.api.name()) {
            turns.push(turn.into());
        }
        self
    }

    /// Sets the turns of a test case.
    pub fn case(mut self, id: &str, turns: impl IntoIterator<Item = LlmTurn>) -> Self {
        let cases = self.script.entry("cases").or_insert_with(|| json!({}));
        cases[id] = turns.into_iter().map(Value::from).collect();
        self
    }

    /// Sets any key of a script.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.script.insert(key.to_owned(), value.into());
        self
    }

    /// Sets the address to listen on (default: a free port of 127.0.0.1).
    pub fn address(mut self, address: SocketAddr) -> Self {
        self.address = address;
        self
    }

    /// Starts the endpoint.
    ///
    /// # Errors
    /// If a value is wrong, with positions in the generated JSON, or if it cannot listen on the
    /// address.
    pub async fn start(self) -> Result<LlmMock, StartError> {
        let address = self.address;
        let source = Source::new("llm", format!("{:#}", Value::Object(self.script)));
        let script = load_llm(&source, &[])?;
        let listening = LlmMock::listen(script, address).await;
        listening.map_err(|error| StartError::Listen { address, error })
    }
}

impl LlmTurn {
    /// Answers with this text.
    pub fn text(text: impl Into<String>) -> Self {
        LlmTurn::default().with("text", text.into())
    }

    /// Answers with a call of this tool.
    pub fn call(tool: &str, arguments: impl Into<Value>) -> Self {
        LlmTurn::default().and_call(tool, arguments)
    }

    /// Answers with an API error.
    pub fn error(status: u16) -> Self {
        LlmTurn::default().with("error", json!({"status": status}))
    }

    /// Adds a call of another tool.
    pub fn and_call(mut self, tool: &str, arguments: impl Into<Value>) -> Self {
        let calls = self.0.entry("calls").or_insert_with(|| json!([]));
        if let Value::Array(calls) = calls {
            calls.push(json!({"tool": tool, "with": arguments.into()}));
        }
        self
    }

    /// Sets the expectations of the request, as `expect` in a script.
    pub fn expect(self, expected: impl Into<Value>) -> Self {
        self.with("expect", expected)
    }

    /// Sets the delay before the answer.
    pub fn delay(self, delay: Duration) -> Self {
        self.with("delay", format!("{}ms", delay.as_millis()))
    }

    /// Sets any key of a turn.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }
}

impl From<LlmTurn> for Value {
    fn from(turn: LlmTurn) -> Self {
        Value::Object(turn.0)
    }
}

/// Shows only the keys, since values may be secret.
impl fmt::Debug for LlmBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&String> = self.script.keys().collect();
        f.debug_struct("LlmBuilder").field("keys", &keys).finish_non_exhaustive()
    }
}

/// Shows only the keys, since values may be secret.
impl fmt::Debug for LlmTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&String> = self.0.keys().collect();
        f.debug_tuple("LlmTurn").field(&keys).finish()
    }
}
