//! What came of a program, as the result of a tool: good or bad, it says so.

use serde_json::{Value, json};
use sparring_peer::server::Reply;
use sparring_wire::RawJson;
use sparring_wire::json::tree;
use sparring_wire::types::CallToolResult;

use super::Gives;

/// What a program said, or why it said nothing that could be used.
#[derive(Debug)]
pub(crate) enum Outcome {
    Result(CallToolResult),
    /// A result as the program spelled it.
    Spelled(RawJson),
}

impl Outcome {
    /// What the output of a program is, that ended well.
    pub(crate) fn said(output: Vec<u8>, gives: Gives) -> Result<Self, String> {
        let text = String::from_utf8(output).map_err(|_| "its output is no UTF-8".to_owned())?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let json =
            || tree(text.as_bytes()).map_err(|error| format!("its output is no JSON: {error}"));
        Ok(match gives {
            Gives::Text => Outcome::Result(CallToolResult::text(text)),
            Gives::Structured => {
                let structured_content = Some(json()?);
                let result = CallToolResult::text(text);
                Outcome::Result(CallToolResult { structured_content, ..result })
            }
            Gives::Result => match json()? {
                value @ Value::Object(_) => Outcome::Spelled(value.into()),
                _ => return Err("its output is no result: it is not an object".to_owned()),
            },
        })
    }

    /// Why there is no answer, with what the program said about it.
    pub(crate) fn failed(command: &str, why: &str, stderr: &str) -> Self {
        let mut told = format!("{command}: {why}");
        let mut structured = json!({"error": why, "command": command});
        if !stderr.trim().is_empty() {
            told += &format!("\n{}", stderr.trim_end());
            structured["stderr"] = stderr.trim_end().into();
        }
        let result = CallToolResult::failure(told);
        Outcome::Result(CallToolResult { structured_content: Some(structured), ..result })
    }

    pub(crate) fn into_reply(self) -> Reply {
        match self {
            Outcome::Result(result) => result.into(),
            Outcome::Spelled(result) => result.into(),
        }
    }
}
