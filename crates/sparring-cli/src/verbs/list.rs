//! `spar list`: what the server has.

use clap::{Args, ValueEnum};
use sparring_peer::client::{Error, Listing};
use sparring_wire::error::code;
use sparring_wire::{Json, RawJson};

use crate::args::Shared;
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;
use crate::output::table::Table;

const USAGE: &str = "spar list [OPTIONS] [WHAT]... (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar list -- npx -y @modelcontextprotocol/server-everything
  spar list tools --url http://127.0.0.1:3001/mcp
  spar list resources templates --json --unix /tmp/server.sock

With --json: one object of all lists, each with all its pages, every item as the
server spelled it.";

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
        let declared = |kind: Kind| capabilities.has(kind.listing().capability());
        let asked = !self.kinds.is_empty();
        let printer = session.printer;
        let mut json = RawJson::empty_object();
        let mut shown = Vec::new();
        for kind in Kind::value_variants().iter().copied() {
            if !self.kinds.contains(&kind) && (asked || !declared(kind)) {
                continue;
            }
            let items = match session.client.list(kind.listing()).await {
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
                let what = kind.listing().capability();
                printer.note(&format!("the server does not declare {what}")).await;
            } else if items.is_empty() {
                printer.note(&format!("the server has no {}", kind.title())).await;
            }
            json = json.with_member(kind.listing().field(), array(&items).view());
            shown.push((kind, items.iter().map(|item| kind.row(item.view())).collect()));
        }
        match printer.json() {
            true => printer.print_foreign(format!("{}\n", json.text()).as_bytes()).await?,
            false => show(&shown, printer).await?,
        }
        Ok(Exit::Good)
    }
}

impl Kind {
    /// What a client asks for.
    fn listing(self) -> Listing {
        match self {
            Kind::Tools => Listing::Tools,
            Kind::Resources => Listing::Resources,
            Kind::Templates => Listing::ResourceTemplates,
            Kind::Prompts => Listing::Prompts,
        }
    }

    /// The name for a person.
    fn title(self) -> &'static str {
        match self {
            Kind::Templates => "resource templates",
            other => other.listing().field(),
        }
    }

    /// What is shown of an item.
    fn row(self, item: Json<'_>) -> Vec<String> {
        let text = |name: &str| item.get(name).and_then(Json::as_str).unwrap_or_default();
        let said = match text("description") {
            description if description.is_empty() => text("title"),
            description => description,
        };
        let cells = match self {
            Kind::Tools => vec![text("name"), said],
            Kind::Resources => vec![text("uri"), text("name"), text("mimeType"), said],
            Kind::Templates => vec![text("uriTemplate"), text("name"), text("mimeType"), said],
            Kind::Prompts => vec![text("name"), arguments(item).into(), said],
        };
        cells.into_iter().map(Into::into).collect()
    }
}

/// The arguments of a prompt, those in brackets that may be left out.
fn arguments(prompt: Json<'_>) -> String {
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

fn array(items: &[RawJson]) -> RawJson {
    let items: Vec<&str> = items.iter().map(RawJson::text).collect();
    RawJson::parse(&format!("[{}]", items.join(","))).expect("JSON in brackets is JSON")
}

async fn show(lists: &[(Kind, Vec<Vec<String>>)], printer: &Printer) -> Result<(), Failure> {
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
            printer.print(&format!("{}\n", printer.paint().aside(kind.title()))).await?;
        }
        let indent = if headed { 2 } else { 0 };
        printer.print(&table.render(printer.paint(), printer.width(), indent)).await?;
    }
    Ok(())
}
