//! `spar codegen`: the server's tools as a Rust module, written, or held against
//! one that is there.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use sparring_codegen::{Source, is_type_name, module};
use sparring_host::permissions::Glob;
use sparring_peer::client::{Error, Listing};
use sparring_script::unified_diff;
use sparring_wire::Json;

use super::call::some;
use crate::args::Shared;
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Printer, line};
use crate::report::Destination;

const USAGE: &str =
    "spar codegen [OPTIONS] (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar codegen --output tests/everything.rs -- npx -y @modelcontextprotocol/server-everything
  spar codegen --check tests/everything.rs -- npx -y @modelcontextprotocol/server-everything
  spar codegen --name Search --tool 'search_*' --url http://127.0.0.1:3001/mcp

The module needs the crate `sparring` and nothing else:
  let client = EverythingClient::new(Client::connect(target).await?);
  let response = client.echo(Echo::new(\"hi\")).await?;
A tool with an output schema gives a struct, any other one the response.

Exit codes: 1 when the file of --check is not the module, 3 when the server has
no tools or a schema that cannot be read.

With --json: {\"module\":…}, {\"file\":…,\"written\":…} with --output, and
{\"file\":…,\"same\":…,\"diff\":…} with --check.";

/// Write a Rust module with a typed method for each tool
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Codegen {
    /// Write the module to this file instead of stdout; it is replaced as a
    /// whole, and left alone where it is the same already
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    output: Option<PathBuf>,

    /// Write nothing, and say whether this file is the module: if not, what
    /// differs is shown, and the exit code is 1
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,

    /// What the module's client is called; after the server if nothing else is
    /// said
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Only the tools with such names, in which * stands for anything; may be
    /// repeated
    #[arg(long, value_name = "GLOB")]
    tool: Vec<String>,

    /// Where to write to.
    #[arg(skip)]
    destination: Option<Destination>,

    /// What is in the file already.
    #[arg(skip)]
    found: Option<String>,

    #[command(flatten)]
    pub(super) shared: Shared,
}

impl Codegen {
    /// Looks at the name and the files, before anything is started.
    pub(super) async fn prepare(&mut self) -> Result<(), Failure> {
        if let Some(name) = self.name.as_deref().filter(|name| !is_type_name(name)) {
            let why = "must be letters and digits, the first a capital, and no name of Rust's own";
            return Err(Failure::Usage(format!("--name: '{}' {why}", line::clean(name))));
        }
        if let Some(path) = &self.check {
            self.found = Some(read(path).await?);
        }
        if let Some(path) = &self.output {
            self.destination = Some(Destination::of(path)?);
            // A pipe would wait for somebody to write.
            if path.is_file() {
                self.found = read(path).await.ok();
            }
        }
        Ok(())
    }

    pub(super) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        let tools = self.tools(&session).await?;
        let info = session.client.session().and_then(|session| session.server_info.as_ref());
        let text = module(&Source {
            server: info.map(|info| &*info.name).unwrap_or_default(),
            version: info.map(|info| &*info.version).unwrap_or_default(),
            name: self.name.as_deref(),
            flags: &self.flags(),
            tools: &tools,
        });
        let text = text.map_err(|error| unusable(error.to_string()))?;
        let printer = session.printer;
        match (&self.check, &self.output, &self.destination) {
            (Some(path), ..) => self.compare(path, &text, printer).await,
            (None, Some(path), Some(to)) => self.write(path, to, &text, printer).await,
            _ if printer.json() => {
                printer.print_json(&json!({"module": text})).await?;
                Ok(Exit::Good)
            }
            _ => {
                printer.print(&text).await?;
                Ok(Exit::Good)
            }
        }
    }

    /// The tools that are wanted, as the server spelled them.
    async fn tools(&self, session: &Session<'_>) -> Result<Vec<Value>, Failure> {
        if !session.client.capabilities().has(Listing::Tools.capability()) {
            return Err(Failure::NoTools("the server does not declare tools".to_owned()));
        }
        let listed = session.client.list(Listing::Tools).await.map_err(Failure::Request)?;
        if listed.is_empty() {
            return Err(Failure::NoTools("the server has no tools".to_owned()));
        }
        let wanted: Vec<Glob> = self.tool.iter().map(|glob| Glob::new(&**glob)).collect();
        let is_wanted =
            |name: &str| wanted.is_empty() || wanted.iter().any(|glob| glob.matches(name));
        let mut tools = Vec::new();
        for (index, tool) in listed.iter().enumerate() {
            let name = tool.view().get("name").and_then(Json::as_str);
            if name.as_deref().is_some_and(|name| !is_wanted(name)) {
                continue;
            }
            // What is deeper than a reader goes cannot be typed either.
            let read = tool.view().to::<Value>();
            tools.push(read.map_err(|error| match name {
                Some(name) => unusable(format!("tool '{name}': {error}")),
                None => unusable(format!("tools[{index}]: {error}")),
            })?);
        }
        if !tools.is_empty() {
            return Ok(tools);
        }
        let names = listed.iter().filter_map(|tool| tool.view().get("name")?.as_str());
        let names: Vec<Cow<'_, str>> = names.collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let (wanted, there) = (self.tool.join("', '"), some(&names));
        Err(Failure::NoTools(format!("no tool fits '{wanted}'; the server has {there}")))
    }

    /// The flags that the module depends on, to be typed again.
    fn flags(&self) -> String {
        let name = self.name.iter().map(|name| format!("--name {name}"));
        let tools = self.tool.iter().map(|glob| {
            let quoted = shlex::try_quote(glob).unwrap_or_else(|_| glob.as_str().into());
            format!("--tool {quoted}")
        });
        name.chain(tools).collect::<Vec<_>>().join(" ")
    }

    async fn write(
        &self,
        path: &Path,
        to: &Destination,
        text: &str,
        printer: &Printer,
    ) -> Result<Exit, Failure> {
        let shown = path.display();
        let is_new = self.found.as_deref() != Some(text);
        if is_new {
            let why = |error| Failure::File(format!("cannot write {shown}: {error}"));
            to.write(text).map_err(why)?;
        }
        if printer.json() {
            let told = json!({"file": shown.to_string(), "written": is_new});
            printer.print_json(&told).await?;
        } else if is_new {
            printer.note(&format!("wrote {shown}")).await;
        } else {
            printer.note(&format!("{shown} is the same already")).await;
        }
        Ok(Exit::Good)
    }

    /// Says whether the file is the module, and if not, what differs.
    async fn compare(&self, path: &Path, text: &str, printer: &Printer) -> Result<Exit, Failure> {
        let shown = path.display().to_string();
        // Git may have given the file the line breaks of another system.
        let found = self.found.as_deref().unwrap_or_default().replace("\r\n", "\n");
        let same = found == text;
        let diff = unified_diff(&found, &shown, text, "the server's tools");
        if printer.json() {
            printer.print_json(&json!({"file": shown, "same": same, "diff": diff})).await?;
        } else if same {
            printer.note(&format!("{shown} is what the server's tools are")).await;
        } else {
            printer.print_foreign(diff.as_bytes()).await?;
        }
        if !same {
            let again = format!("run the same with --output {shown} in place of --check {shown}");
            printer.error(&format!("{shown} is not what the server's tools are; {again}")).await;
        }
        Ok(if same { Exit::Good } else { Exit::Failed })
    }
}

async fn read(path: &Path) -> Result<String, Failure> {
    let named = path.to_owned();
    // On a thread, so that a signal is heeded although nobody writes there.
    let read = tokio::task::spawn_blocking(move || std::fs::read_to_string(named));
    let read = read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    read.map_err(|error| Failure::File(format!("cannot read {}: {error}", path.display())))
}

fn unusable(reason: String) -> Failure {
    let method = Listing::Tools.method().to_owned();
    Failure::Request(Error::Unusable { method, reason })
}
