//! `spar config trust`: trusts the config files of a project.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use sparring_host::config::{
    ConfigLocation, FileProblem, PreviewedServer, Scope, Trust, TrustPreview,
};
use sparring_host::escape_control;

use super::config_file::place_at;
use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::configured_servers;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;
use crate::terminal_prompt;

const EXAMPLES: &str = "\
Examples:
  spar config trust
  spar config trust .mcp.json --yes
  spar config trust .mcp.json --undo

Trust applies to the file's current content. A changed file must be trusted again.
With --json: {\"trusted\":[…]} or {\"untrusted\":[…]}.";

/// Trust a project's config files, after showing what they do
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct TrustFiles {
    /// The files [default: all of the project's files that are not trusted]
    files: Vec<PathBuf>,

    /// Do not ask
    #[arg(long, short, conflicts_with = "undo")]
    yes: bool,

    /// Stop trusting the files [default: all of the project's files]
    #[arg(long)]
    undo: bool,

    #[command(flatten)]
    pub(super) output_flags: OutputFlags,
}

impl TrustFiles {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        let none = "cannot store trust: neither HOME nor XDG_STATE_HOME is set";
        let store = environment.trust_file.as_deref();
        let store = store.ok_or_else(|| CommandError::Usage(none.to_owned()))?;
        let store_error =
            |error: sparring_host::config::TrustError| CommandError::File(error.to_string());
        let locations = self.locations(environment)?;
        let mut done = Vec::new();
        for location in &locations {
            if self.undo {
                if Trust::remove(store, &location.file).map_err(store_error)? {
                    done.push(location.file.display().to_string());
                }
                continue;
            }
            let Some(preview) = self.read_preview(location, printer)? else { continue };
            if preview.is_trusted(store).map_err(store_error)? {
                if !self.files.is_empty() {
                    printer.note(&format!("{} is trusted already", location.file.display())).await;
                }
                continue;
            }
            printer.write_stderr(&render_preview(&preview)).await;
            if self.yes || confirm(printer, environment).await? {
                preview.trust(store).map_err(store_error)?;
                done.push(location.file.display().to_string());
            }
        }
        self.print_changes(&done, printer).await
    }

    fn locations(&self, environment: &Environment) -> Result<Vec<ConfigLocation>, CommandError> {
        let locations = configured_servers::config_locations(environment);
        if self.files.is_empty() {
            let of_project =
                locations.0.into_iter().filter(|location| location.scope == Scope::Project);
            return Ok(of_project.collect());
        }
        let own = |location: &ConfigLocation| location.scope == Scope::User;
        let named = self.files.iter().map(|file| place_at(file, &locations, environment));
        let named = named.collect::<Result<Vec<_>, _>>()?;
        match named.iter().any(own) {
            true => Err(CommandError::Usage("the user's config file is always trusted".to_owned())),
            false => Ok(named),
        }
    }

    /// Reads the preview of a file. A named file must exist.
    fn read_preview(
        &self,
        location: &ConfigLocation,
        printer: &Printer,
    ) -> Result<Option<TrustPreview>, CommandError> {
        match TrustPreview::read(location, printer.secrets()) {
            Ok(None) if !self.files.is_empty() => {
                Err(CommandError::File(format!("no such file: {}", location.file.display())))
            }
            Ok(preview) => Ok(preview),
            Err(FileProblem::Invalid(problems)) => Err(CommandError::Script(vec![problems])),
            Err(fault) => Err(CommandError::File(fault.to_string())),
        }
    }

    async fn print_changes(
        &self,
        done: &[String],
        printer: &Printer,
    ) -> Result<Exit, CommandError> {
        let (key, word) = match self.undo {
            true => ("untrusted", "no longer trusted:"),
            false => ("trusted", "trusted:"),
        };
        if printer.is_json() {
            printer.print_json(&json!({key: done})).await?;
        } else {
            let lines: Vec<String> = done.iter().map(|file| format!("{word} {file}\n")).collect();
            printer.print(&lines.concat()).await?;
        }
        if done.is_empty() {
            printer.note("nothing changed").await;
        }
        Ok(Exit::Success)
    }
}

/// Renders the preview of a file, for the user to decide.
fn render_preview(preview: &TrustPreview) -> String {
    let file = escape_control(&preview.file().display().to_string());
    let mut text = format!("{file} configures\n");
    for server in &preview.servers {
        let PreviewedServer { name, transport, spelled, runs_in, takes, sets, env_file, sends } =
            server;
        text += &format!("  {} ({transport}): {}\n", escape_control(name), escape_control(spelled));
        for (key, place) in runs_in {
            text += &format!("    {key} {}\n", escape_control(place));
        }
        for (word, names) in [("reads", takes), ("sends headers", sends)] {
            if !names.is_empty() {
                text += &format!("    {word} {}\n", escape_control(&names.join(", ")));
            }
        }
        for (name, value) in sets {
            text += &format!("    sets {}={}\n", escape_control(name), escape_control(value));
        }
        if let Some(file) = env_file {
            text += &format!("    sets the variables in {}\n", escape_control(file));
        }
    }
    if preview.servers.is_empty() {
        text += "  no servers\n";
    }
    if !preview.allow.is_empty() {
        text += &format!("and allows {}\n", escape_control(&preview.allow.join(", ")));
    }
    text
}

async fn confirm(printer: &Printer, environment: &Environment) -> Result<bool, CommandError> {
    if !environment.can_ask {
        return Err(CommandError::Usage("cannot ask without a terminal; use --yes".to_owned()));
    }
    let stderr = printer.stderr().clone();
    // On a thread, so that a signal can interrupt the question.
    let asked = tokio::task::spawn_blocking(move || {
        terminal_prompt::ask(&stderr, "Trust this file? [y/N] ", false)
    });
    let answer = asked.await.map_err(|error| CommandError::System(std::io::Error::other(error)))?;
    let answer = answer.unwrap_or_default();
    Ok(["y", "yes"].contains(&&*answer.trim().to_lowercase()))
}
