//! What a word that was begun may become: commands, servers, and what they have.

use std::sync::Arc;

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use serde_json::Value;
use sparring_host::manager::Manager;
use sparring_host::registry::Registry;

use super::command::{Argument, OTHERS, named};
use super::commands::ALL;

/// Knows what there is now.
pub(super) struct Completion {
    pub(super) manager: Manager,
    pub(super) registry: Arc<Registry>,
}

/// What a word may become, and whether it ends there.
struct Choice {
    text: String,
    ends: bool,
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let line = line.get(..pos).unwrap_or(line);
        let start = start_of_word(line);
        let (before, begun) = line.split_at(start);
        let before = shlex::split(before).unwrap_or_default();
        let begun = shlex::split(begun).and_then(|mut words| words.pop());
        let begun = begun.unwrap_or_else(|| line[start..].trim_start_matches(['\'', '"']).into());
        let fitting = self.choices(&before).into_iter().filter(|it| it.text.starts_with(&*begun));
        Ok((start, fitting.filter_map(pair).collect()))
    }
}

impl Completion {
    /// What may follow these words.
    fn choices(&self, before: &[String]) -> Vec<Choice> {
        let before: Vec<&str> = before.iter().map(String::as_str).collect();
        match before.as_slice() {
            [] => OTHERS.iter().map(whole).collect(),
            ["/help" | "/mcp"] => ALL.iter().map(|command| whole(&command.name)).collect(),
            ["/mcp", name, words @ ..] => {
                let Some(command) = named(name) else { return Vec::new() };
                let last = command.arguments.last();
                let repeats = matches!(last, Some(Argument::ToolPairs | Argument::PromptPairs));
                let argument = command.arguments.get(words.len());
                match argument.or(last.filter(|_| repeats)) {
                    Some(argument) => self.arguments(*argument, words),
                    None => Vec::new(),
                }
            }
            _ => Vec::new(),
        }
    }

    fn arguments(&self, argument: Argument, words: &[&str]) -> Vec<Choice> {
        let connection = words.first().and_then(|server| self.manager.get(server));
        let second = words.get(1).copied().unwrap_or_default();
        match argument {
            Argument::Server => {
                self.manager.servers().iter().map(|it| whole(&it.config.name)).collect()
            }
            Argument::Decision => ["allow", "deny"].iter().map(whole).collect(),
            Argument::Pattern => self.patterns(),
            Argument::Tool => {
                let tools = self.registry.tools();
                let of_server = tools.iter().filter(|it| words.first() == Some(&&*it.server));
                of_server.map(|it| whole(&it.tool.name)).collect()
            }
            Argument::Uri => {
                let items = connection.map(|it| it.resources().items);
                items.iter().flat_map(|it| it.iter()).map(|it| whole(&it.uri)).collect()
            }
            Argument::Prompt => {
                let items = connection.map(|it| it.prompts().items);
                items.iter().flat_map(|it| it.iter()).map(|it| whole(&it.name)).collect()
            }
            Argument::ToolPairs => {
                let items = connection.map(|it| it.tools().items);
                let tool = items.iter().flat_map(|it| it.iter()).find(|it| it.name == second);
                tool.map(|tool| of_schema(&tool.input_schema)).unwrap_or_default()
            }
            Argument::PromptPairs => {
                let items = connection.map(|it| it.prompts().items);
                let prompt = items.iter().flat_map(|it| it.iter()).find(|it| it.name == second);
                let arguments = prompt.iter().flat_map(|prompt| &prompt.arguments);
                arguments.map(|it| part(format!("{}=", it.name))).collect()
            }
        }
    }

    fn patterns(&self) -> Vec<Choice> {
        let servers = self.manager.servers();
        let servers = servers.iter().map(|it| whole(&format!("mcp__{}", it.config.name)));
        let tools = self.registry.tools();
        let tools = tools.iter().map(|it| whole(&format!("mcp__{}__{}", it.server, it.tool.name)));
        servers.chain(tools).collect()
    }
}

impl Helper for Completion {}
impl Highlighter for Completion {}
impl Validator for Completion {}
impl Hinter for Completion {
    type Hint = String;
}

/// Where the last word of a line begins.
fn start_of_word(line: &str) -> usize {
    let (mut start, mut quote) = (0, None);
    for (index, c) in line.char_indices() {
        match quote {
            Some(open) if c == open => quote = None,
            Some(_) => {}
            None if c == '\'' || c == '"' => quote = Some(c),
            None if c.is_whitespace() => start = index + c.len_utf8(),
            None => {}
        }
    }
    start
}

/// The arguments that a schema describes: those that are no strings as JSON.
fn of_schema(schema: &Value) -> Vec<Choice> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let each = properties.into_iter().flatten().map(|(name, property)| {
        let is_string = property.get("type").is_none_or(|kind| kind == "string");
        part(format!("{name}{}", if is_string { "=" } else { ":=" }))
    });
    each.collect()
}

fn whole(text: &impl AsRef<str>) -> Choice {
    Choice { text: text.as_ref().to_owned(), ends: true }
}

fn part(text: String) -> Choice {
    Choice { text, ends: false }
}

/// As it is put into the line. What would draw on the terminal is left out.
fn pair(choice: Choice) -> Option<Pair> {
    if choice.text.chars().any(char::is_control) {
        return None;
    }
    let quoted = match choice.ends {
        true => format!("{} ", shlex::try_quote(&choice.text).ok()?),
        false => choice.text.clone(),
    };
    Some(Pair { display: choice.text, replacement: quoted })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_word_begins_behind_the_last_space_that_is_not_quoted() {
        for (line, expected) in
            [("", 0), ("/mc", 0), ("/mcp ", 5), ("/mcp 'a b", 5), ("a 'b' c", 6)]
        {
            assert_eq!(start_of_word(line), expected, "{line}");
        }
    }

    #[test]
    fn arguments_are_offered_in_the_way_that_they_are_written() {
        let schema =
            json!({"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}});
        let texts: Vec<String> = of_schema(&schema).into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["city=", "days:="]);
    }

    #[test]
    fn what_would_draw_on_a_terminal_is_not_offered_and_spaces_are_quoted() {
        assert!(pair(whole(&"a\u{1b}[2J")).is_none());
        assert_eq!(pair(whole(&"a b")).unwrap().replacement, "'a b' ");
    }
}
