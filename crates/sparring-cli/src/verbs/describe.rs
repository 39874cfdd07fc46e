//! `spar describe`: shows one tool with its schemas, and a call to copy.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ffi::OsString;

use clap::Args;
use serde_json::Value;
use sparring_peer::client::ListKind;
use sparring_script::did_you_mean;
use sparring_suite::scaffold::Trial;
use sparring_wire::{Json, RawJson};

use super::call::list_names;
use crate::args::TargetFlags;
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::exit::Exit;
use crate::output::table::Table;
use crate::output::tool_arguments::render_type;
use crate::output::{Printer, json as json_text, line};

const USAGE: &str = "spar describe [OPTIONS] <TOOL> (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar describe echo -- npx -y @modelcontextprotocol/server-everything
  spar describe get_weather --url http://127.0.0.1:3001/mcp
  spar describe query --json --server database

With --json: {\"tool\":…,\"call\":…}, the tool as the server spelled it.";

/// Show a tool: description, arguments, schemas, and a call to copy
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Describe {
    /// The tool's name
    tool: String,

    #[command(flatten)]
    pub(super) flags: TargetFlags,

    /// The words of the command line, for the call to copy.
    #[arg(skip)]
    words: Vec<String>,
}

impl Describe {
    /// Keeps the words of the command line.
    pub(crate) fn set_words(&mut self, words: &[OsString]) {
        self.words = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    }

    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        let printer = connection.printer;
        let listed =
            connection.client.list(ListKind::Tools).await.map_err(CommandError::Request)?;
        let name = |tool: &RawJson| {
            tool.view().get("name").and_then(Json::as_str).map(|name| name.into_owned())
        };
        let Some(tool) = listed.iter().find(|tool| name(tool).as_ref() == Some(&self.tool)) else {
            let names: Vec<String> = listed.iter().filter_map(name).collect();
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            let hint = did_you_mean(&self.tool, names.iter().copied());
            let hint = hint.unwrap_or_else(|| match names.is_empty() {
                true => "the server has no tools".to_owned(),
                false => format!("the server has {}", list_names(&names)),
            });
            return Err(CommandError::Usage(format!("unknown tool '{}'; {hint}", self.tool)));
        };
        let readable: Value = tool.view().deserialize().map_err(|error| {
            CommandError::Request(sparring_peer::client::Error::InvalidResult {
                method: ListKind::Tools.method().to_owned(),
                reason: format!("tool '{}': {error}", self.tool),
            })
        })?;
        let call = self.call(&readable);
        if printer.is_json() {
            let text = RawJson::empty_object()
                .with_member("tool", tool.view())
                .with_member("call", RawJson::string(&call).view());
            printer.print_untrusted(format!("{}\n", text.text()).as_bytes()).await?;
            return Ok(Exit::Success);
        }
        print_tool(tool.view(), &readable, &call, printer).await?;
        Ok(Exit::Success)
    }

    /// The same command line with `call`, and sample arguments.
    fn call(&self, tool: &Value) -> String {
        let arguments = Trial::from_tool(tool, true).arguments;
        let arguments = arguments.as_object().into_iter().flatten();
        let arguments = arguments.map(|(name, value)| match value {
            Value::String(text) => format!("{name}={text}"),
            value => format!("{name}:={value}"),
        });
        let words = self.words.iter().skip(1).position(|word| word == "--").map(|at| at + 1);
        let (ours, target) = self.words.split_at(words.unwrap_or(self.words.len()));
        let mut call = vec!["spar".to_owned(), "call".to_owned(), self.tool.clone()];
        call.extend(arguments);
        // The words before `--` without the program, the verb and the tool.
        let mut is_tool_left = true;
        for word in ours.iter().skip(2) {
            if *word == self.tool && std::mem::take(&mut is_tool_left) || word == "--json" {
                continue;
            }
            call.push(word.clone());
        }
        call.extend(target.iter().cloned());
        call.iter().map(|word| quote(word)).collect::<Vec<_>>().join(" ")
    }
}

/// Quotes a word for a shell, if it needs quotes.
fn quote(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.into(),
        false => shlex::try_quote(word).unwrap_or_else(|_| word.into()),
    }
}

async fn print_tool(
    tool: Json<'_>,
    readable: &Value,
    call: &str,
    printer: &Printer,
) -> Result<(), CommandError> {
    let paint = printer.paint();
    let text = |name: &str| readable[name].as_str().unwrap_or_default();
    let title = readable["title"].as_str().or_else(|| readable["annotations"]["title"].as_str());
    let title = title.map(|title| format!(": {}", line::clean(title))).unwrap_or_default();
    let mut shown = format!("{}{title}\n", paint.heading(&line::clean(text("name"))));
    for line in text("description").trim_end().lines() {
        shown.push_str(&format!("  {}\n", paint.untrusted(line)));
    }
    let arguments = argument_table(&readable["inputSchema"]);
    if let Some(table) = arguments {
        shown.push_str(&format!("{}\n", paint.dim("arguments")));
        shown.push_str(&table.render(paint, printer.width(), 2));
    }
    for (heading, member) in [
        ("input schema", "inputSchema"),
        ("output schema", "outputSchema"),
        ("annotations", "annotations"),
    ] {
        let Some(value) = tool.get(member) else { continue };
        shown.push_str(&format!("{}\n", paint.dim(heading)));
        for line in json_text::render_pretty(value).lines() {
            shown.push_str(&format!("  {}\n", paint.untrusted(line)));
        }
    }
    shown.push_str(&format!("{}\n  {}\n", paint.dim("call"), paint.untrusted(call)));
    printer.print(&shown).await
}

/// One row for each argument; nothing if the tool has none.
fn argument_table(schema: &Value) -> Option<Table> {
    let properties = schema["properties"].as_object().filter(|all| !all.is_empty())?;
    let required = schema["required"].as_array().into_iter().flatten();
    let required: HashSet<&str> = required.filter_map(Value::as_str).collect();
    let mut table = Table::default();
    for (name, property) in properties {
        let need = if required.contains(name.as_str()) { "required" } else { "optional" };
        let need = match property.get("default") {
            Some(default) => format!("{need}, default {default}"),
            None => need.to_owned(),
        };
        let choices = property["enum"].as_array().map(|choices| {
            let choices: Vec<String> = choices.iter().map(Value::to_string).collect();
            format!("one of {}", choices.join(", "))
        });
        let about = property["description"].as_str().map(str::to_owned);
        let about: Vec<String> = about.into_iter().chain(choices).collect();
        let kind = render_type(property).unwrap_or_default();
        table.add_row([name.as_str(), &kind, &need, &about.join("; ")]);
    }
    Some(table)
}
