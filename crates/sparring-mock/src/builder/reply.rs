//! Replies, written in Rust.

use serde_json::{Map, Value, json};

/// A reply of a tool, a resource or a prompt.
#[derive(Debug, Clone, Default, PartialEq)]
#[must_use = "a reply does nothing until it is given to an entry"]
pub struct Reply(Map<String, Value>);

impl Reply {
    /// A text, which is a template.
    pub fn text(text: impl Into<String>) -> Self {
        Reply::default().with("text", text.into())
    }

    /// A value, as a text of JSON.
    pub fn json(value: impl Into<Value>) -> Self {
        Reply::default().with("json", value)
    }

    /// Structured content, and the same as a text of JSON.
    pub fn structured(value: impl Into<Value>) -> Self {
        Reply::default().with("structured", value)
    }

    /// A JSON-RPC error.
    pub fn error(code: i64, message: impl Into<String>) -> Self {
        Reply::default().with("error", json!({"code": code, "message": message.into()}))
    }

    /// A text with which the tool says that it failed.
    pub fn failure(text: impl Into<String>) -> Self {
        Reply::text(text).with("is_error", true)
    }

    /// Given only to arguments that fit this matcher.
    pub fn when_args(mut self, matcher: impl Into<Value>) -> Self {
        let when = self.0.entry("when").or_insert_with(|| json!({}));
        when["args"] = matcher.into();
        self
    }

    /// Given so often, before the next gets its turn.
    pub fn times(self, times: u64) -> Self {
        self.with("times", times)
    }

    /// Sets any key that a reply can have.
    pub fn with(mut self, key: &str, value: impl Into<Value>) -> Self {
        self.0.insert(key.to_owned(), value.into());
        self
    }
}

impl From<Reply> for Value {
    fn from(reply: Reply) -> Self {
        Value::Object(reply.0)
    }
}
