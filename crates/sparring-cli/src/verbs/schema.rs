//! `spar schema`: the JSON Schema of our YAML files, for editors, and of the JSON
//! report, for programs.

use clap::{Args, ColorChoice, ValueEnum};

use crate::args::Look;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  spar schema suite > suite.schema.json
  spar schema mock > mock.schema.json
  spar schema config > config.schema.json
  spar schema report > report.schema.json

An editor with a YAML language server uses it for a file that begins with
  # yaml-language-server: $schema=suite.schema.json";

/// Print the JSON Schema of the files that spar reads and of its reports
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Schema {
    /// The kind of file
    file: File,

    /// Print it in one line
    #[arg(long)]
    json: bool,
}

/// A kind of file.
#[derive(Clone, Copy, ValueEnum)]
enum File {
    /// Suites of `spar test`
    Suite,
    /// Scripts of `spar mock`
    Mock,
    /// Config files: .spar/mcp.yaml and your own mcp.yaml
    Config,
    /// Scripts of LLM endpoints
    Llm,
    /// Reports of `spar test` and `spar report`, as JSON
    Report,
}

impl Schema {
    /// How to tell of it: there is nothing to note or to paint.
    pub(super) fn look(&self) -> Look {
        Look { json: self.json, quiet: true, color: ColorChoice::Never }
    }

    /// Prints it: over many lines for a person, in one for a program.
    pub(crate) async fn run(&self, printer: &Printer) -> Result<Exit, Failure> {
        let schema = match self.file {
            File::Suite => sparring_suite::schema(),
            File::Mock => sparring_mock::schema(),
            File::Config => sparring_host::config::schema(),
            File::Llm => sparring_mock::llm_schema(),
            File::Report => sparring_report::schema(),
        };
        match printer.json() {
            true => printer.print_json(&schema).await?,
            false => printer.print(&format!("{schema:#}\n")).await?,
        }
        Ok(Exit::Good)
    }
}
