//! `spar call`: calls a tool, and holds arguments and result against its
//! schemas.

use clap::Args;
use serde_json::Value;
use sparring_peer::Response;
use sparring_peer::client::Error;
use sparring_script::did_you_mean;
use sparring_wire::types::{CallToolResult, Tool};
use sparring_wire::{Json, RawJson};

use crate::args::Shared;
use crate::args::given::Given;
use crate::args::pair::{self, Pair};
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Paint, Printer, content, json};
use crate::schema;

/// The most names of tools in one note.
const MOST_NAMES: usize = 20;

const USAGE: &str = "spar call [OPTIONS] <TOOL> [KEY=VALUE]... (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar call echo message=hi -- npx -y @modelcontextprotocol/server-everything
  spar call echo message=hi --url http://127.0.0.1:3001/mcp
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
    #[arg(long, value_name = "JSON")]
    args: Option<Given>,

    /// What both say together.
    #[arg(skip = RawJson::empty_object())]
    together: RawJson,

    /// Do not ask for the tool's schemas, and check nothing against them
    #[arg(long)]
    no_validate: bool,

    #[command(flatten)]
    pub(super) shared: Shared,
}

impl Call {
    /// Reads the arguments.
    pub(super) async fn prepare(&mut self) -> Result<(), Failure> {
        let mut rest = None;
        if let Some(given) = &self.args {
            let wrong = |error| Failure::Usage(format!("--args: {error}"));
            let json = given.read_json().await?.map_err(wrong)?;
            if !json.view().is_object() {
                let kind = json.view().kind().name();
                return Err(wrong(format!("arguments are an object, not {kind}")));
            }
            rest = Some(json);
        }
        self.together = pair::object(&self.arguments, rest.as_ref());
        Ok(())
    }

    pub(super) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        let printer = session.printer;
        let tool = match self.no_validate {
            true => None,
            false => self.look_up(&session).await?,
        };
        if let Some(tool) = &tool {
            note_breaches(tool, &self.arguments, &self.together, printer).await;
        }
        let call = session.client.call_tool(&self.tool, self.together.clone());
        let response = call.await.map_err(Failure::Request)?;
        tell(&self.tool, tool.as_ref(), &response, printer).await
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
                printer.note(&format!("nothing is validated: {error}")).await;
                return Ok(None);
            }
            Err(error) => return Err(Failure::Request(error)),
        };
        if !session.client.capabilities().has("tools") {
            printer.note("nothing is validated: the server does not declare tools").await;
            return Ok(None);
        }
        if let Some(malformed) = tools.malformed_summary() {
            printer.note(&format!("malformed tools are left out: {malformed}")).await;
        }
        let names = || tools.iter().map(|tool| &*tool.name);
        if !names().any(|name| name == self.tool) {
            let question = did_you_mean(&self.tool, names());
            let question = question.unwrap_or_else(|| match tools.is_empty() {
                true => "the server has none".to_owned(),
                false => format!("the server has {}", some(&names().collect::<Vec<_>>())),
            });
            printer.note(&format!("unknown tool '{}'; {question}", self.tool)).await;
        }
        Ok(tools.into_iter().find(|tool| tool.name == self.tool))
    }
}

/// Tells what came of a call, and whether it is good.
///
/// # Errors
/// When the result cannot be used, or nobody takes it.
pub(super) async fn tell(
    name: &str,
    tool: Option<&Tool>,
    response: &Response,
    printer: &Printer,
) -> Result<Exit, Failure> {
    // Whether somebody reads it does not make a result better.
    let shown = show(response, printer).await;
    match shown {
        Err(Failure::Output(_)) | Ok(()) => {}
        Err(failure) => return Err(failure),
    }
    if response.is_error() {
        printer.error(&format!("the tool '{name}' says that it failed")).await;
    } else if match tool {
        None => true,
        Some(tool) => fits(tool, response, printer).await,
    } {
        return shown.map(|()| Exit::Good);
    }
    shown.or_else(Failure::unless_loud).map(|()| Exit::Failed)
}

