//! `spar read`: reads a resource.

use clap::Args;
use serde_json::json;
use sparring_wire::types::ReadResourceResult;

use crate::args::Shared;
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Printer, content, line};

const USAGE: &str =
    "spar read [OPTIONS] <URI> (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar read file:///notes.txt --url http://127.0.0.1:3001/mcp
  spar read demo://resource/static/document/features.md -- npx -y @modelcontextprotocol/server-everything
  spar read db://users/1 --json --unix /tmp/server.sock";

/// Read a resource
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Read {
    /// The resource's URI
    uri: String,

    #[command(flatten)]
    pub(super) shared: Shared,
}

impl Read {
    pub(super) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        let params = json!({"uri": self.uri});
        let response = session.client.request("resources/read", Some(params.into()));
        let response = response.await.map_err(Failure::Request)?;
        let result = response.to::<ReadResourceResult>().map_err(Failure::Request)?;
        let printer = session.printer;
        if printer.json() {
            printer.print_result(&response).await?;
            return Ok(Exit::Good);
        }
        show(&result, printer).await?;
        Ok(Exit::Good)
    }
}

/// Shows what stands in a resource.
///
/// # Errors
/// When nobody takes it.
pub(super) async fn show(result: &ReadResourceResult, printer: &Printer) -> Result<(), Failure> {
    for contents in &result.contents {
        // One text alone is printed as it is, so that it can go to a file.
        if result.contents.len() > 1 {
            let uri = format!("[resource {}]", line::clean(&contents.uri));
            printer.print(&format!("{}\n", printer.paint().aside(&uri))).await?;
        }
        printer.print(&content::contents(contents, printer.paint())).await?;
    }
    Ok(())
}
