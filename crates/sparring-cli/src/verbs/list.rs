//! `spar list`: what the server has.

use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};
use sparring_peer::Client;
use sparring_peer::client::Error;
use sparring_wire::error::code;

use crate::args::Shared;
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;
use crate::output::table::Table;

const USAGE: &str = "spar list [OPTIONS] [WHAT]... (-- <COMMAND>... | --unix <PATH>)";

const EXAMPLES: &str = "\
Examples:
  spar list -- npx -y @modelcontextprotocol/server-everything
  spar list tools -- python server.py
  spar list resources templates --json --unix /tmp/server.sock

With --json: one object of all lists, each with all its pages.";

/// List tools, resources, resource templates and prompts
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct List {
    /// What to list [default: everything that the server declares]
    #[arg(value_name = "WHAT")]
    kinds: Vec<Kind>,

    #[command(flatten)]
    pub(super) shared: Shared,
}

/// What a server can list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    Tools,
    Resources,
    Templates,
    Prompts,
}

impl List {
    pub(super) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        let capabilities = session.client.capabilities();
        let declared = |kind: Kind| capabilities.has(kind.capability());
        let asked = !self.kinds.is_empty();
        let printer = session.printer;
        let mut json = Map::new();
        let mut shown = Vec::new();
        for kind in Kind::value_variants().iter().copied() {
            if !self.kinds.contains(&kind) && (asked || !declared(kind)) {
                continue;
            }
            let items = match kind.list(&session.client).await {
                Ok(items) => items,
                // Many servers with resources know no templates, and not the
                // method either; who did not ask for them misses nothing.
                Err(Error::Refused { error, .. })
                    if kind == Kind::Templates
                        && !asked
                        && error.code == code::METHOD_NOT_FOUND =>
                {
                    continue;
                }
                Err(error) => return Err(Failure::Request(error)),
            };
            if !declared(kind) {
                printer.note(&format!("the server does not declare {}", kind.capability()));
            } else if items.is_empty() {
                printer.note(&format!("the server has no {}", kind.title()));
            }
            let rows = items.iter().map(|item| kind.row(item)).collect();
            json.insert(kind.field().to_owned(), items.into());
            shown.push((kind, rows));
        }
        match printer.json() {
            true => printer.print_json(&Value::Object(json))?,
            false => show(&shown, printer)?,
        }
        Ok(Exit::Good)
    }
}

impl Kind {
    /// The capability without which there is no such list.
    fn capability(self) -> &'static str {
        match self {
            Kind::Tools => "tools",
            Kind::Resources | Kind::Templates => "resources",
            Kind::Prompts => "prompts",
        }
    }

    /// The name of the list in its result.
    fn field(self) -> &'static str {
        match self {
            Kind::Tools => "tools",
            Kind::Resources => "resources",
            Kind::Templates => "resourceTemplates",
            Kind::Prompts => "prompts",
        }
    }

    /// The name for a person.
    fn title(self) -> &'static str {
        match self {
            Kind::Templates => "resource templates",
            other => other.field(),
        }
    }

    /// All items, as JSON.
    async fn list(self, client: &Client) -> Result<Vec<Value>, Error> {
        let items = match self {
            Kind::Tools => json!(client.list_tools().await?),
            Kind::Resources => json!(client.list_resources().await?),
            Kind::Templates => json!(client.list_resource_templates().await?),
            Kind::Prompts => json!(client.list_prompts().await?),
        };
        match items {
            Value::Array(items) => Ok(items),
            _ => Ok(Vec::new()),
        }
    }

    /// What is shown of an item.
    fn row(self, item: &Value) -> Vec<String> {
        let text = |name: &str| item.get(name).and_then(Value::as_str).unwrap_or_default();
        let said = match text("description") {
            "" => text("title"),
            description => description,
        };
        let cells = match self {
            Kind::Tools => vec![text("name"), said],
            Kind::Resources => vec![text("uri"), text("name"), text("mimeType"), said],
            Kind::Templates => vec![text("uriTemplate"), text("name"), text("mimeType"), said],
            Kind::Prompts => {
                return vec![text("name").to_owned(), arguments(item), said.to_owned()];
            }
        };
        cells.into_iter().map(str::to_owned).collect()
    }
}

/// The arguments of a prompt, those in brackets that may be left out.
fn arguments(prompt: &Value) -> String {
    let arguments = prompt.get("arguments").and_then(Value::as_array).into_iter().flatten();
    let names = arguments.map(|argument| {
        let name = argument.get("name").and_then(Value::as_str).unwrap_or_default();
        match argument.get("required").and_then(Value::as_bool) {
            Some(true) => name.to_owned(),
            _ => format!("[{name}]"),
        }
    });
    names.collect::<Vec<_>>().join(" ")
}

fn show(lists: &[(Kind, Vec<Vec<String>>)], printer: &Printer) -> Result<(), Failure> {
    let headed = lists.len() > 1;
    for (kind, rows) in lists {
        if rows.is_empty() {
            continue;
        }
        let mut table = Table::default();
        for row in rows {
            table.row(row.iter().map(String::as_str));
        }
        if headed {
            printer.print(&format!("{}\n", printer.paint().aside(kind.title())))?;
        }
        let indent = if headed { 2 } else { 0 };
        printer.print(&table.render(printer.paint(), printer.width(), indent))?;
    }
    Ok(())
}
