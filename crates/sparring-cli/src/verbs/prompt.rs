//! `spar prompt`: gets a prompt.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use sparring_wire::RawJson;
use sparring_wire::types::GetPromptResult;

use crate::args::TargetFlags;
use crate::args::values::{self, KeyValue};
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::exit::Exit;
use crate::output::binary_file::{self, SavedPart};
use crate::output::{Printer, content, line};
use crate::server_questions::AnswerFlags;

const USAGE: &str = "spar prompt [OPTIONS] <NAME> [KEY=VALUE]... (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar prompt simple-prompt -- npx -y @modelcontextprotocol/server-everything
  spar prompt greeting name=Ada tone=formal -- python server.py
  spar prompt greeting name=Ada --json --url http://127.0.0.1:3001/mcp";

/// Get a prompt
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Prompt {
    /// The prompt's name
    name: String,

    /// The arguments, which are strings
    #[arg(value_name = "KEY=VALUE", value_parser = values::parse_key_string)]
    arguments: Vec<KeyValue>,

    /// Save binary content (images, audio, blobs) to this file, further parts to FILE-2
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) answers: AnswerFlags,

    #[command(flatten)]
    pub(super) flags: TargetFlags,
}

impl Prompt {
    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        let mut params = RawJson::from(json!({"name": self.name}));
        if !self.arguments.is_empty() {
            let arguments = values::build_object(&self.arguments, None)?;
            params = params.with_member("arguments", arguments.view());
        }
        self.answers.begin_request(connection);
        let request = connection.client.request("prompts/get", Some(params));
        let response = connection.send(request).await?;
        let result = response.to::<GetPromptResult>().map_err(CommandError::Request)?;
        let printer = connection.printer;
        match printer.is_json() {
            true => printer.print_result(&response).await?,
            false => print_messages(&result, printer).await?,
        }
        if let Some(path) = &self.output {
            let blocks = result.messages.iter().map(|message| &message.content);
            let parts: Vec<_> = blocks.filter_map(SavedPart::of_block).collect();
            binary_file::save(path, &parts, printer).await?;
        }
        Ok(Exit::Success)
    }

    /// Checks the file of `--output`.
    pub(super) fn check_output(&self) -> Result<(), CommandError> {
        binary_file::check(self.output.as_ref())
    }
}

/// Prints the messages of a prompt.
///
/// # Errors
/// When stdout cannot be written.
pub(super) async fn print_messages(
    result: &GetPromptResult,
    printer: &Printer,
) -> Result<(), CommandError> {
    for message in &result.messages {
        let role = printer.paint().heading(&format!("{}:", line::clean(&message.role)));
        let text = content::render_block(&message.content, printer.paint());
        let text: String = text.lines().map(|line| format!("  {line}\n")).collect();
        printer.print_rendered(&format!("{role}\n{text}")).await?;
    }
    Ok(())
}
