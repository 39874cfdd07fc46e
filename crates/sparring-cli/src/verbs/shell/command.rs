//! Parses a line of the shell into a command with its arguments.

use futures_util::future::LocalBoxFuture;
use sparring_script::did_you_mean;

use super::commands::ALL;
use super::shell_state::ShellState;
use crate::command_error::CommandError;
use crate::exit::Exit;

/// A command, which may be typed after `/mcp`.
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

/// The commands that need no server.
pub(super) const BUILT_IN_COMMANDS: [&str; 5] = ["mcp", "answer", "help", "quit", "exit"];

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
    match (first.trim_start_matches('/'), words.as_slice()) {
        ("mcp", []) => parse_command("status", words),
        ("mcp", [name, rest @ ..]) => parse_command(name, rest.to_vec()),
        (name, _) => parse_command(name, words),
    }
}

/// Parses a command without its `/` and `/mcp`.
fn parse_command(name: &str, words: Vec<String>) -> Result<ParsedLine, CommandError> {
    match (name, words.as_slice()) {
        ("help", []) => Ok(ParsedLine::Help(None)),
        ("help", [about]) => parse_help(about),
        ("help", [mcp, about]) if mcp == "mcp" || mcp == "/mcp" => parse_help(about),
        ("quit" | "exit", []) => Ok(ParsedLine::Quit),
        ("answer", _) => Err(CommandError::Usage(
            "no question to answer; /answer follows the command whose server asks".to_owned(),
        )),
        ("help" | "quit" | "exit", _) => {
            Err(CommandError::Usage(format!("too many words for {name}")))
        }
        _ => match find_command(name) {
            Some(command) => Ok(ParsedLine::Run(command, words)),
            None => Err(unknown_command(name)),
        },
    }
}

impl Command {
    /// The command as it is typed.
    pub(super) fn usage(&self) -> String {
        format!("{} {}", self.name, self.parameters).trim_end().to_owned()
    }

    /// Adds the server if the words leave it out and there is only one. Then checks the
    /// number of the words.
    ///
    /// # Errors
    /// When there are too many or too few words.
    pub(super) fn complete_words(
        &self,
        mut words: Vec<String>,
        servers: &[String],
    ) -> Result<Vec<String>, CommandError> {
        if let Some(server) = self.implied_server(&words, servers) {
            words.insert(0, server.clone());
        }
        let repeats =
            matches!(self.arguments.last(), Some(Argument::ToolPairs | Argument::PromptPairs));
        let fits =
            words.len() >= self.min_words && (repeats || words.len() <= self.arguments.len());
        match fits {
            true => Ok(words),
            false => Err(CommandError::Usage(format!("usage: {}", self.usage()))),
        }
    }

    /// Returns the only server if the command requires one and the words do not name it.
    pub(super) fn implied_server<'a>(
        &self,
        words: &[String],
        servers: &'a [String],
    ) -> Option<&'a String> {
        let requires_server =
            self.min_words > 0 && self.arguments.first() == Some(&Argument::Server);
        match servers {
            [only] if requires_server && words.first() != Some(only) => Some(only),
            _ => None,
        }
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

fn parse_help(about: &str) -> Result<ParsedLine, CommandError> {
    let name = about.trim_start_matches('/');
    match find_command(name) {
        Some(command) => Ok(ParsedLine::Help(Some(command))),
        None if BUILT_IN_COMMANDS.contains(&name) => Ok(ParsedLine::Help(None)),
        None => {
            let meant = did_you_mean(name, ALL.iter().map(|command| command.name));
            let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
            Err(CommandError::Usage(format!("no help for '{about}'{meant}")))
        }
    }
}

fn unknown_command(name: &str) -> CommandError {
    let names = ALL.iter().map(|command| command.name).chain(BUILT_IN_COMMANDS);
    let meant = did_you_mean(name, names)
        // The slash makes the short word long enough to be similar.
        .or_else(|| did_you_mean(&format!("/{name}"), ["/mcp"]))
        .unwrap_or_else(|| "see help".to_owned());
    CommandError::Usage(format!("unknown command '{name}'; {meant}"))
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
            Ok(ParsedLine::Run(command, words)) => {
                let servers = ["db".to_owned(), "other".to_owned()];
                match command.complete_words(words, &servers) {
                    Ok(words) => format!("{}({})", command.name, words.join("|")),
                    Err(failure) => failure.to_string(),
                }
            }
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
            ("tools db", "tools(db)"),
            ("/tools db", "tools(db)"),
            ("call db query", "call(db|query)"),
            ("/help", "help "),
            ("help", "help "),
            ("/mcp help", "help "),
            ("help call", "help call"),
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
            ("/mpc", "unknown command 'mpc'; did you mean '/mcp'?"),
            ("zzz", "unknown command 'zzz'; see help"),
            ("/mcp conect db", "unknown command 'conect'; did you mean 'connect'"),
            ("/mcp zzz", "unknown command 'zzz'; see help"),
            ("/mcp connect", "usage: connect SERVER"),
            ("/mcp connect a b", "usage: connect SERVER"),
            ("/mcp call 'a", "unclosed quotation mark"),
            ("/quit now", "too many words for quit"),
            ("/help zzz", "no help for 'zzz'"),
        ] {
            assert!(describe(line).starts_with(expected), "{line}: {}", describe(line));
        }
    }

    #[test]
    fn the_only_server_can_be_left_out() {
        let servers = ["db".to_owned()];
        for (line, expected) in [
            ("call query sql=x", "db query sql=x"),
            ("call db query", "db query"),
            ("connect", "db"),
            ("read db://users", "db db://users"),
            ("tools", ""),
        ] {
            let Ok(ParsedLine::Run(command, words)) = parse_line(line) else { panic!("{line}") };
            assert_eq!(command.complete_words(words, &servers).unwrap().join(" "), expected);
        }
        let Ok(ParsedLine::Run(call, words)) = parse_line("call db") else { panic!("it is one") };
        assert!(call.complete_words(words, &servers).is_err());
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
