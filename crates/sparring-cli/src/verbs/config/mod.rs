//! `spar config`: the servers that are configured, and the files that say so.

mod add;
mod check;
mod enable;
mod list;
mod place;
mod remove;
mod trust;

use clap::{Args, ColorChoice, Subcommand};

use crate::args::Look;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;
use crate::signals::Signals;

const EXAMPLES: &str = "\
Examples:
  spar config list
  spar config add files -- npx -y @modelcontextprotocol/server-filesystem .
  spar config add api --url https://example.com/mcp --bearer '${TOKEN}' --project
  spar config disable files
  spar config trust
  spar call echo message=hi --server files

Files, each later one before those before it:
  ~/.config/sparring/mcp.yaml       yours, for all projects
  .cursor/mcp.json, .vscode/mcp.json, .mcp.json, .spar/mcp.yaml
                                    the project's
What a project's files say is not done until you trust them.";

/// Show and change which servers there are, and whom you trust
#[derive(Args)]
#[command(after_help = EXAMPLES, disable_help_subcommand = true)]
#[command(subcommand_value_name = "WHAT", subcommand_help_heading = "What")]
pub(crate) struct Config {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    List(list::List),
    Add(Box<add::Add>),
    Remove(remove::Remove),
    Enable(enable::Enable),
    Disable(enable::Disable),
    Trust(trust::TrustFiles),
    Check(check::Check),
}

/// How to tell of it.
#[derive(Args)]
struct Manner {
    /// Print one line of JSON for programs
    #[arg(long, help_heading = "Output")]
    json: bool,

    /// Print no notes; errors are still told
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    /// When to use colours; NO_COLOR is respected
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: ColorChoice,
}

impl Config {
    /// How to tell of it.
    pub(crate) fn look(&self) -> Look {
        let Manner { json, quiet, color } = *match &self.what {
            What::List(list) => &list.manner,
            What::Add(add) => &add.manner,
            What::Remove(remove) => &remove.manner,
            What::Enable(enable) => &enable.manner,
            What::Disable(disable) => &disable.manner,
            What::Trust(trust) => &trust.manner,
            What::Check(check) => &check.manner,
        };
        Look { json, quiet, color }
    }

    /// Does it.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
        environment: &Environment,
    ) -> Result<Exit, Failure> {
        tokio::select! {
            biased;
            signal = signals.next() => Err(Failure::Stopped(signal)),
            done = self.what.run(printer, environment) => done,
        }
    }
}

impl What {
    async fn run(&self, printer: &Printer, environment: &Environment) -> Result<Exit, Failure> {
        match self {
            What::List(list) => list.run(printer, environment).await,
            What::Add(add) => add.run(printer, environment).await,
            What::Remove(remove) => remove.run(printer, environment).await,
            What::Enable(enable) => enable.run(printer, environment).await,
            What::Disable(disable) => disable.run(printer, environment).await,
            What::Trust(trust) => trust.run(printer, environment).await,
            What::Check(check) => check.run(printer, environment).await,
        }
    }
}
