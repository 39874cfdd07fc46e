//! `spar read`: reads a resource.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use sparring_wire::types::ReadResourceResult;

use crate::args::TargetFlags;
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::exit::Exit;
use crate::output::binary_file::{self, SavedPart};
use crate::output::{Printer, content, line};
use crate::server_questions::AnswerFlags;

const USAGE: &str =
    "spar read [OPTIONS] <URI> (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar read file:///notes.txt --url http://127.0.0.1:3001/mcp
  spar read demo://resource/static/document/features.md -- npx -y @modelcontextprotocol/server-everything
  spar read demo://logo --output logo.png --url http://127.0.0.1:3001/mcp
  spar read db://users/1 --json --unix /tmp/server.sock";

/// Read a resource
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Read {
    /// The resource's URI
    uri: String,

    /// Save the contents to this file instead of printing them, further parts to FILE-2
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) answers: AnswerFlags,

    #[command(flatten)]
    pub(super) flags: TargetFlags,
}

impl Read {
    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        let params = json!({"uri": self.uri});
        self.answers.begin_request(connection);
        let request = connection.client.request("resources/read", Some(params.into()));
        let response = connection.send(request).await?;
        let result = response.to::<ReadResourceResult>().map_err(CommandError::Request)?;
        let printer = connection.printer;
        if let Some(path) = &self.output {
            let parts = result.contents.iter().filter_map(SavedPart::of_resource);
            binary_file::save(path, &parts.collect::<Vec<_>>(), printer).await?;
        }
        if printer.is_json() {
            printer.print_result(&response).await?;
        } else if self.output.is_none() {
            print_contents(&result, printer).await?;
        }
        Ok(Exit::Success)
    }

    /// Checks the file of `--output`.
    pub(super) fn check_output(&self) -> Result<(), CommandError> {
        binary_file::check(self.output.as_ref())
    }
}

/// Prints the contents of a resource.
///
/// # Errors
/// When stdout cannot be written.
pub(super) async fn print_contents(
    result: &ReadResourceResult,
    printer: &Printer,
) -> Result<(), CommandError> {
    for contents in &result.contents {
        // A single text is printed unchanged, so that it can be redirected to a file.
        if result.contents.len() > 1 {
            let uri = format!("[resource {}]", line::clean(&contents.uri));
            printer.print(&format!("{}\n", printer.paint().dim(&uri))).await?;
        }
        printer.print_rendered(&content::render_resource(contents, printer.paint())).await?;
    }
    Ok(())
}
