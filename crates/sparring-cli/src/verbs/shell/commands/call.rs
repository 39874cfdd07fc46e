//! `/mcp call`: calls a tool, if it may be called.

use sparring_host::registry::{CallError, ExecuteError};

use super::super::super::call::{note_breaches, tell};
use super::super::command::{Argument, Command, Tells};
use super::super::desk::Desk;
use crate::args::pair::{self, Pair};
use crate::exit::Exit;
use crate::failure::Failure;

pub(super) const COMMAND: Command = Command {
    name: "call",
    takes: "SERVER TOOL [KEY=VALUE]...",
    arguments: &[Argument::Server, Argument::Tool, Argument::ToolPairs],
    needs: 2,
    about: "call a tool of a server",
    more: "KEY=STRING gives a string, KEY:=JSON anything else. What no rule allows or denies is \
           asked for at a terminal, and denied elsewhere. What the server asks meanwhile is asked \
           at a terminal; from a pipe it is answered by the lines that follow: /answer JSON for a \
           form, /answer TEXT for a model, /answer accept for a page, /answer decline or cancel. \
           Ctrl+C cancels the call.",
    tells: Tells::Nobody,
    run: |desk, words| Box::pin(run(desk, &words[0], &words[1], &words[2..])),
};

async fn run(desk: &Desk<'_>, server: &str, tool: &str, words: &[String]) -> Result<Exit, Failure> {
    desk.connection(server)?;
    let registered = desk.tool(server, tool)?;
    let pairs = pairs(words, pair::any)?;
    let arguments = pair::object(&pairs, None);
    note_breaches(&registered.tool, &pairs, &arguments, desk.printer).await;
    let called = desk.registry.execute(&desk.asking, &registered.name, arguments).await;
    let response = called.map_err(|error| match error {
        ExecuteError::Call(CallError::Failed { error, .. }) => Failure::Request(error),
        other => Failure::Usage(other.to_string()),
    })?;
    tell(tool, Some(&registered.tool), &response, desk.printer).await
}

/// Reads arguments.
pub(super) fn pairs(
    words: &[String],
    read: fn(&str) -> Result<Pair, String>,
) -> Result<Vec<Pair>, Failure> {
    let each = words.iter().map(|word| {
        if !word.contains('=') {
            return Err(Failure::Usage(format!(
                "'{word}' is no argument; write KEY=STRING or KEY:=JSON"
            )));
        }
        read(word).map_err(|why| Failure::Usage(format!("'{word}': {why}")))
    });
    each.collect()
}