/// Notes where arguments break the tool's input schema.
pub(super) async fn note_breaches(
    tool: &Tool,
    pairs: &[Pair],
    together: &RawJson,
    printer: &Printer,
) {
    let breaches = match schema::breaches(&tool.input_schema, together.view(), "$").await {
        Ok(breaches) => breaches,
        Err(error) => {
            let note = "the arguments are not held against the input schema of";
            return printer.note(&format!("{note} '{}': {error}", tool.name)).await;
        }
    };
    for schema::Breach { path, member, message } in breaches {
        let hint = member.and_then(|member| hint(pairs, &member)).unwrap_or_default();
        let note = format!("the arguments break the input schema at {path}: {message}{hint}");
        printer.note(&note).await;
    }
}

/// What to write for a string that looks like other JSON.
fn hint(pairs: &[Pair], key: &str) -> Option<String> {
    let pair = pairs.iter().rev().find(|pair| pair.key == key)?;
    let text = pair.value.view().as_str()?;
    RawJson::parse(&text).ok().map(|_| format!(" (`{key}:={text}` sends it as JSON)"))
}

async fn show(response: &Response, printer: &Printer) -> Result<(), Failure> {
    let result = response.good_result().map_err(Failure::Request)?;
    // Its structure is shown as it is spelled, also where nobody could
    // reckon with its numbers.
    let mut rest = RawJson::from(result);
    if result.is_object() {
        rest = rest.with_member("structuredContent", Json::EMPTY_OBJECT);
    }
    let readable: CallToolResult = rest.view().to().map_err(|error| {
        let (method, reason) = (response.method().to_owned(), error.to_string());
        Failure::Request(Error::Unusable { method, reason })
    })?;
    // What a person could not be shown, a program cannot use either.
    match printer.json() {
        true => printer.print_result(response).await,
        false => printer.print(&shown(&readable, response.structured(), printer.paint())).await,
    }
}

/// Whether the result is as the tool's output schema wants it. Since
/// 2025-06-18, server/tools#output-schema: servers must conform to it.
async fn fits(tool: &Tool, response: &Response, printer: &Printer) -> bool {
    let Some(schema) = &tool.output_schema else { return true };
    let Some(structured) = response.structured() else {
        let error = "the result has no structuredContent, which the output schema describes";
        printer.error(error).await;
        return false;
    };
    let breaches = match schema::breaches(schema, structured, "$.structuredContent").await {
        Ok(breaches) => breaches,
        Err(error) => {
            let note = "the result is not held against the output schema of";
            printer.note(&format!("{note} '{}': {error}", tool.name)).await;
            return true;
        }
    };
    for schema::Breach { path, message, .. } in &breaches {
        let error = format!("the result breaks the output schema at {path}: {message}");
        printer.error(&error).await;
    }
    breaches.is_empty()
}

/// The first of many names.
pub(super) fn some(names: &[&str]) -> String {
    match names.len().saturating_sub(MOST_NAMES) {
        0 => names.join(", "),
        more => format!("{} and {more} more", names[..MOST_NAMES].join(", ")),
    }
}

/// Content as it reads best. Text that only repeats the structured content, as
/// servers send it for old clients, is left out.
fn shown(result: &CallToolResult, structured: Option<Json<'_>>, paint: Paint) -> String {
    let value: Option<Value> = structured.and_then(|structured| structured.to().ok());
    let repeats = |text: &str| {
        value.is_some() && serde_json::from_str::<Value>(text).ok() == value
            || structured.is_some_and(|structured| structured.text() == text)
    };
    let blocks = result.content.iter().filter(|block| !block.as_text().is_some_and(repeats));
    let mut text: String = blocks.map(|block| content::block(block, paint)).collect();
    if let Some(structured) = structured {
        text.push_str(&format!("{}\n", paint.foreign(&json::pretty(structured))));
    }
    text
}
