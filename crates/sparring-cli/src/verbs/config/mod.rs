//! `spar config`: shows and changes the configured servers and the trusted files.

mod add;
mod check;
mod config_file;
mod edit;
mod get;
mod grants;
mod health;
mod import;
mod list;
mod trust;

use clap::{Args, Subcommand};

use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;
use crate::signals::Signals;

const EXAMPLES: &str = "\
Examples:
  spar config list
  spar config add files -- npx -y @modelcontextprotocol/server-filesystem .
  spar config add api --url https://example.com/mcp --bearer '${TOKEN}' --project
  spar config list --check
  spar config import claude-desktop
  spar config disable files
  spar config trust
  spar call echo message=hi --server files

Files, later ones take precedence:
  ~/.config/sparring/mcp.yaml       the user's, for all projects
  .cursor/mcp.json, .vscode/mcp.json, .mcp.json, .spar/mcp.yaml
                                    the project's
A project's files are not used until you trust them.";

/// Show and change configured servers and trusted files
#[derive(Args)]
#[command(after_long_help = EXAMPLES, disable_help_subcommand = true)]
#[command(subcommand_value_name = "COMMAND", subcommand_help_heading = "Commands")]
pub(crate) struct Config {
    #[command(subcommand)]
    command: ConfigCommand,
}

#[derive(Subcommand)]
enum ConfigCommand {
    List(list::List),
    Get(get::Get),
    Add(Box<add::Add>),
    Import(import::Import),
    Remove(edit::Remove),
    Enable(edit::Enable),
    Disable(edit::Disable),
    Trust(trust::TrustFiles),
    Check(check::Check),
    Grants(grants::ShowGrants),
}

impl Config {
    pub(crate) fn output_flags(&self) -> OutputFlags {
        let flags = match &self.command {
            ConfigCommand::List(list) => &list.output_flags,
            ConfigCommand::Get(get) => &get.output_flags,
            ConfigCommand::Import(import) => &import.output_flags,
            ConfigCommand::Grants(grants) => &grants.output_flags,
            ConfigCommand::Add(add) => &add.output_flags,
            ConfigCommand::Remove(remove) => &remove.output_flags,
            ConfigCommand::Enable(enable) => &enable.output_flags,
            ConfigCommand::Disable(disable) => &disable.output_flags,
            ConfigCommand::Trust(trust) => &trust.output_flags,
            ConfigCommand::Check(check) => &check.output_flags,
        };
        flags.clone()
    }

    /// Runs the subcommand.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        tokio::select! {
            biased;
            signal = signals.next() => Err(CommandError::Stopped(signal)),
            done = self.command.run(printer, environment) => done,
        }
    }
}

impl ConfigCommand {
    async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        match self {
            ConfigCommand::List(list) => list.run(printer, environment).await,
            ConfigCommand::Get(get) => get.run(printer, environment).await,
            ConfigCommand::Import(import) => import.run(printer, environment).await,
            ConfigCommand::Grants(grants) => grants.run(printer, environment).await,
            ConfigCommand::Add(add) => add.run(printer, environment).await,
            ConfigCommand::Remove(remove) => remove.run(printer, environment).await,
            ConfigCommand::Enable(enable) => enable.run(printer, environment).await,
            ConfigCommand::Disable(disable) => disable.run(printer, environment).await,
            ConfigCommand::Trust(trust) => trust.run(printer, environment).await,
            ConfigCommand::Check(check) => check.run(printer, environment).await,
        }
    }
}
