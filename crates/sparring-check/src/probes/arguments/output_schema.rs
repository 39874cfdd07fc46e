//! Checks the structured content of results against the output schema of their tool.

use serde_json::Value;
use sparring_script::Schema;
use sparring_script::schema::Verdict;

use crate::connection::Reply;

/// The path of structured content in a response.
const STRUCTURED_CONTENT: &str = "$.result.structuredContent";

/// The output schema of a tool.
pub(super) struct OutputSchema(Schema);

impl OutputSchema {
    /// Returns the output schema of a tool, if it has a usable one.
    pub(super) fn of(tool: &Value) -> Option<OutputSchema> {
        let schema = tool.get("outputSchema").filter(|it| !it.is_null())?;
        Schema::new(schema).ok().map(OutputSchema)
    }

    /// Returns what is wrong with a successful result. Since 2025-06-18,
    /// server/tools#output-schema: a server must provide results that conform to the schema.
    pub(super) fn problem(&self, reply: &Reply) -> Option<String> {
        let result = reply.result()?;
        let kind = result.get("resultType").and_then(Value::as_str).unwrap_or("complete");
        if kind != "complete" {
            return None;
        }
        let Some(content) = result.get("structuredContent") else {
            let expected = "expected structured content, which the output schema describes";
            return Some(format!("{expected}; the result has none"));
        };
        match self.0.check(content, 1) {
            Verdict::Invalid(found) => {
                let first = found.first()?;
                let path = first.path(STRUCTURED_CONTENT);
                let expected = "expected structured content that conforms to the output schema";
                Some(format!("{expected}; {path}: {}", first.message))
            }
            Verdict::Valid | Verdict::Undecided(_) => None,
        }
    }
}
