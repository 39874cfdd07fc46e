//! Completes words: commands, servers, and the tools, resources and prompts of servers.

use std::sync::Arc;

use rustyline::completion::{Completer, Pair};
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use serde_json::Value;
use sparring_host::manager::Manager;
use sparring_host::registry::Registry;

use super::command::{Argument, BUILT_IN_COMMANDS, find_command};
use super::commands::ALL;

/// Completes from the current servers and tools.
pub(super) struct Completion {
    pub(super) manager: Manager,
    pub(super) registry: Arc<Registry>,
}

/// A completion; `is_complete` is true if it completes the whole word.
struct Candidate {
    text: String,
    is_complete: bool,
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
        let (before, prefix) = line.split_at(start);
        let before = shlex::split(before).unwrap_or_default();
        let prefix = shlex::split(prefix).and_then(|mut words| words.pop());
        let prefix = prefix.unwrap_or_else(|| line[start..].trim_start_matches(['\'', '"']).into());
        let fitting =
            self.candidates(&before).into_iter().filter(|it| it.text.starts_with(&*prefix));
        Ok((start, fitting.filter_map(to_pair).collect()))
    }
}

impl Completion {
    /// Returns the words that may follow these words.
    fn candidates(&self, before: &[String]) -> Vec<Candidate> {
        let names = || ALL.iter().map(|command| complete_word(&command.name));
        let mut before: Vec<&str> = before.iter().map(String::as_str).collect();
        if let Some(first) = before.first_mut() {
            *first = first.trim_start_matches('/');
        }
        match before.as_slice() {
            [] => {
                let slashed =
                    BUILT_IN_COMMANDS.iter().map(|name| complete_word(&format!("/{name}")));
                slashed.chain(BUILT_IN_COMMANDS.iter().map(complete_word)).chain(names()).collect()
            }
            ["help" | "mcp"] => names().collect(),
            ["mcp", name, words @ ..] | [name, words @ ..] => {
                let Some(command) = find_command(name) else { return Vec::new() };
                let mut words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
                let servers = self.manager.servers();
                let servers: Vec<String> =
                    servers.iter().map(|server| server.config.name.clone()).collect();
                if let Some(server) = command.implied_server(&words, &servers) {
                    words.insert(0, server.clone());
                }
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                let words = words.as_slice();
                let last = command.arguments.last();
                let repeats = matches!(last, Some(Argument::ToolPairs | Argument::PromptPairs));
                let argument = command.arguments.get(words.len());
                match argument.or(last.filter(|_| repeats)) {
                    Some(argument) => self.argument_candidates(*argument, words),
                    None => Vec::new(),
                }
            }
        }
    }

    fn argument_candidates(&self, argument: Argument, words: &[&str]) -> Vec<Candidate> {
        let connection = words.first().and_then(|server| self.manager.get(server));
        let second = words.get(1).copied().unwrap_or_default();
        match argument {
            Argument::Server => {
                self.manager.servers().iter().map(|it| complete_word(&it.config.name)).collect()
            }
            Argument::Decision => ["allow", "deny"].iter().map(complete_word).collect(),
            Argument::Pattern => self.patterns(),
            Argument::Tool => {
                let tools = self.registry.tools();
                let of_server = tools.iter().filter(|it| words.first() == Some(&&*it.server));
                of_server.map(|it| complete_word(&it.tool.name)).collect()
            }
            Argument::Uri => {
                let items = connection.map(|it| it.resources().items);
                items.iter().flat_map(|it| it.iter()).map(|it| complete_word(&it.uri)).collect()
            }
            Argument::Prompt => {
                let items = connection.map(|it| it.prompts().items);
                items.iter().flat_map(|it| it.iter()).map(|it| complete_word(&it.name)).collect()
            }
            Argument::ToolPairs => {
                let items = connection.map(|it| it.tools().items);
                let tool = items.iter().flat_map(|it| it.iter()).find(|it| it.name == second);
                tool.map(|tool| schema_arguments(&tool.input_schema)).unwrap_or_default()
            }
            Argument::PromptPairs => {
                let items = connection.map(|it| it.prompts().items);
                let prompt = items.iter().flat_map(|it| it.iter()).find(|it| it.name == second);
                let arguments = prompt.iter().flat_map(|prompt| &prompt.arguments);
                arguments.map(|it| partial_word(format!("{}=", it.name))).collect()
            }
        }
    }

    fn patterns(&self) -> Vec<Candidate> {
        let servers = self.manager.servers();
        let servers = servers.iter().map(|it| complete_word(&format!("mcp__{}", it.config.name)));
        let tools = self.registry.tools();
        let tools =
            tools.iter().map(|it| complete_word(&format!("mcp__{}__{}", it.server, it.tool.name)));
        servers.chain(tools).collect()
    }
}

impl Helper for Completion {}
impl Highlighter for Completion {}
impl Validator for Completion {}
impl Hinter for Completion {
    type Hint = String;
}

/// Returns the position at which the last word of a line begins.
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

/// Returns the arguments that a schema describes, with `:=` for those that are not
/// strings.
fn schema_arguments(schema: &Value) -> Vec<Candidate> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let each = properties.into_iter().flatten().map(|(name, property)| {
        let is_string = property.get("type").is_none_or(|kind| kind == "string");
        partial_word(format!("{name}{}", if is_string { "=" } else { ":=" }))
    });
    each.collect()
}

fn complete_word(text: &impl AsRef<str>) -> Candidate {
    Candidate { text: text.as_ref().to_owned(), is_complete: true }
}

fn partial_word(text: String) -> Candidate {
    Candidate { text, is_complete: false }
}

/// Returns the completion as it is inserted. Leaves out text with control characters.
fn to_pair(choice: Candidate) -> Option<Pair> {
    if choice.text.chars().any(char::is_control) {
        return None;
    }
    let quoted = match choice.is_complete {
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
    fn a_word_begins_after_the_last_unquoted_space() {
        for (line, expected) in
            [("", 0), ("/mc", 0), ("/mcp ", 5), ("/mcp 'a b", 5), ("a 'b' c", 6)]
        {
            assert_eq!(start_of_word(line), expected, "{line}");
        }
    }

    #[test]
    fn completes_arguments_with_their_operator() {
        let schema =
            json!({"properties": {"city": {"type": "string"}, "days": {"type": "integer"}}});
        let texts: Vec<String> = schema_arguments(&schema).into_iter().map(|it| it.text).collect();
        assert_eq!(texts, ["city=", "days:="]);
    }

    #[test]
    fn skips_control_characters_and_quotes_spaces() {
        assert!(to_pair(complete_word(&"a\u{1b}[2J")).is_none());
        assert_eq!(to_pair(complete_word(&"a b")).unwrap().replacement, "'a b' ");
    }
}
