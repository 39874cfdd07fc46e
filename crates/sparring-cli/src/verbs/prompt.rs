//! `spar prompt`: gets a prompt.

use clap::Args;
use serde_json::json;
use sparring_wire::RawJson;
use sparring_wire::types::GetPromptResult;

use crate::args::Shared;
use crate::args::pair::{self, Pair};
use crate::connect::Session;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Printer, content, line};

const USAGE: &str = "spar prompt [OPTIONS] <NAME> [KEY=VALUE]... (-- <COMMAND>... | --url <URL> | --unix <PATH> | --server <NAME>)";

const EXAMPLES: &str = "\
Examples:
  spar prompt simple-prompt -- npx -y @modelcontextprotocol/server-everything
  spar prompt greeting name=Ada tone=formal -- python server.py
  spar prompt greeting name=Ada --json --url http://127.0.0.1:3001/mcp";

/// Get a prompt
#[derive(Args)]
#[command(after_help = EXAMPLES, override_usage = USAGE)]
pub(crate) struct Prompt {
    /// The prompt's name
    name: String,

    /// Its arguments, which are strings
    #[arg(value_name = "KEY=VALUE", value_parser = pair::string)]
    arguments: Vec<Pair>,

    #[command(flatten)]
    pub(super) shared: Shared,
}

impl Prompt {
    pub(super) async fn run(&self, session: Session<'_>) -> Result<Exit, Failure> {
        let mut params = RawJson::from(json!({"name": self.name}));
        if !self.arguments.is_empty() {
            let arguments = pair::object(&self.arguments, None);
            params = params.with_member("arguments", arguments.view());
        }
        let response = session.client.request("prompts/get", Some(params));
        let response = response.await.map_err(Failure::Request)?;
        let result = response.to::<GetPromptResult>().map_err(Failure::Request)?;
        let printer = session.printer;
        if printer.json() {
            printer.print_result(&response).await?;
            return Ok(Exit::Good);
        }
        show(&result, printer).await?;
        Ok(Exit::Good)
    }
}

/// Shows the messages of a prompt.
///
/// # Errors
/// When nobody takes it.
pub(super) async fn show(result: &GetPromptResult, printer: &Printer) -> Result<(), Failure> {
    for message in &result.messages {
        let role = printer.paint().name(&format!("{}:", line::clean(&message.role)));
        let text = content::block(&message.content, printer.paint());
        let text: String = text.lines().map(|line| format!("  {line}\n")).collect();
        printer.print(&format!("{role}\n{text}")).await?;
    }
    Ok(())
}
