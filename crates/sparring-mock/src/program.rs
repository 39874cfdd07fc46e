//! Programs that replies run, and their tool results. A failure becomes a result with `isError`.

use std::time::Duration;

use serde_json::{Value, json};
use sparring_peer::server::Reply;
use sparring_script::TemplateTree;
use sparring_wire::RawJson;
use sparring_wire::json::parse_value;
use sparring_wire::types::CallToolResult;

/// The largest output of a program, in bytes.
pub(crate) const MAX_OUTPUT_BYTES: usize = 8 * 1024 * 1024;

/// The maximum number of programs at once; others wait, within their timeout.
pub(crate) const MAX_CONCURRENT_PROGRAMS: usize = 64;

/// A program that a reply runs.
#[derive(Debug)]
pub(crate) struct Program {
    pub(crate) command: TemplateTree,
    pub(crate) args: Vec<TemplateTree>,
    pub(crate) env: Vec<(String, TemplateTree)>,
    pub(crate) timeout: Duration,
    pub(crate) format: OutputFormat,
}

/// The conversion of a program's output to a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputFormat {
    /// Text content.
    Text,
    /// Structured content, as JSON.
    Structured,
    /// The whole result, as JSON.
    Result,
}

/// The tool result of a program.
#[derive(Debug)]
pub(crate) enum ProgramResult {
    Result(CallToolResult),
    /// A result exactly as the program wrote it.
    Raw(RawJson),
}

impl ProgramResult {
    /// Converts the output of a program that succeeded.
    pub(crate) fn from_output(output: Vec<u8>, format: OutputFormat) -> Result<Self, String> {
        let text = String::from_utf8(output).map_err(|_| "the output is not UTF-8".to_owned())?;
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let text = text.strip_suffix('\r').unwrap_or(text);
        let json = || {
            parse_value(text.as_bytes()).map_err(|error| format!("the output is not JSON: {error}"))
        };
        Ok(match format {
            OutputFormat::Text => ProgramResult::Result(CallToolResult::text(text)),
            OutputFormat::Structured => {
                let structured_content = Some(json()?);
                let result = CallToolResult::text(text);
                ProgramResult::Result(CallToolResult { structured_content, ..result })
            }
            OutputFormat::Result => match json()? {
                value @ Value::Object(_) => ProgramResult::Raw(value.into()),
                _ => return Err("the output is not a result: it is not an object".to_owned()),
            },
        })
    }

    /// Reports the failure of a program, with its stderr.
    pub(crate) fn from_failure(command: &str, why: &str, stderr: &str) -> Self {
        let mut text = format!("{command}: {why}");
        let mut structured = json!({"error": why, "command": command});
        if !stderr.trim().is_empty() {
            text += &format!("\n{}", stderr.trim_end());
            structured["stderr"] = stderr.trim_end().into();
        }
        let result = CallToolResult::failure(text);
        ProgramResult::Result(CallToolResult { structured_content: Some(structured), ..result })
    }

    pub(crate) fn into_reply(self) -> Reply {
        match self {
            ProgramResult::Result(result) => result.into(),
            ProgramResult::Raw(result) => result.into(),
        }
    }
}
