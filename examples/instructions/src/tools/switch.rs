//! `switch_engine`: switches the routing engine for all clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolDefinition;
use crate::engines::{ENGINES, find, versions};
use crate::library::Library;
use crate::server::ServerState;

/// The tool.
pub(super) struct Switch;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The version of the engine, such as `durian-0.6`.
    #[schemars(length(max = 100))]
    engine_version: String,
}

/// The engine that routes from now on.
#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The version of the engine.
    engine: String,
    /// The engine's method, in a sentence.
    summary: String,
    /// The previous engine.
    previous: String,
    /// All engines.
    available: Vec<String>,
}

impl ToolDefinition for Switch {
    const NAME: &'static str = "switch_engine";
    const TITLE: &'static str = "Switch the engine";
    const DESCRIPTION: &'static str =
        "Switches the engine that routes from now on, for all clients of this server.";
    const READS_ONLY: bool = false;
    type Arguments = Arguments;
    type Answer = Answer;

    fn answer(arguments: Arguments, _: &Library, state: &ServerState) -> Result<Answer, String> {
        let version = arguments.engine_version;
        let available = versions();
        let Some(index) = find(&version) else {
            return Err(format!("unknown engine `{version}`; available: {}", available.join(", ")));
        };
        let previous = state.switch(index).version().to_owned();
        let summary = ENGINES[index].summary().to_owned();
        Ok(Answer { engine: version, summary, previous, available })
    }

    fn text(answer: &Answer) -> String {
        let Answer { engine, summary, previous, available } = answer;
        let available = available.join(", ");
        format!("Switched from {previous} to {engine}: {summary}.\nAvailable: {available}.")
    }
}
