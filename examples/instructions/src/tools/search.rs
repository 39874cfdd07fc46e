//! `search_instructions`: returns the instructions with the words of a query.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolDefinition;
use super::instruction_summary::{InstructionSummary, rounded};
use crate::index::{Hit, Words};
use crate::library::Library;
use crate::server::ServerState;

/// The default limit.
fn default_limit() -> usize {
    10
}

/// The tool.
pub(super) struct Search;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// The words to find; a phrase in double quotes must occur as it is.
    #[schemars(length(min = 1, max = 1_000))]
    query: String,
    /// Maximum number of instructions.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 50))]
    limit: usize,
}

/// The instructions with words of the query.
#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The instructions, best first.
    instructions: Vec<Found>,
}

/// An instruction that has some of the words.
#[derive(Serialize, JsonSchema)]
struct Found {
    /// Its description.
    #[serde(flatten)]
    summary: InstructionSummary,
    /// The BM25 score.
    score: f64,
    /// The words that were found, each with the parts that contain it.
    matches: Vec<Match>,
    /// An excerpt of the text around the words.
    snippet: Option<String>,
}

/// A word of the query.
#[derive(Serialize, JsonSchema)]
struct Match {
    /// The word.
    word: String,
    /// The parts of the instruction that contain it.
    parts: Vec<String>,
}

impl ToolDefinition for Search {
    const NAME: &'static str = "search_instructions";
    const TITLE: &'static str = "Search instructions";
    const DESCRIPTION: &'static str = "Searches the titles, topics, categories, tags and texts of \
        all instructions, and gives those that fit best, the best first, with snippets.";
    type Arguments = Arguments;
    type Answer = Answer;

    fn answer(arguments: Arguments, library: &Library, _: &ServerState) -> Result<Answer, String> {
        let words = library.words(&arguments.query);
        let hits = library.search(&words, arguments.limit).map_err(|error| error.to_string())?;
        let instructions = hits.into_iter().map(|hit| found(hit, &words, library)).collect();
        Ok(Answer { instructions })
    }

    fn text(answer: &Answer) -> String {
        if answer.instructions.is_empty() {
            return "No instruction has any of these words.".to_owned();
        }
        let mut text = format!("{} instructions:\n", answer.instructions.len());
        for Found { summary, score, matches, snippet, .. } in &answer.instructions {
            let word = |it: &Match| format!("{} ({})", it.word, it.parts.join(", "));
            let matches: Vec<String> = matches.iter().map(word).collect();
            text.push_str(&format!(
                "\n{}\nScore {score} for {}\n",
                summary.heading(),
                matches.join(", ")
            ));
            if let Some(snippet) = snippet {
                text.push_str(&format!("\n> {snippet}\n"));
            }
        }
        text
    }
}

fn found(hit: Hit, words: &Words, library: &Library) -> Found {
    let instruction = &library.all()[hit.number];
    let as_match = |it: crate::index::Match| Match {
        word: it.word,
        parts: it.parts.into_iter().map(str::to_owned).collect(),
    };
    Found {
        summary: InstructionSummary::new(instruction),
        score: rounded(f64::from(hit.score)),
        matches: library.matches(words, instruction).into_iter().map(as_match).collect(),
        snippet: library.snippet(words, instruction),
    }
}
