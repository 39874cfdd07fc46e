//! `route_instructions`: returns the instructions that fit a message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolDefinition;
use super::instruction_summary::{InstructionSummary, content, rounded};
use crate::library::Library;
use crate::routing::{Reason, Request, Routed};
use crate::server::ServerState;

/// The default limit.
fn default_limit() -> usize {
    5
}

/// The tool.
pub(super) struct Route;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The user's message, unchanged.
    #[schemars(length(max = 20_000))]
    message: String,
    /// The context of the conversation; `topic` and `category` count most.
    context: Option<serde_json::Map<String, serde_json::Value>>,
    /// Maximum number of instructions.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

/// The instructions that fit a message.
#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The engine that routed.
    engine: String,
    /// The number of fitting instructions, including those that are left out.
    total: usize,
    /// The instructions that fit best, best first.
    instructions: Vec<Fitting>,
}

/// An instruction that fits.
#[derive(Serialize, JsonSchema)]
struct Fitting {
    /// Its description.
    #[serde(flatten)]
    summary: InstructionSummary,
    /// The sum of the scores of its reasons.
    score: f64,
    /// The reasons for the instruction.
    reasons: Vec<Reason>,
    /// The text.
    content: String,
}

impl ToolDefinition for Route {
    const NAME: &'static str = "route_instructions";
    const TITLE: &'static str = "Route a message";
    const DESCRIPTION: &'static str = "Gives the instructions that a message calls for, the best \
        first, each with its text, a score and the reasons for it.";
    type Arguments = Arguments;
    type Answer = Answer;

    fn answer(
        arguments: Arguments,
        library: &Library,
        state: &ServerState,
    ) -> Result<Answer, String> {
        let Arguments { message, context, limit } = arguments;
        let request = Request { message, context: context.unwrap_or_default() };
        let engine = state.engine();
        let routed = engine.route(library, &request).map_err(|error| error.to_string())?;
        let instructions = routed.iter().take(limit).map(|routed| fitting(routed, library));
        Ok(Answer {
            engine: engine.version().to_owned(),
            total: routed.len(),
            instructions: instructions.collect(),
        })
    }

    fn text(answer: &Answer) -> String {
        let Answer { engine, total, instructions } = answer;
        if instructions.is_empty() {
            return format!("No instruction fits this message ({engine}).");
        }
        let mut text =
            format!("{} of {total} instructions that fit ({engine}):\n", instructions.len());
        for Fitting { summary, score, reasons, content, .. } in instructions {
            text.push_str(&format!("\n{}\nScore {score}:\n", summary.heading()));
            for Reason { kind, matched, score } in reasons {
                let kind = format!("{kind:?}").to_lowercase();
                text.push_str(&format!("- {score} for {kind}: {matched}\n"));
            }
            text.push_str(&format!("\n{content}\n"));
        }
        text
    }
}

fn fitting(routed: &Routed, library: &Library) -> Fitting {
    let instruction = &library.all()[routed.number];
    let round = |reason: &Reason| Reason { score: rounded(reason.score), ..reason.clone() };
    Fitting {
        summary: InstructionSummary::new(instruction),
        score: rounded(routed.score()),
        reasons: routed.reasons.iter().map(round).collect(),
        content: content(instruction),
    }
}
