//! `switch_engine`: switches the routing engine for all clients.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Answering;
use crate::engines::{ENGINES, find, versions};
use crate::library::Library;
use crate::server::Desk;

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

impl Answering for Switch {
    const NAME: &'static str = "switch_engine";
    const TITLE: &'static str = "Switch the engine";
    const DESCRIPTION: &'static str =
        "Chooses the engine that routes from now on, for all who talk to this server.";
    const READS_ONLY: bool = false;
    type Arguments = Arguments;
    type Answer = Answer;

    fn answer(arguments: Arguments, _: &Library, desk: &Desk) -> Result<Answer, String> {
        let version = arguments.engine_version;
        let available = versions();
        let Some(place) = find(&version) else {
            return Err(format!(
                "there is no engine `{version}`; there are {}",
                available.join(", ")
            ));
        };
        let previous = desk.switch(place).version().to_owned();
        let summary = ENGINES[place].summary().to_owned();
        Ok(Answer { engine: version, summary, previous, available })
    }

    fn text(answer: &Answer) -> String {
        let Answer { engine, summary, previous, available } = answer;
        let available = available.join(", ");
        format!("Switched from {previous} to {engine}: {summary}.\nThere are {available}.")
    }
}
