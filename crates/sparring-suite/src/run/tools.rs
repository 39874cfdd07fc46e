//! The tools that a server lists, and whether a result conforms to the output schema
//! of its tool.

use serde_json::Value;
use sparring_peer::Client;
use sparring_script::schema::{SchemaError, SchemaMismatch, Verdict};
use sparring_script::{Schema, did_you_mean};
use sparring_wire::types::Tool;
use tokio::sync::OnceCell;

/// The most mismatches of one result that are reported.
const MAX_MISMATCHES: usize = 3;

/// What is known of a server's tools.
#[derive(Debug)]
pub(crate) enum Tools {
    /// The tools, and what is wrong with those that are malformed.
    Listed(Vec<Listed>, Option<String>),
    /// They could not be listed.
    Unknown(String),
}

/// A tool as far as a result depends on it.
#[derive(Debug)]
pub(crate) struct Listed {
    name: String,
    output: Option<Output>,
}

/// An output schema, which is compiled when a result is checked for the first time.
#[derive(Debug)]
struct Output {
    schema: Value,
    compiled: OnceCell<Result<Schema, SchemaError>>,
}

/// How a result and the output schema of its tool fit together.
#[derive(Debug, Default)]
pub(super) struct Conformance {
    /// How the result breaks the schema, or the schema its own rules.
    pub(super) violations: Vec<String>,
    /// Why the result could not be checked.
    pub(super) unchecked: Option<String>,
}

impl Tools {
    /// Asks the server.
    pub(super) async fn ask(client: &Client) -> Tools {
        match client.list_tools().await {
            Ok(tools) => {
                let malformed = tools.malformed_summary();
                Tools::Listed(tools.into_iter().map(Listed::from).collect(), malformed)
            }
            Err(error) => Tools::Unknown(error.to_string()),
        }
    }

    pub(super) fn has(&self, name: &str) -> bool {
        matches!(self, Tools::Listed(tools, _) if tools.iter().any(|tool| tool.name == name))
    }

    /// Why a tool should not be called, where it is not listed.
    pub(crate) fn unlisted(&self, name: &str) -> Option<String> {
        match self {
            Tools::Unknown(error) => Some(format!("the tools cannot be listed: {error}")),
            Tools::Listed(..) if self.has(name) => None,
            Tools::Listed(tools, malformed) => {
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
    pub(super) async fn conformance(&self, name: &str, structured: Option<&Value>) -> Conformance {
        let Tools::Listed(tools, _) = self else { return Conformance::default() };
        let tool = tools.iter().find(|tool| tool.name == name);
        let Some(output) = tool.and_then(|tool| tool.output.as_ref()) else {
            return Conformance::default();
        };
        let Some(value) = structured else {
            return Conformance::violation(
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
                return Conformance::violation(format!(
                    "the output schema cannot be used: {error}"
                ));
            }
        };
        let line = |it: SchemaMismatch| format!("{}: {}", it.pointer, it.message);
        match verdict {
            Verdict::Valid => Conformance::default(),
            Verdict::Invalid(found) => {
                Conformance { violations: found.into_iter().map(line).collect(), unchecked: None }
            }
            Verdict::Undecided(reason) => {
                Conformance { violations: Vec::new(), unchecked: Some(reason) }
            }
        }
    }
}

impl Conformance {
    fn violation(message: String) -> Self {
        Conformance { violations: vec![message], unchecked: None }
    }
}

impl From<Tool> for Listed {
    fn from(tool: Tool) -> Self {
        let output = tool.output_schema.map(|schema| Output { schema, compiled: OnceCell::new() });
        Listed { name: tool.name, output }
    }
}
