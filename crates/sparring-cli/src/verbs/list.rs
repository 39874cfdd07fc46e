//! `spar list`: lists the tools, resources, templates and prompts of a server.

use clap::{Args, ValueEnum};
use serde_json::Value;
use sparring_peer::client::{Error, ListKind};
use sparring_wire::error::code;
use sparring_wire::{Json, RawJson};

use crate::args::TargetFlags;
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::exit::Exit;
use crate::output::Printer;
use crate::output::table::Table;
use crate::output::tool_arguments::render_short_arguments;

const USAGE: &str = "spar list [OPTIONS] [KIND]... (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar list -- npx -y @modelcontextprotocol/server-everything
  spar list tools --url http://127.0.0.1:3001/mcp
  spar list resources templates --json --unix /tmp/server.sock

A tool is shown with its arguments, such as a:integer, optional ones in brackets;
`spar describe TOOL` shows the rest. With --json: one object with all lists, each with all its pages, every item as the
server spelled it.";

/// List tools, resources, resource templates and prompts
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct List {
    /// The lists to print [default: all that the server declares]
    #[arg(value_name = "KIND")]
    kinds: Vec<ListArgument>,

    #[command(flatten)]
    pub(super) flags: TargetFlags,
}

/// A list that the user can name as an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ListArgument {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl List {
    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        let capabilities = connection.client.capabilities();
        let declared = |kind: ListArgument| capabilities.has(kind.kind().capability());
        let asked = !self.kinds.is_empty();
        let printer = connection.printer;
        let mut json = RawJson::empty_object();
        let mut shown = Vec::new();
        for kind in ListArgument::value_variants().iter().copied() {
            if !self.kinds.contains(&kind) && (asked || !declared(kind)) {
                continue;
            }
            let items = match connection.client.list(kind.kind()).await {
                Ok(items) => items,
                // Many servers with resources do not implement the method for
                // templates. That is not an error if the user did not ask for
                // templates.
                Err(Error::ErrorResponse { error, .. })
                    if kind == ListArgument::Templates
                        && !asked
                        && error.code == code::METHOD_NOT_FOUND =>
                {
                    continue;
                }
                Err(error) => return Err(CommandError::Request(error)),
            };
            if !declared(kind) {
                let what = kind.kind().capability();
                printer.note(&format!("the server does not declare {what}")).await;
            } else if items.is_empty() {
                printer.note(&format!("the server has no {}", kind.title())).await;
            }
            json = json.with_member(kind.kind().field(), to_array(&items).view());
            shown.push((
                kind,
                items.iter().map(|item| kind.to_row(item.view(), printer.width())).collect(),
            ));
        }
        match printer.is_json() {
            true => printer.print_untrusted(format!("{}\n", json.text()).as_bytes()).await?,
            false => print_lists(&shown, printer).await?,
        }
        Ok(Exit::Success)
    }
}

impl ListArgument {
    fn kind(self) -> ListKind {
        match self {
            ListArgument::Tools => ListKind::Tools,
            ListArgument::Resources => ListKind::Resources,
            ListArgument::Templates => ListKind::ResourceTemplates,
            ListArgument::Prompts => ListKind::Prompts,
        }
    }

    /// The name in headings and notes.
    fn title(self) -> &'static str {
        match self {
            ListArgument::Templates => "resource templates",
            other => other.kind().field(),
        }
    }

    /// Returns the cells of an item.
    fn to_row(self, item: Json<'_>, width: Option<usize>) -> Vec<String> {
        let text = |name: &str| item.get(name).and_then(Json::as_str).unwrap_or_default();
        let description = match text("description") {
            description if description.is_empty() => text("title"),
            description => description,
        };
        let cells = match self {
            ListArgument::Tools => {
                let schema = item.get("inputSchema").and_then(|it| it.deserialize::<Value>().ok());
                let arguments = schema.map(|schema| render_short_arguments(&schema, width));
                let arguments = arguments.unwrap_or_default();
                vec![text("name"), arguments.into(), description]
            }
            ListArgument::Resources => {
                vec![text("uri"), text("name"), text("mimeType"), description]
            }
            ListArgument::Templates => {
                vec![text("uriTemplate"), text("name"), text("mimeType"), description]
            }
            ListArgument::Prompts => {
                vec![text("name"), render_prompt_arguments(item).into(), description]
            }
        };
        cells.into_iter().map(Into::into).collect()
    }
}

/// Renders the arguments of a prompt, optional ones in brackets.
fn render_prompt_arguments(prompt: Json<'_>) -> String {
    let arguments = prompt.get("arguments").into_iter().flat_map(Json::items);
    let names = arguments.map(|argument| {
        let name = argument.get("name").and_then(Json::as_str).unwrap_or_default();
        match argument.get("required").and_then(Json::as_bool) {
            Some(true) => name.into_owned(),
            _ => format!("[{name}]"),
        }
    });
    names.collect::<Vec<_>>().join(" ")
}

fn to_array(items: &[RawJson]) -> RawJson {
    let items: Vec<&str> = items.iter().map(RawJson::text).collect();
    RawJson::parse(&format!("[{}]", items.join(","))).expect("JSON in brackets is JSON")
}

async fn print_lists(
    lists: &[(ListArgument, Vec<Vec<String>>)],
    printer: &Printer,
) -> Result<(), CommandError> {
    let headed = lists.len() > 1;
    for (kind, rows) in lists {
        if rows.is_empty() {
            continue;
        }
        let mut table = Table::default();
        for row in rows {
            table.add_row(row.iter().map(String::as_str));
        }
        if headed {
            printer.print(&format!("{}\n", printer.paint().dim(kind.title()))).await?;
        }
        let indent = if headed { 2 } else { 0 };
        printer.print(&table.render(printer.paint(), printer.width(), indent)).await?;
    }
    Ok(())
}
