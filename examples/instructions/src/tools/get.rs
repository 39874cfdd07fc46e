//! `get_instructions`: returns the instructions of a topic or a category.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::ToolDefinition;
use super::instruction_summary::{InstructionSummary, content};
use crate::knowledge::Instruction;
use crate::library::Library;
use crate::phrase::{occurs_in, words};
use crate::server::ServerState;

/// Maximum instructions in one result.
const MAX_ITEMS: usize = 50;

/// The tool.
pub(super) struct Get;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Words of the topic or the title.
    #[schemars(length(max = 200))]
    topic: Option<String>,
    /// The category of the instructions.
    #[schemars(length(max = 200))]
    category: Option<String>,
    /// Match topic and category exactly, letter by letter.
    #[serde(default)]
    exact_match: bool,
}

/// The requested instructions.
#[derive(Serialize, JsonSchema)]
pub(super) struct Answer {
    /// The number of matching instructions, including those that are left out.
    total: usize,
    /// The instructions, in the order of their ids.
    instructions: Vec<Found>,
    /// All topics, if no instruction was found.
    topics: Vec<String>,
    /// All categories, if no instruction was found.
    categories: Vec<String>,
}

/// An instruction.
#[derive(Serialize, JsonSchema)]
struct Found {
    /// Its description.
    #[serde(flatten)]
    summary: InstructionSummary,
    /// The text.
    content: String,
}

impl ToolDefinition for Get {
    const NAME: &'static str = "get_instructions";
    const TITLE: &'static str = "Get instructions";
    const DESCRIPTION: &'static str = "Gives the instructions about a topic, of a category, or \
        both; without either all of them, up to 50.";
    type Arguments = Arguments;
    type Answer = Answer;

    fn answer(arguments: Arguments, library: &Library, _: &ServerState) -> Result<Answer, String> {
        let all = library.all();
        let found: Vec<&Instruction> = all.iter().filter(|it| fits(&arguments, it)).collect();
        let as_found = |instruction: &&Instruction| Found {
            summary: InstructionSummary::new(instruction),
            content: content(instruction),
        };
        let names = |name: fn(&Instruction) -> &String| match found.is_empty() {
            true => unique_names(all.iter().map(name)),
            false => Vec::new(),
        };
        Ok(Answer {
            total: found.len(),
            topics: names(|it| &it.topic),
            categories: names(|it| &it.category),
            instructions: found.iter().take(MAX_ITEMS).map(as_found).collect(),
        })
    }

    fn text(answer: &Answer) -> String {
        let Answer { total, instructions, topics, categories } = answer;
        if instructions.is_empty() {
            let (topics, categories) = (topics.join(", "), categories.join(", "));
            return format!(
                "There is no such instruction.\nTopics: {topics}\nCategories: {categories}"
            );
        }
        let mut text = format!("{} of {total} instructions:\n", instructions.len());
        for Found { summary, content, .. } in instructions {
            text.push_str(&format!("\n{}\n{content}\n", summary.heading()));
        }
        text
    }
}

fn fits(arguments: &Arguments, instruction: &Instruction) -> bool {
    let Instruction { topic, title, category, .. } = instruction;
    let is_wanted = |wanted: &Option<String>, names: &[&String]| match wanted {
        None => true,
        Some(wanted) if arguments.exact_match => names[0] == wanted,
        Some(wanted) => names.iter().any(|name| occurs_in(&words(wanted), &words(name))),
    };
    is_wanted(&arguments.topic, &[topic, title]) && is_wanted(&arguments.category, &[category])
}

fn unique_names<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    let mut names: Vec<String> = names.cloned().collect();
    names.sort();
    names.dedup();
    names.truncate(MAX_ITEMS);
    names
}
