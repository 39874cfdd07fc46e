//! `spar call`: calls a tool, and checks the arguments and the result against its
//! schemas.

use std::path::PathBuf;

use clap::Args;
use serde_json::Value;
use sparring_peer::Response;
use sparring_peer::client::Error;
use sparring_script::did_you_mean;
use sparring_wire::types::{CallToolResult, Tool};
use sparring_wire::{Json, RawJson, Rule};

use crate::args::TargetFlags;
use crate::args::text_source::TextSource;
use crate::args::values::{self, KeyValue};
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::exit::Exit;
use crate::output::binary_file::{self, SavedPart};
use crate::output::{Paint, Printer, content, json};
use crate::schema_check;
use crate::server_questions::AnswerFlags;

/// Maximum number of tool names in one note.
const MAX_NAMES: usize = 20;

const USAGE: &str = "spar call [OPTIONS] <TOOL> [KEY=VALUE]... (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar call echo message=hi -- npx -y @modelcontextprotocol/server-everything
  spar call echo message=hi --url http://127.0.0.1:3001/mcp
  spar call sum a:=2 b:=3 -- python server.py
  spar call search --args '{\"query\": \"rust\", \"limit\": 5}' --json -- ./server
  spar call import --args @arguments.json --unix /tmp/server.sock
  spar call book --answer '{\"name\": \"Ada\"}' --answer decline -- ./server
  spar call get-tiny-image --output tiny.png -- npx -y @modelcontextprotocol/server-everything

On a terminal, progress and log messages of the server are shown, and you answer its
questions. Arguments that break the tool's input schema are sent, with a note. A tool of
--server that a deny rule of the config files names is not called without
--ignore-permissions.";

/// Call a tool
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Call {
    /// The tool's name
    tool: String,

    /// The arguments: KEY=STRING or KEY:=JSON
    #[arg(value_name = "KEY=VALUE", value_parser = values::parse_key_value)]
    arguments: Vec<KeyValue>,

    /// All arguments as one JSON object, or @FILE; KEY=VALUE replaces its members
    #[arg(long, value_name = "JSON")]
    args: Option<TextSource>,

    /// The arguments of both flags.
    #[arg(skip = RawJson::empty_object())]
    merged: RawJson,

    /// Do not list the tools, and do not check arguments and result against the schemas
    #[arg(long)]
    no_validate: bool,

    /// Call the tool even if a rule of the config files denies it
    #[arg(long, conflicts_with_all = ["command", "unix", "url"])]
    ignore_permissions: bool,

    /// Save binary content (images, audio, blobs) to this file, further parts to FILE-2
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    pub(super) answers: AnswerFlags,

    #[command(flatten)]
    pub(super) flags: TargetFlags,
}

impl Call {
    /// Checks that no rule denies the tool of a configured server. The user who names the tool
    /// needs no further confirmation.
    pub(super) fn check_permission(&self) -> Result<(), CommandError> {
        let denied = self.flags.denying_rule(&self.tool).filter(|_| !self.ignore_permissions);
        match denied {
            None => Ok(()),
            Some((server, rule)) => Err(CommandError::Usage(format!(
                "the tool '{}' of `{server}` is denied by rule {rule}; --ignore-permissions calls \
                 it anyway",
                self.tool
            ))),
        }
    }

