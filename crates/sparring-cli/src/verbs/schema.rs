//! `spar schema`: prints the JSON Schema of the YAML files, for editors, and of the JSON
//! report, for programs.

use clap::{Args, ColorChoice, ValueEnum};

use super::check;
use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::exit::Exit;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  spar schema suite > suite.schema.json
  spar schema mock > mock.schema.json
  spar schema config > config.schema.json
  spar schema baseline > baseline.schema.json
  spar schema report > report.schema.json

An editor with a YAML language server uses the schema for a file that begins with
  # yaml-language-server: $schema=suite.schema.json";

/// Print the JSON Schema of spar's files and reports
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(crate) struct Schema {
    /// The kind of file
    file: SchemaKind,

    /// Print the schema in one line
    #[arg(long)]
    json: bool,
}

/// A kind of file.
#[derive(Clone, Copy, ValueEnum)]
enum SchemaKind {
    /// Suites of `spar test`
    Suite,
    /// Scripts of `spar mock`
    Mock,
    /// Config files: .spar/mcp.yaml and the user's mcp.yaml
    Config,
    /// Scripts of LLM endpoints
    Llm,
    /// Accepted findings of `spar check`: spar-check.yaml
    Baseline,
    /// Reports of `spar test` and `spar report`, as JSON
    Report,
}

impl Schema {
    pub(crate) fn output_flags(&self) -> OutputFlags {
        OutputFlags { json: self.json, quiet: true, color: ColorChoice::Never }
    }

    /// Prints the schema: over many lines, or in one with `--json`.
    pub(crate) async fn run(&self, printer: &Printer) -> Result<Exit, CommandError> {
        let schema = match self.file {
            SchemaKind::Suite => sparring_suite::schema(),
            SchemaKind::Mock => sparring_mock::schema(),
            SchemaKind::Config => sparring_host::config::schema(),
            SchemaKind::Llm => sparring_mock::llm_schema(),
            SchemaKind::Baseline => check::baseline_schema(),
            SchemaKind::Report => sparring_report::json_schema(),
        };
        match printer.is_json() {
            true => printer.print_json(&schema).await?,
            false => printer.print(&format!("{schema:#}\n")).await?,
        }
        Ok(Exit::Success)
    }
}
