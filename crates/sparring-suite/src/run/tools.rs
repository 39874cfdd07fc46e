//! The tools that a server lists, for what every call is held against.

use serde_json::Value;
use sparring_peer::Client;
use sparring_schema::{BadSchema, Breach, Schema};
use sparring_script::did_you_mean;
use sparring_wire::types::Tool;

/// The most breaches of one output schema that are told.
const MOST: usize = 3;

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
    output: Option<Result<Schema, BadSchema>>,
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

    /// How structured content breaks the output schema of its tool. Since
    /// 2025-06-18, server/tools#output-schema: servers must conform to it.
    pub(crate) fn breaches(&self, name: &str, structured: Option<&Value>) -> Vec<String> {
        let Tools::Listed(tools, _) = self else { return Vec::new() };
        let tool = tools.iter().find(|tool| tool.name == name);
        match (tool.and_then(|tool| tool.output.as_ref()), structured) {
            (None, _) => Vec::new(),
            (Some(_), None) => {
                vec![
                    "the result has no structured content, which the output schema describes"
                        .to_owned(),
                ]
            }
            (Some(Err(error)), _) => vec![format!("the output schema cannot be used: {error}")],
            (Some(Ok(schema)), Some(value)) => {
                let told = |breach: Breach| format!("{}: {}", breach.pointer, breach.message);
                schema.breaches(value, MOST).into_iter().map(told).collect()
            }
        }
    }
}

impl From<Tool> for Listed {
    fn from(tool: Tool) -> Self {
        let output = tool.output_schema.map(|schema| Schema::new(&schema));
        Listed { name: tool.name, output }
    }
}
