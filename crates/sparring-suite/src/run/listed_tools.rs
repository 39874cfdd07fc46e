//! The tools that a server lists. Checks results against the output schema of their tool.

use serde_json::Value;
use sparring_peer::Client;
use sparring_script::schema::{SchemaError, SchemaMismatch, Verdict};
use sparring_script::{Schema, did_you_mean};
use sparring_wire::types::Tool;
use tokio::sync::OnceCell;

/// The maximum number of mismatches of one result that are reported.
const MAX_MISMATCHES: usize = 3;

/// The path of the structured content in an answer.
const STRUCTURED_CONTENT: &str = "$.result.structuredContent";

/// The tools that a server lists.
#[derive(Debug)]
pub(super) enum ListedTools {
    /// The tools, and a summary of the malformed ones.
    Listed(Vec<ListedTool>, Option<String>),
    /// The reason why the tools could not be listed.
    Unknown(String),
}

/// The parts of a tool that its results depend on.
#[derive(Debug)]
pub(super) struct ListedTool {
    name: String,
    input: Value,
    output: Option<Output>,
}

/// An output schema, which is compiled when a result is checked for the first time.
#[derive(Debug)]
struct Output {
    schema: Value,
    compiled: OnceCell<Result<Schema, SchemaError>>,
}

/// The result of checking structured content against an output schema.
#[derive(Debug, Default)]
pub(super) struct OutputCheck {
    /// The mismatches of the result, or the error of an invalid schema, each with its
    /// path in the answer.
    pub(super) violations: Vec<(String, String)>,
    /// The reason why the result could not be checked.
    pub(super) unchecked: Option<String>,
}

impl ListedTools {
    /// Lists the tools of a server.
    pub(super) async fn fetch(client: &Client) -> ListedTools {
        match client.list_tools().await {
            Ok(tools) => {
                let malformed = tools.malformed_summary();
                ListedTools::Listed(tools.into_iter().map(ListedTool::from).collect(), malformed)
            }
            Err(error) => ListedTools::Unknown(error.to_string()),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        matches!(self, ListedTools::Listed(tools, _) if tools.iter().any(|tool| tool.name == name))
    }

    /// Returns the input schema of a tool, if it is listed.
    pub(super) fn input_schema(&self, name: &str) -> Option<&Value> {
        let ListedTools::Listed(tools, _) = self else { return None };
        tools.iter().find(|tool| tool.name == name).map(|tool| &tool.input)
    }

    /// Returns a message if the tool is not listed.
    pub(super) fn unlisted(&self, name: &str) -> Option<String> {
        match self {
            ListedTools::Unknown(error) => Some(format!("cannot list the tools: {error}")),
            ListedTools::Listed(..) if self.has(name) => None,
            ListedTools::Listed(tools, malformed) => {
                let names = tools.iter().map(|tool| &*tool.name);
                let meant = did_you_mean(name, names).map(|meant| format!("; {meant}"));
                let malformed = malformed.as_ref().map(|why| format!("; malformed: {why}"));
                Some(format!(
                    "the server does not list a tool `{name}`{}{}",
                    meant.unwrap_or_default(),
                    malformed.unwrap_or_default()
                ))
            }
        }
    }

    /// Checks structured content against the output schema of its tool. Since
    /// 2025-06-18, server/tools#output-schema: servers must conform to it.
    pub(super) async fn check_output(&self, name: &str, structured: Option<&Value>) -> OutputCheck {
        let ListedTools::Listed(tools, _) = self else { return OutputCheck::default() };
        let tool = tools.iter().find(|tool| tool.name == name);
        let Some(output) = tool.and_then(|tool| tool.output.as_ref()) else {
            return OutputCheck::default();
        };
        let Some(value) = structured else {
            return OutputCheck::violation(
                "$.result",
                "the result has no structured content, which the output schema describes"
                    .to_owned(),
            );
        };
        let schema =
            output.compiled.get_or_init(|| Schema::new_in_background(&output.schema)).await;
        let verdict = match schema {
            Ok(schema) => schema.check_in_background(value, MAX_MISMATCHES).await,
            Err(error) if error.too_complex => Verdict::Undecided(error.to_string()),
            Err(error) => {
                let message = format!("the output schema cannot be used: {error}");
                return OutputCheck::violation("$", message);
            }
        };
        let at_path = |it: SchemaMismatch| (it.path(STRUCTURED_CONTENT), it.message);
        match verdict {
            Verdict::Valid => OutputCheck::default(),
            Verdict::Invalid(found) => OutputCheck {
                violations: found.into_iter().map(at_path).collect(),
                unchecked: None,
            },
            Verdict::Undecided(reason) => {
                OutputCheck { violations: Vec::new(), unchecked: Some(reason) }
            }
        }
    }
}

impl OutputCheck {
    fn violation(path: &str, message: String) -> Self {
        OutputCheck { violations: vec![(path.to_owned(), message)], unchecked: None }
    }
}

impl From<Tool> for ListedTool {
    fn from(tool: Tool) -> Self {
        let output = tool.output_schema.map(|schema| Output { schema, compiled: OnceCell::new() });
        ListedTool { name: tool.name, input: tool.input_schema, output }
    }
}
