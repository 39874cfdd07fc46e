//! What came of a request, as the result of a tool: good or bad, it says so.

use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::response::Parts;
use serde_json::{Value, json};
use sparring_wire::json::tree;
use sparring_wire::types::CallToolResult;

/// What an HTTP server said, or why it said nothing.
#[derive(Debug, PartialEq)]
pub(crate) struct Outcome(CallToolResult);

impl Outcome {
    /// An answer: of a good one the body, of any other the status too.
    pub(crate) fn answered(url: &str, parts: &Parts, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let status = parts.status;
        let content_type = parts.headers.get(CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let is_json = content_type.is_some_and(|it| it.contains("json"));
        let parsed = is_json.then(|| tree(body).ok()).flatten();
        if status.is_success() && !body.is_empty() {
            let structured_content = parsed.filter(Value::is_object);
            return Outcome(CallToolResult { structured_content, ..CallToolResult::text(text) });
        }
        let said = parsed.unwrap_or_else(|| text.clone().into_owned().into());
        let structured = json!({"status": status.as_u16(), "url": url, "body": said});
        let mut told = format!("HTTP {status}: {url}");
        if !text.trim().is_empty() {
            told += &format!("\n{text}");
        }
        let result = match status.is_success() {
            true => CallToolResult::text(told),
            false => CallToolResult::failure(told),
        };
        Outcome(CallToolResult { structured_content: Some(structured), ..result })
    }

    /// No answer.
    pub(crate) fn failed(url: &str, why: &str) -> Self {
        let structured = json!({"error": why, "url": url});
        let result = CallToolResult::failure(format!("{why}: {url}"));
        Outcome(CallToolResult { structured_content: Some(structured), ..result })
    }

    /// No answer in time.
    pub(crate) fn late(url: &str, after: Duration) -> Self {
        Outcome::failed(url, &format!("Timed out after {after:?}"))
    }

    pub(crate) fn into_result(self) -> CallToolResult {
        self.0
    }
}