    /// Reads the arguments of both flags.
    pub(super) async fn read_arguments(&mut self) -> Result<(), CommandError> {
        let mut rest = None;
        if let Some(source) = &self.args {
            let wrong = |error| CommandError::Usage(format!("--args: {error}"));
            let json = source.read_json().await?.map_err(wrong)?;
            if !json.view().is_object() {
                let kind = json.view().kind().name();
                return Err(wrong(format!("expected an object, not {kind}")));
            }
            rest = Some(json);
        }
        self.merged = values::build_object(&self.arguments, rest.as_ref())?;
        binary_file::check(self.output.as_ref())
    }

    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        let printer = connection.printer;
        let tool = match self.no_validate {
            true => None,
            false => self.find_tool(connection).await?,
        };
        if let Some(tool) = &tool {
            note_argument_mismatches(tool, &self.arguments, &self.merged, printer).await;
        }
        self.answers.begin_request(connection);
        let call = connection.client.call_tool(&self.tool, self.merged.clone());
        let response = connection.send(call).await?;
        // Earlier revisions have no output schemas.
        let applies = |revision| Rule::OutputSchema.applies_in(revision);
        let judged = tool.as_ref().filter(|_| connection.client.revision().is_some_and(applies));
        let exit = print_call_result(&self.tool, judged, &response, printer).await?;
        if let Some(path) = self.output.as_ref().filter(|_| !response.is_error()) {
            let result: CallToolResult = response.to().map_err(CommandError::Request)?;
            let parts: Vec<_> = result.content.iter().filter_map(SavedPart::of_block).collect();
            binary_file::save(path, &parts, printer).await?;
        }
        Ok(exit)
    }

    /// Returns the tool as the server lists it. A server that cannot list tools may still
    /// call them. A server that does not answer is not asked again.
    async fn find_tool(&self, connection: &Connection<'_>) -> Result<Option<Tool>, CommandError> {
        let printer = connection.printer;
        let tools = match connection.client.list_tools().await {
            Ok(tools) => tools,
            Err(
                error @ (Error::ErrorResponse { .. }
                | Error::InvalidResult { .. }
                | Error::EndlessList { .. }
                | Error::ListsTooLarge { .. }),
            ) => {
                printer.note(&format!("not validated: {error}")).await;
                return Ok(None);
            }
            Err(error) => return Err(CommandError::Request(error)),
        };
        if !connection.client.capabilities().has("tools") {
            printer.note("not validated: the server does not declare tools").await;
            return Ok(None);
        }
        if let Some(malformed) = tools.malformed_summary() {
            printer.note(&format!("skipped malformed tools: {malformed}")).await;
        }
        let names = || tools.iter().map(|tool| &*tool.name);
        if !names().any(|name| name == self.tool) {
            let question = did_you_mean(&self.tool, names());
            let question = question.unwrap_or_else(|| match tools.is_empty() {
                true => "the server has no tools".to_owned(),
                false => format!("the server has {}", list_names(&names().collect::<Vec<_>>())),
            });
            printer.note(&format!("unknown tool '{}'; {question}", self.tool)).await;
        }
        Ok(tools.into_iter().find(|tool| tool.name == self.tool))
    }
}

/// Prints the result of a call, and returns true if it is good. Checks it against the output
/// schema of `tool`.
///
/// # Errors
/// When the result is unusable, or stdout cannot be written.
pub(super) async fn print_call_result(
    name: &str,
    tool: Option<&Tool>,
    response: &Response,
    printer: &Printer,
) -> Result<Exit, CommandError> {
    // A closed stdout does not change the verdict.
    let shown = print_response(response, printer).await;
    match shown {
        Err(CommandError::Output(_)) | Ok(()) => {}
        Err(failure) => return Err(failure),
    }
    match judge_call_result(name, tool, response, printer).await? {
        Exit::Success => shown.map(|()| Exit::Success),
        exit => shown.or_else(CommandError::ignore_broken_pipe).map(|()| exit),
    }
}

/// Returns the exit code for the result of a call, and prints the reason of a failure.
///
/// # Errors
/// When the response has no result.
pub(super) async fn judge_call_result(
    name: &str,
    tool: Option<&Tool>,
    response: &Response,
    printer: &Printer,
) -> Result<Exit, CommandError> {
    response.require_result().map_err(CommandError::Request)?;
    if response.is_error() {
        printer.error(&format!("tool '{name}' returned isError")).await;
        return Ok(Exit::Failed);
    }
    let is_good = match tool {
        None => true,
        Some(tool) => matches_output_schema(tool, response, printer).await,
    };
    Ok(if is_good { Exit::Success } else { Exit::Failed })
}

