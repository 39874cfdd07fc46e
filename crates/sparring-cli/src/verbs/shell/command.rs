//! What can be typed: from a line to a command with its arguments.

use futures_util::future::LocalBoxFuture;
use sparring_script::did_you_mean;

use super::asking::ANSWER;
use super::commands::ALL;
use super::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;

/// Something that is done below `/mcp`.
pub(super) struct Command {
    /// What it is called.
    pub(super) name: &'static str,
    /// What it takes, as it is shown to a person.
    pub(super) takes: &'static str,
    /// What each of its words is; the last may be repeated if it is a pair.
    pub(super) arguments: &'static [Argument],
    /// How many words it needs.
    pub(super) needs: usize,
    /// What it does.
    pub(super) about: &'static str,
    /// What there is to know besides.
    pub(super) more: &'static str,
    /// Whose changes it tells by itself.
    pub(super) tells: Tells,
    /// Does it.
    pub(super) run: Run,
}

/// How a command is done.
pub(super) type Run =
    for<'a> fn(&'a Desk<'a>, &'a [String]) -> LocalBoxFuture<'a, Result<Exit, Failure>>;

/// What a word stands for.
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
    /// A pattern of tools.
    Pattern,
}

/// Of which servers a command tells itself what becomes of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tells {
    /// Of none.
    Nobody,
    /// Of the one that is its first word.
    First,
    /// Of all.
    All,
}

/// What a line says.
pub(super) enum Said {
    /// Nothing that is to be done.
    Nothing,
    /// That it is enough.
    Quit,
    /// Help, with all commands or with one.
    Help(Option<&'static Command>),
    /// A command, with its words.
    Do(&'static Command, Vec<String>),
}

/// Commands that do not stand below `/mcp`.
pub(super) const OTHERS: [&str; 5] = ["/mcp", "/answer", "/help", "/quit", "/exit"];

/// Reads a line.
///
/// # Errors
/// When it says nothing that is known, or too much or too little.
pub(super) fn read(line: &str) -> Result<Said, Failure> {
    let line = line.trim();
    if line.is_empty() || line.starts_with('#') {
        return Ok(Said::Nothing);
    }
    let words = shlex::split(line)
        .ok_or_else(|| Failure::Usage("a quotation mark is not closed".to_owned()))?;
    let mut words = words.into_iter();
    let Some(first) = words.next() else { return Ok(Said::Nothing) };
    let words: Vec<String> = words.collect();
    match (first.as_str(), words.as_slice()) {
        ("/mcp", _) => of_mcp(words),
        ("/help", []) => Ok(Said::Help(None)),
        ("/help", [about]) => help(about),
        ("/help", [mcp, about]) if mcp == "mcp" || mcp == "/mcp" => help(about),
        ("/quit" | "/exit", []) => Ok(Said::Quit),
        (ANSWER, _) => Err(Failure::Usage(
            "nothing is asked that /answer could answer; it follows the command whose server asks"
                .to_owned(),
        )),
        ("/help" | "/quit" | "/exit", _) => {
            Err(Failure::Usage(format!("{first} takes less than that")))
        }
        _ => Err(unknown(&first)),
    }
}

impl Command {
    /// How it is written.
    pub(super) fn usage(&self) -> String {
        format!("/mcp {} {}", self.name, self.takes).trim_end().to_owned()
    }
}

/// Work that is good once it is done.
pub(super) fn good<'a>(
    work: impl Future<Output = Result<(), Failure>> + 'a,
) -> LocalBoxFuture<'a, Result<Exit, Failure>> {
    Box::pin(async { work.await.map(|()| Exit::Good) })
}

/// The command of that name.
pub(super) fn named(name: &str) -> Option<&'static Command> {
    ALL.iter().find(|command| command.name == name)
}

fn of_mcp(mut words: Vec<String>) -> Result<Said, Failure> {
    let name = if words.is_empty() { "status".to_owned() } else { words.remove(0) };
    let Some(command) = named(&name) else {
        let meant = did_you_mean(&name, ALL.iter().map(|command| command.name));
        let meant = meant.unwrap_or_else(|| "/help lists all commands".to_owned());
        return Err(Failure::Usage(format!("there is no command '/mcp {name}'; {meant}")));
    };
    let repeats =
        matches!(command.arguments.last(), Some(Argument::ToolPairs | Argument::PromptPairs));
    let fits = words.len() >= command.needs && (repeats || words.len() <= command.arguments.len());
    match fits {
        true => Ok(Said::Do(command, words)),
        false => Err(Failure::Usage(format!("it is written {}", command.usage()))),
    }
}

fn help(about: &str) -> Result<Said, Failure> {
    let name = about.trim_start_matches('/');
    match named(name) {
        Some(command) => Ok(Said::Help(Some(command))),
        None if OTHERS.iter().any(|other| other.trim_start_matches('/') == name) => {
            Ok(Said::Help(None))
        }
        None => {
            let meant = did_you_mean(name, ALL.iter().map(|command| command.name));
            let meant = meant.map(|meant| format!("; {meant}")).unwrap_or_default();
            Err(Failure::Usage(format!("there is no help about '{about}'{meant}")))
        }
    }
}

fn unknown(first: &str) -> Failure {
    // Somebody may have left out where it stands.
    let bare = first.trim_start_matches('/');
    let meant = match named(bare) {
        Some(command) => format!("did you mean '/mcp {}'?", command.name),
        None => did_you_mean(first, OTHERS)
            .or_else(|| did_you_mean(bare, ALL.iter().map(|command| command.name)))
            .unwrap_or_else(|| "/help lists all commands".to_owned()),
    };
    Failure::Usage(format!("'{first}' is no command; {meant}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a line says, in short.
    fn said(line: &str) -> String {
        match read(line) {
            Ok(Said::Nothing) => "nothing".to_owned(),
            Ok(Said::Quit) => "quit".to_owned(),
            Ok(Said::Help(about)) => format!("help {}", about.map_or("", |it| it.name)),
            Ok(Said::Do(command, words)) => format!("{}({})", command.name, words.join("|")),
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
            assert_eq!(said(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_no_command_is_told_with_what_may_have_been_meant() {
        for (line, expected) in [
            ("/mpc", "'/mpc' is no command; did you mean '/mcp'?"),
            ("connect db", "'connect' is no command; did you mean '/mcp connect'?"),
            ("/tools", "'/tools' is no command; did you mean '/mcp tools'?"),
            ("zzz", "'zzz' is no command; /help lists all commands"),
            ("/mcp conect db", "there is no command '/mcp conect'; did you mean 'connect'"),
            ("/mcp zzz", "there is no command '/mcp zzz'; /help lists all commands"),
            ("/mcp connect", "it is written /mcp connect SERVER"),
            ("/mcp connect a b", "it is written /mcp connect SERVER"),
            ("/mcp call 'a", "a quotation mark is not closed"),
            ("/quit now", "/quit takes less than that"),
            ("/help zzz", "there is no help about 'zzz'"),
        ] {
            assert!(said(line).starts_with(expected), "{line}: {}", said(line));
        }
    }

    #[test]
    fn every_command_needs_no_more_than_it_takes() {
        for command in &ALL {
            assert!(command.needs <= command.arguments.len(), "{}", command.name);
            let shown = command.takes.split_whitespace().filter(|word| !word.starts_with('['));
            assert_eq!(shown.count(), command.needs, "{}", command.name);
        }
    }
}
