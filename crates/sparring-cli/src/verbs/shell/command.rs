//! Parses a line of the shell into a command with its arguments.

use futures_util::future::LocalBoxFuture;
use sparring_script::did_you_mean;

use super::commands::ALL;
use super::shell_state::ShellState;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::server_questions::ANSWER_COMMAND;

/// A command below `/mcp`.
pub(super) struct Command {
    pub(super) name: &'static str,
    /// The parameters as help shows them.
    pub(super) parameters: &'static str,
    /// The kind of each word. The last may be repeated if it is a pair.
    pub(super) arguments: &'static [Argument],
    /// The number of words that it requires.
    pub(super) min_words: usize,
    /// One line for `/help`.
    pub(super) summary: &'static str,
    /// More text for `/help COMMAND`.
    pub(super) details: &'static str,
    /// The servers whose events it prints itself.
    pub(super) announces: Announces,
    pub(super) run: CommandFn,
}

/// The function of a command.
pub(super) type CommandFn =
    for<'a> fn(&'a ShellState<'a>, &'a [String]) -> LocalBoxFuture<'a, Result<Exit, CommandError>>;

/// The meaning of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Argument {
    /// The name of a server.
    Server,
    /// The name of a tool of that server.
    Tool,
    /// The URI of a resource of that server.
    Uri,
    /// The name of a prompt of that server.
    Prompt,
    /// `key=string` or `key:=json`, for that tool.
    ToolPairs,
    /// `key=string`, for that prompt.
    PromptPairs,
    /// `allow` or `deny`.
    Decision,
    /// A pattern for tools.
    Pattern,
}

/// The servers whose events a command prints itself.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Announces {
    NoServer,
    /// The server in its first word.
    FirstServer,
    AllServers,
}

/// A parsed line.
pub(super) enum ParsedLine {
    /// A blank line or a comment.
    Empty,
    /// `/quit` or `/exit`.
    Quit,
    /// Help for all commands, or for one.
    Help(Option<&'static Command>),
    /// A command with its words.
    Run(&'static Command, Vec<String>),
}

/// The commands outside `/mcp`.
pub(super) const TOP_LEVEL_COMMANDS: [&str; 5] = ["/mcp", "/answer", "/help", "/quit", "/exit"];

/// Parses a line.
///
/// # Errors
/// When the command is unknown, or has too many or too few words.
pub(super) fn parse_line(line: &str) -> Result<ParsedLine, CommandError> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(ParsedLine::Empty);
    }
    let words = shlex::split(line)
        .ok_or_else(|| CommandError::Usage("unclosed quotation mark".to_owned()))?;
    let mut words = words.into_iter();
    let Some(first) = words.next() else { return Ok(ParsedLine::Empty) };
    let words: Vec<String> = words.collect();
    match (first.as_str(), words.as_slice()) {
        ("/mcp", _) => parse_mcp_command(words),
        ("/help", []) => Ok(ParsedLine::Help(None)),
        ("/help", [about]) => parse_help(about),
        ("/help", [mcp, about]) if mcp == "mcp" || mcp == "/mcp" => parse_help(about),
        ("/quit" | "/exit", []) => Ok(ParsedLine::Quit),
        (ANSWER_COMMAND, _) => Err(CommandError::Usage(
            "no question to answer; /answer follows the command whose server asks".to_owned(),
        )),
        ("/help" | "/quit" | "/exit", _) => {
            Err(CommandError::Usage(format!("too many words for {first}")))
        }
        _ => Err(unknown_command(&first)),
    }
}

impl Command {
    /// The command as it is typed.
    pub(super) fn usage(&self) -> String {
        format!("/mcp {} {}", self.name, self.parameters).trim_end().to_owned()
    }
}

/// Converts the result of a command: no error is [`Exit::Success`].
pub(super) fn succeed<'a>(
    work: impl Future<Output = Result<(), CommandError>> + 'a,
) -> LocalBoxFuture<'a, Result<Exit, CommandError>> {
    Box::pin(async { work.await.map(|()| Exit::Success) })
}

pub(super) fn find_command(name: &str) -> Option<&'static Command> {
    ALL.iter().find(|command| command.name == name)
}