/// Prints a note for each place where the arguments break the tool's input schema.
pub(super) async fn note_argument_mismatches(
    tool: &Tool,
    pairs: &[KeyValue],
    merged: &RawJson,
    printer: &Printer,
) {
    let mismatches =
        match schema_check::find_mismatches(&tool.input_schema, merged.view(), "$").await {
            Ok(mismatches) => mismatches,
            Err(error) => {
                let note = "cannot check the arguments against the input schema of";
                return printer.note(&format!("{note} '{}': {error}", tool.name)).await;
            }
        };
    for schema_check::SchemaMismatch { path, member, message } in mismatches {
        let hint = member.and_then(|member| json_hint(pairs, &member)).unwrap_or_default();
        let note = format!("the arguments break the input schema at {path}: {message}{hint}");
        printer.note(&note).await;
    }
}

/// Suggests `:=` for a string that is also other JSON.
fn json_hint(pairs: &[KeyValue], key: &str) -> Option<String> {
    let pair = pairs.iter().rev().find(|pair| pair.key == key)?;
    let text = pair.value.view().as_str()?;
    RawJson::parse(&text).ok().map(|_| format!(" (`{key}:={text}` sends it as JSON)"))
}

async fn print_response(response: &Response, printer: &Printer) -> Result<(), CommandError> {
    let result = response.require_result().map_err(CommandError::Request)?;
    // The structured content is shown as it was spelled, even if its numbers are too
    // large to parse.
    let mut rest = RawJson::from(result);
    if result.is_object() {
        rest = rest.with_member("structuredContent", Json::EMPTY_OBJECT);
    }
    let readable: CallToolResult = rest.view().deserialize().map_err(|error| {
        let (method, reason) = (response.method().to_owned(), error.to_string());
        CommandError::Request(Error::InvalidResult { method, reason })
    })?;
    // `--json` checks the result in the same way.
    match printer.is_json() {
        true => printer.print_result(response).await,
        false => {
            printer
                .print_rendered(&render_result(&readable, response.structured(), printer.paint()))
                .await
        }
    }
}

/// Returns true if the result matches the tool's output schema. Since 2025-06-18,
/// server/tools#output-schema: servers must conform to it.
async fn matches_output_schema(tool: &Tool, response: &Response, printer: &Printer) -> bool {
    let Some(schema) = &tool.output_schema else { return true };
    let Some(structured) = response.structured() else {
        let error = "the result has no structuredContent, which the output schema requires";
        printer.error(error).await;
        return false;
    };
    let mismatches =
        match schema_check::find_mismatches(schema, structured, "$.structuredContent").await {
            Ok(mismatches) => mismatches,
            Err(error) => {
                let note = "cannot check the result against the output schema of";
                printer.note(&format!("{note} '{}': {error}", tool.name)).await;
                return true;
            }
        };
    for schema_check::SchemaMismatch { path, message, .. } in &mismatches {
        let error = format!("the result breaks the output schema at {path}: {message}");
        printer.error(&error).await;
    }
    mismatches.is_empty()
}

/// Joins the first names of a list.
pub(super) fn list_names(names: &[&str]) -> String {
    match names.len().saturating_sub(MAX_NAMES) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MAX_NAMES].join(", ")),
    }
}

/// Renders the content. Leaves out text that only repeats the structured content, which
/// servers send for old clients.
fn render_result(result: &CallToolResult, structured: Option<Json<'_>>, paint: Paint) -> String {
    let value: Option<Value> = structured.and_then(|structured| structured.deserialize().ok());
    let repeats = |text: &str| {
        value.is_some() && serde_json::from_str::<Value>(text).ok() == value
            || structured.is_some_and(|structured| structured.text() == text)
    };
    let blocks = result.content.iter().filter(|block| !block.as_text().is_some_and(repeats));
    let mut text: String = blocks.map(|block| content::render_block(block, paint)).collect();
    if let Some(structured) = structured {
        text.push_str(&format!("{}\n", paint.untrusted(&json::render_pretty(structured))));
    }
    text
}
