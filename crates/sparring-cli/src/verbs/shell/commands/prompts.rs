//! `/mcp prompts` lists prompts, and `/mcp prompt` gets one.

use std::sync::Arc;

use serde_json::json;
use sparring_wire::RawJson;
use sparring_wire::types::{GetPromptResult, Prompt};

use super::super::super::prompt::print_messages;
use super::super::command::{Announces, Argument, Command, succeed};
use super::super::event_text::pluralize;
use super::super::shell_state::ShellState;
use super::call::parse_pairs;
use crate::args::values;
use crate::command_error::CommandError;
use crate::output::table::Table;

pub(super) const PROMPTS: Command = Command {
    name: "prompts",
    parameters: "[SERVER]",
    arguments: &[Argument::Server],
    min_words: 0,
    summary: "list the prompts of all connected servers, or of one",
    details: "Arguments in brackets are optional.",
    announces: Announces::NoServer,
    run: |state, words| succeed(list(state, words.first())),
};

pub(super) const PROMPT: Command = Command {
    name: "prompt",
    parameters: "SERVER NAME [KEY=STRING]...",
    arguments: &[Argument::Server, Argument::Prompt, Argument::PromptPairs],
    min_words: 2,
    summary: "get a prompt of a server",
    details: "",
    announces: Announces::NoServer,
    run: |state, words| succeed(get(state, &words[0], &words[1], &words[2..])),
};

async fn list(state: &ShellState<'_>, server: Option<&String>) -> Result<(), CommandError> {
    let printer = state.printer;
    let connections = state.connections(server)?;
    let prompts = || {
        let each = connections.iter().flat_map(|connection| {
            let items = connection.prompts().items;
            let prompt =
                |it: &Arc<Prompt>| json!({"server": **connection.server(), "prompt": **it});
            items.iter().map(prompt).collect::<Vec<_>>()
        });
        json!({"prompts": each.collect::<Vec<_>>()})
    };
    if state.set_result(prompts) {
        return Ok(());
    }
    let mut none = true;
    for connection in &connections {
        let prompts = connection.prompts().items;
        if prompts.is_empty() && server.is_none() {
            continue;
        }
        none = false;
        let mut table = Table::default();
        for prompt in prompts.iter() {
            let description = prompt.description.as_deref().unwrap_or_default();
            table.add_row([&*prompt.name, &render_arguments(prompt), description]);
        }
        let text = table.render(printer.paint(), printer.width(), 2);
        let heading = format!("{} ({})", connection.server(), pluralize(prompts.len(), "prompt"));
        printer.print_rendered(&format!("{heading}\n{text}")).await?;
    }
    if none {
        printer.note("no connected server has prompts").await;
    }
    Ok(())
}

fn render_arguments(prompt: &Prompt) -> String {
    let names = prompt.arguments.iter().map(|argument| match argument.required {
        true => argument.name.clone(),
        false => format!("[{}]", argument.name),
    });
    names.collect::<Vec<_>>().join(" ")
}

async fn get(
    state: &ShellState<'_>,
    server: &str,
    name: &str,
    words: &[String],
) -> Result<(), CommandError> {
    let connection = state.connection(server)?;
    let mut params = RawJson::from(json!({"name": name}));
    if !words.is_empty() {
        let pairs = parse_pairs(words, values::parse_key_string)?;
        let arguments = values::build_object(&pairs, None)?;
        params = params.with_member("arguments", arguments.view());
    }
    let request = connection.request("prompts/get", params);
    let request = state.requests.prepare(connection.server(), request);
    let response = request.await.map_err(CommandError::Request)?;
    let result = response.to::<GetPromptResult>().map_err(CommandError::Request)?;
    if state.set_response(&response) {
        return Ok(());
    }
    print_messages(&result, state.printer).await
}
