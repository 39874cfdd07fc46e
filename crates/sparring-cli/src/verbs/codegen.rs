//! `spar codegen`: generates a Rust module from the server's tools, and writes it or
//! compares it with a file.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use sparring_codegen::{ModuleSource, generate_module, is_type_name};
use sparring_host::permissions::ToolPattern;
use sparring_peer::client::{Error, ListKind};
use sparring_script::unified_diff;
use sparring_transport::{MAX_SCRIPT_BYTES, read_text_file};
use sparring_wire::Json;

use super::call::list_names;
use crate::args::TargetFlags;
use crate::command_error::CommandError;
use crate::connection::Connection;
use crate::exit::Exit;
use crate::output::{Printer, line};
use crate::report::Destination;

const USAGE: &str =
    "spar codegen [OPTIONS] (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar codegen --output tests/everything.rs -- npx -y @modelcontextprotocol/server-everything
  spar codegen --check tests/everything.rs -- npx -y @modelcontextprotocol/server-everything
  spar codegen --name Search --tool 'search_*' --url http://127.0.0.1:3001/mcp

The module needs only the crate `sparring`:
  let client = EverythingClient::new(Client::connect(target).await?);
  let response = client.echo(Echo::new(\"hi\")).await?;
A tool with an output schema returns a struct, any other tool the response.

Exit codes: 1 if the file of --check differs from the module, 3 if the server has
no tools or a schema that cannot be read.

With --json: {\"module\":…}, {\"file\":…,\"written\":…} with --output, and
{\"file\":…,\"same\":…,\"diff\":…} with --check.";

/// Write a Rust module with a typed method for each tool
#[derive(Args)]
#[command(after_long_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Codegen {
    /// Write the module to this file instead of stdout; an identical file is not changed
    #[arg(long, value_name = "FILE", conflicts_with = "check")]
    output: Option<PathBuf>,

    /// Compare this file with the module and write nothing; prints the difference and
    /// exits with 1 if they differ
    #[arg(long, value_name = "FILE")]
    check: Option<PathBuf>,

    /// The name of the module's client [default: from the server's name]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    /// Only tools whose names match, where * matches anything; may be repeated
    #[arg(long, value_name = "GLOB")]
    tool: Vec<String>,

    /// The destination of `--output`.
    #[arg(skip)]
    destination: Option<Destination>,

    /// The text of the existing file.
    #[arg(skip)]
    existing: Option<String>,

    #[command(flatten)]
    pub(super) flags: TargetFlags,
}

impl Codegen {
    /// Checks the name and the files before anything is started.
    pub(super) async fn check_inputs(&mut self) -> Result<(), CommandError> {
        if let Some(name) = self.name.as_deref().filter(|name| !is_type_name(name)) {
            let why = "is not a type name (letters and digits, beginning with a capital, no \
                       name that Rust uses)";
            return Err(CommandError::Usage(format!("--name: '{}' {why}", line::clean(name))));
        }
        if let Some(path) = &self.check {
            self.existing = Some(read_file(path).await?);
        }
        if let Some(path) = &self.output {
            self.destination = Some(Destination::for_path(path)?);
            // Reading a pipe would block.
            if path.is_file() {
                self.existing = read_file(path).await.ok();
            }
        }
        Ok(())
    }

    pub(super) async fn run(&self, connection: &Connection<'_>) -> Result<Exit, CommandError> {
        let tools = self.list_tools(connection).await?;
        let info = connection.client.session().and_then(|session| session.server_info.as_ref());
        let text = generate_module(&ModuleSource {
            server: info.map(|info| &*info.name).unwrap_or_default(),
            version: info.map(|info| &*info.version).unwrap_or_default(),
            name: self.name.as_deref(),
            flags: &self.flags(),
            tools: &tools,
        });
        let text = text.map_err(|error| unusable_tools(error.to_string()))?;
        let printer = connection.printer;
        let text = printer.secrets().mask(&text);
        match (&self.check, &self.output, &self.destination) {
            (Some(path), ..) => self.compare(path, &text, printer).await,
            (None, Some(path), Some(to)) => self.write(path, to, &text, printer).await,
            _ if printer.is_json() => {
                printer.print_json(&json!({"module": text})).await?;
                Ok(Exit::Success)
            }
            _ => {
                printer.print_untrusted(text.as_bytes()).await?;
                Ok(Exit::Success)
            }
        }
    }

    /// Returns the selected tools as the server spelled them.
    async fn list_tools(&self, connection: &Connection<'_>) -> Result<Vec<Value>, CommandError> {
        if !connection.client.capabilities().has(ListKind::Tools.capability()) {
            return Err(CommandError::NoTools("the server does not declare tools".to_owned()));
        }
        let listed =
            connection.client.list(ListKind::Tools).await.map_err(CommandError::Request)?;
        if listed.is_empty() {
            return Err(CommandError::NoTools("the server has no tools".to_owned()));
        }
        let wanted: Vec<ToolPattern> =
            self.tool.iter().map(|glob| ToolPattern::new(&**glob)).collect();
        let is_wanted =
            |name: &str| wanted.is_empty() || wanted.iter().any(|glob| glob.matches(name));
        let mut tools = Vec::new();
        for (index, tool) in listed.iter().enumerate() {
            let name = tool.view().get("name").and_then(Json::as_str);
            if name.as_deref().is_some_and(|name| !is_wanted(name)) {
                continue;
            }
            // A schema that is too deep to parse cannot be generated either.
            let read = tool.view().deserialize::<Value>();
            tools.push(read.map_err(|error| match name {
                Some(name) => unusable_tools(format!("tool '{name}': {error}")),
                None => unusable_tools(format!("tools[{index}]: {error}")),
            })?);
        }
        if !tools.is_empty() {
            return Ok(tools);
        }
        let names = listed.iter().filter_map(|tool| tool.view().get("name")?.as_str());
        let names: Vec<Cow<'_, str>> = names.collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let (wanted, there) = (self.tool.join("', '"), list_names(&names));
        Err(CommandError::NoTools(format!("no tool matches '{wanted}'; the server has {there}")))
    }

    /// The flags that reproduce the module.
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
    ) -> Result<Exit, CommandError> {
        let shown = path.display();
        let is_new = self.existing.as_deref() != Some(text);
        if is_new {
            let why = |error| CommandError::File(format!("cannot write {shown}: {error}"));
            to.write(text).map_err(why)?;
        }
        if printer.is_json() {
            let result = json!({"file": shown.to_string(), "written": is_new});
            printer.print_json(&result).await?;
        } else if is_new {
            printer.note(&format!("wrote {shown}")).await;
        } else {
            printer.note(&format!("{shown} is up to date")).await;
        }
        Ok(Exit::Success)
    }

    /// Compares the file with the module, and prints the difference.
    async fn compare(
        &self,
        path: &Path,
        text: &str,
        printer: &Printer,
    ) -> Result<Exit, CommandError> {
        let shown = path.display().to_string();
        // Git may have changed the line breaks.
        let existing = self.existing.as_deref().unwrap_or_default().replace("\r\n", "\n");
        let same = existing == text;
        let diff = unified_diff(&existing, &shown, text, "the server's tools");
        if printer.is_json() {
            printer.print_json(&json!({"file": shown, "same": same, "diff": diff})).await?;
        } else if same {
            printer.note(&format!("{shown} matches the server's tools")).await;
        } else {
            printer.print_untrusted(diff.as_bytes()).await?;
        }
        if !same {
            let again = format!("rerun with --output {shown} instead of --check {shown}");
            printer.error(&format!("{shown} differs from the server's tools; {again}")).await;
        }
        Ok(if same { Exit::Success } else { Exit::Failed })
    }
}

async fn read_file(path: &Path) -> Result<String, CommandError> {
    let named = path.to_owned();
    // On a thread, so that a signal can interrupt a read that blocks.
    let read = tokio::task::spawn_blocking(move || read_text_file(&named, MAX_SCRIPT_BYTES));
    let read = read.await.unwrap_or_else(|error| Err(std::io::Error::other(error)));
    read.map_err(|error| CommandError::File(format!("cannot read {}: {error}", path.display())))
}

fn unusable_tools(reason: String) -> CommandError {
    let method = ListKind::Tools.method().to_owned();
    CommandError::Request(Error::InvalidResult { method, reason })
}