fn parse_mcp_command(mut words: Vec<String>) -> Result<ParsedLine, CommandError> {
    let name = if words.is_empty() { "status".to_owned() } else { words.remove(0) };
    let Some(command) = find_command(&name) else {
        let meant = did_you_mean(&name, ALL.iter().map(|command| command.name));
        let meant = meant.unwrap_or_else(|| "see /help".to_owned());
        return Err(CommandError::Usage(format!("unknown command '/mcp {name}'; {meant}")));
    };
    let repeats =
        matches!(command.arguments.last(), Some(Argument::ToolPairs | Argument::PromptPairs));
    let fits =
        words.len() >= command.min_words && (repeats || words.len() <= command.arguments.len());
    match fits {
        true => Ok(ParsedLine::Run(command, words)),
        false => Err(CommandError::Usage(format!("usage: {}", command.usage()))),
    }
}

fn parse_help(about: &str) -> Result<ParsedLine, CommandError> {
    let name = about.trim_start_matches('/');
    match find_command(name) {
        Some(command) => Ok(ParsedLine::Help(Some(command))),
        None if TOP_LEVEL_COMMANDS.iter().any(|other| other.trim_start_matches('/') == name) => {
            Ok(ParsedLine::Help(None))
        }
        None => {
            let meant = did_you_mean(name, ALL.iter().map(|command| command.name));
            let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
            Err(CommandError::Usage(format!("no help for '{about}'{meant}")))
        }
    }
}

fn unknown_command(first: &str) -> CommandError {
    // The user may have left out `/mcp`.
    let bare = first.trim_start_matches('/');
    let meant = match find_command(bare) {
        Some(command) => format!("did you mean '/mcp {}'?", command.name),
        None => did_you_mean(first, TOP_LEVEL_COMMANDS)
            .or_else(|| did_you_mean(bare, ALL.iter().map(|command| command.name)))
            .unwrap_or_else(|| "see /help".to_owned()),
    };
    CommandError::Usage(format!("unknown command '{first}'; {meant}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parsed line in short.
    fn describe(line: &str) -> String {
        match parse_line(line) {
            Ok(ParsedLine::Empty) => "nothing".to_owned(),
            Ok(ParsedLine::Quit) => "quit".to_owned(),
            Ok(ParsedLine::Help(about)) => format!("help {}", about.map_or("", |it| it.name)),
            Ok(ParsedLine::Run(command, words)) => format!("{}({})", command.name, words.join("|")),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn a_line_is_a_command_with_words() {
        for (line, expected) in [
            ("", "nothing"),
            ("  # said nothing", "nothing"),
            ("/mcp", "status()"),
            (" /mcp connect  'a b' ", "connect(a b)"),
            (
                r#"/mcp call db query sql='select 1' n:='{"a": 1}'"#,
                r#"call(db|query|sql=select 1|n:={"a": 1})"#,
            ),
            ("/mcp tools", "tools()"),
            ("/mcp tools db", "tools(db)"),
            ("/help", "help "),
            ("/help call", "help call"),
            ("/help /mcp call", "help call"),
            ("/help /quit", "help "),
            ("/quit", "quit"),
            ("/exit", "quit"),
        ] {
            assert_eq!(describe(line), expected, "{line}");
        }
    }

    #[test]
    fn reports_an_unknown_command_with_a_suggestion() {
        for (line, expected) in [
            ("/mpc", "unknown command '/mpc'; did you mean '/mcp'?"),
            ("connect db", "unknown command 'connect'; did you mean '/mcp connect'?"),
            ("/tools", "unknown command '/tools'; did you mean '/mcp tools'?"),
            ("zzz", "unknown command 'zzz'; see /help"),
            ("/mcp conect db", "unknown command '/mcp conect'; did you mean 'connect'"),
            ("/mcp zzz", "unknown command '/mcp zzz'; see /help"),
            ("/mcp connect", "usage: /mcp connect SERVER"),
            ("/mcp connect a b", "usage: /mcp connect SERVER"),
            ("/mcp call 'a", "unclosed quotation mark"),
            ("/quit now", "too many words for /quit"),
            ("/help zzz", "no help for 'zzz'"),
        ] {
            assert!(describe(line).starts_with(expected), "{line}: {}", describe(line));
        }
    }

    #[test]
    fn every_command_requires_at_most_its_parameters() {
        for command in &ALL {
            assert!(command.min_words <= command.arguments.len(), "{}", command.name);
            let shown = command.parameters.split_whitespace().filter(|word| !word.starts_with('['));
            assert_eq!(shown.count(), command.min_words, "{}", command.name);
        }
    }
}
