//! `spar call`: calls a tool, and holds arguments and result against its
//! schemas.

use clap::Args;
use serde_json::Value;
use sparring_peer::Response;
use sparring_peer::client::Error;
use sparring_wire::RawJson;
use sparring_wire::types::{CallToolResult, Tool};

use crate::args::Shared;
use crate::args::given;
use crate::args::pair::{self, Pair};
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Paint, Printer, content};
use crate::{nearest, schema};

/// The most names of tools in one note.
const MOST_NAMES: usize = 20;

const USAGE: &str = "spar call [OPTIONS] <TOOL> [KEY=VALUE]... (-- <COMMAND>... | --unix <PATH>)";

const EXAMPLES: &str = "\
Examples:
  spar call echo message=hi -- npx -y @modelcontextprotocol/server-everything
  spar call sum a:=2 b:=3 -- python server.py
  spar call search --args '{\"query\": \"rust\", \"limit\": 5}' --json -- ./server
  spar call import --args @arguments.json --unix /tmp/server.sock

Arguments that break the tool's input schema are noted, and sent all the same.";

/// Call a tool
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Call {
    /// The tool's name
    tool: String,

    /// Its arguments: KEY=STRING or KEY:=JSON
    #[arg(value_name = "KEY=VALUE", value_parser = pair::any)]
    arguments: Vec<Pair>,

    /// All arguments as one JSON object, in a file with @FILE; KEY=VALUE goes
    /// before what stands here
    #[arg(long, value_name = "JSON", value_parser = given::object)]
    args: Option<RawJson>,

    /// Do not ask for the tool's schemas, and check nothing against them
    #[arg(long)]
    no_validate: bool,

    #[command(flatten)]
    pub(super) shared: Shared,
}

impl Call {
    pub(super) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        let printer = session.printer;
        let arguments = pair::object(&self.arguments, self.args.as_ref());
        let tool = match self.no_validate {
            true => None,
            false => self.look_up(&session).await?,
        };
        if let Some(tool) = &tool {
            self.note_breaches(tool, &arguments, printer);
        }
        let call = session.client.call_tool(&self.tool, arguments);
        let response = call.await.map_err(Failure::Request)?;
        self.show(&response, printer)?;
        if response.is_error() {
            printer.error(&format!("the tool '{}' says that it failed", self.tool));
            return Ok(Exit::Failed);
        }
        Ok(match tool.is_none_or(|tool| self.fits(&tool, &response, printer)) {
            true => Exit::Good,
            false => Exit::Failed,
        })
    }

    /// The tool as the server lists it. A server that cannot list may still be
    /// able to call; one that does not answer is not asked twice.
    async fn look_up(&self, session: &Session<'_>) -> Result<Option<Tool>, Failure> {
        let printer = session.printer;
        let tools = match session.client.list_tools().await {
            Ok(tools) => tools,
            Err(
                error
                @ (Error::Refused { .. } | Error::Unusable { .. } | Error::EndlessList { .. }),
            ) => {
                printer.note(&format!("nothing is validated: {error}"));
                return Ok(None);
            }
            Err(error) => return Err(Failure::Request(error)),
        };
        if !session.client.capabilities().has("tools") {
            printer.note("nothing is validated: the server does not declare tools");
            return Ok(None);
        }
        let names = || tools.iter().map(|tool| &*tool.name);
        if !names().any(|name| name == self.tool) {
            let question = nearest::question(&self.tool, names());
            let question = question.unwrap_or_else(|| match tools.is_empty() {
                true => "the server has none".to_owned(),
                false => format!("the server has {}", some(&names().collect::<Vec<_>>())),
            });
            printer.note(&format!("unknown tool '{}'; {question}", self.tool));
        }
        Ok(tools.into_iter().find(|tool| tool.name == self.tool))
    }

    fn note_breaches(&self, tool: &Tool, arguments: &RawJson, printer: &Printer) {
        let value: Value = arguments.view().to().unwrap_or_default();
        match schema::breaches(&tool.input_schema, &value, "$") {
            Err(error) => printer
                .note(&format!("the input schema of '{}' cannot be used: {error}", tool.name)),
            Ok(breaches) => {
                for schema::Breach { path, member, message } in breaches {
                    let hint = member.and_then(|member| self.hint(&member)).unwrap_or_default();
                    printer.note(&format!(
                        "the arguments break the input schema at {path}: {message}{hint}"
                    ));
                }
            }
        }
    }

    /// What to write for a string that looks like other JSON.
    fn hint(&self, key: &str) -> Option<String> {
        let pair = self.arguments.iter().rev().find(|pair| pair.key == key)?;
        let text = pair.value.view().as_str()?;
        RawJson::parse(&text).ok().map(|_| format!(" (`{key}:={text}` sends it as JSON)"))
    }

    fn show(&self, response: &Response, printer: &Printer) -> Result<(), Failure> {
        // What a person could not be shown, a program cannot use either.
        let readable = response.to::<CallToolResult>().map_err(Failure::Request)?;
        match response.result() {
            Some(result) if printer.json() => printer.print(&format!("{}\n", result.text())),
            _ => printer.print(&shown(&readable, printer.paint())),
        }
    }

    /// Whether the result is as the tool's output schema wants it. Since
    /// 2025-06-18, server/tools#output-schema: servers must conform to it.
    fn fits(&self, tool: &Tool, response: &Response, printer: &Printer) -> bool {
        let Some(schema) = &tool.output_schema else { return true };
        let Some(structured) = response.structured() else {
            printer.error("the result has no structuredContent, which the output schema describes");
            return false;
        };
        let value: Value = structured.to().unwrap_or_default();
        match schema::breaches(schema, &value, "$.structuredContent") {
            Err(error) => {
                printer
                    .note(&format!("the output schema of '{}' cannot be used: {error}", tool.name));
                true
            }
            Ok(breaches) => {
                for schema::Breach { path, message, .. } in &breaches {
                    printer.error(&format!(
                        "the result breaks the output schema at {path}: {message}"
                    ));
                }
                breaches.is_empty()
            }
        }
    }
}

/// The first of many names.
fn some(names: &[&str]) -> String {
    match names.len().saturating_sub(MOST_NAMES) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
    }
}

/// Content as it reads best. Text that only repeats the structured content, as
/// servers send it for old clients, is left out.
fn shown(result: &CallToolResult, paint: Paint) -> String {
    let structured = result.structured_content.as_ref();
    let repeats = |text: &str| {
        structured.is_some() && serde_json::from_str::<Value>(text).ok().as_ref() == structured
    };
    let blocks = result.content.iter().filter(|block| !block.as_text().is_some_and(repeats));
    let mut text: String = blocks.map(|block| content::block(block, paint)).collect();
    text.extend(structured.map(content::pretty));
    text
}
