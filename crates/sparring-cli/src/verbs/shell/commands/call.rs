//! `/mcp call`: calls a tool, if the rules permit it.

use sparring_host::registry::{CallError, ExecuteError};
use sparring_wire::Rule;

use super::super::super::call::{judge_call_result, note_argument_mismatches, print_call_result};
use super::super::command::{Announces, Argument, Command};
use super::super::shell_state::ShellState;
use crate::args::values::{self, KeyValue};
use crate::command_error::CommandError;
use crate::exit::Exit;

pub(super) const COMMAND: Command = Command {
    name: "call",
    parameters: "SERVER TOOL [KEY=VALUE]...",
    arguments: &[Argument::Server, Argument::Tool, Argument::ToolPairs],
    min_words: 2,
    summary: "call a tool of a server",
    details: "KEY=STRING is a string, KEY:=JSON any JSON. At a terminal the call is \
              made unless a rule denies it or requires asking. From a pipe a rule must allow it. Questions of the server are asked at \
              a terminal. From a pipe, the next lines answer them: /answer JSON for a form, \
              /answer TEXT for a model, /answer accept for a page, /answer decline or cancel. \
              Ctrl+C cancels the call.",
    announces: Announces::NoServer,
    run: |state, words| Box::pin(run(state, &words[0], &words[1], &words[2..])),
};

async fn run(
    state: &ShellState<'_>,
    server: &str,
    tool: &str,
    words: &[String],
) -> Result<Exit, CommandError> {
    let revision = state.connection(server)?.revision();
    let registered = state.tool(server, tool)?;
    let pairs = parse_pairs(words, values::parse_key_value)?;
    let arguments = values::build_object(&pairs, None)?;
    note_argument_mismatches(&registered.tool, &pairs, &arguments, state.printer).await;
    let called = state.registry.execute(&state.requests, &registered.name, arguments).await;
    let response = called.map_err(|error| match error {
        ExecuteError::Call(CallError::Failed { error, .. }) => CommandError::Request(error),
        other => CommandError::Usage(other.to_string()),
    })?;
    state.set_response(&response);
    let applies = |revision| Rule::OutputSchema.applies_in(revision);
    let judged = Some(&*registered.tool).filter(|_| revision.is_some_and(applies));
    match state.printer.is_json() {
        true => judge_call_result(tool, judged, &response, state.printer).await,
        false => print_call_result(tool, judged, &response, state.printer).await,
    }
}

/// Parses arguments.
pub(super) fn parse_pairs(
    words: &[String],
    read: fn(&str) -> Result<KeyValue, String>,
) -> Result<Vec<KeyValue>, CommandError> {
    let each = words.iter().map(|word| {
        if !word.contains('=') {
            return Err(CommandError::Usage(format!("'{word}': expected KEY=STRING or KEY:=JSON")));
        }
        read(word).map_err(|why| CommandError::Usage(format!("'{word}': {why}")))
    });
    each.collect()
}
