//! `spar config import`: copies servers from another program's file.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};
use sparring_host::config::{
    Change, ConfigLocation, EditError, FileProblem, ImportedEntry, ImportedFile, Scope, edit,
    import_file,
};

use super::config_file::{FileFlags, edit_error};
use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::configured_servers;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  spar config import claude-desktop
  spar config import cursor --server github
  spar config import ~/backup/mcp_config.json --project

Programs: claude-desktop, claude-code, cursor, vscode, windsurf, cline, roo, gemini, zed.
Their usual files of the user are searched. A FILE may have mcpServers, servers,
mcp.servers or context_servers. Servers that exist already are skipped. Without --project
or --file the servers are added to the user's config file.

With --json: {\"file\":…,\"from\":[…],\"added\":[…],
\"skipped\":[{\"name\":…,\"reason\":…}]}.";

/// The files of programs below the home folder, on Linux, macOS and Windows. Editors of the
/// VS Code family keep the files of extensions in their own folder.
const PROGRAM_FILES: [(&str, &[&str]); 9] = [
    (
        "claude-desktop",
        &[
            ".config/Claude/claude_desktop_config.json",
            "Library/Application Support/Claude/claude_desktop_config.json",
            "AppData/Roaming/Claude/claude_desktop_config.json",
        ],
    ),
    ("claude-code", &[".claude.json"]),
    ("cursor", &[".cursor/mcp.json"]),
    (
        "vscode",
        &[
            ".config/Code/User/mcp.json",
            "Library/Application Support/Code/User/mcp.json",
            "AppData/Roaming/Code/User/mcp.json",
        ],
    ),
    ("windsurf", &[".codeium/windsurf/mcp_config.json"]),
    (
        "cline",
        &[
            ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            "AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ],
    ),
    (
        "roo",
        &[
            ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            "Library/Application Support/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
            "AppData/Roaming/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        ],
    ),
    ("gemini", &[".gemini/settings.json"]),
    ("zed", &[".config/zed/settings.json", "AppData/Roaming/Zed/settings.json"]),
];

/// Copy servers from another program's file
#[derive(Args)]
#[command(after_long_help = EXAMPLES)]
pub(super) struct Import {
    /// The program or the file
    #[arg(value_name = "PROGRAM|FILE")]
    from: String,

    /// Copy only this server; may be repeated
    #[arg(long = "server", value_name = "NAME")]
    servers: Vec<String>,

    #[command(flatten)]
    location: FileFlags,

    #[command(flatten)]
    pub(super) output_flags: OutputFlags,
}

/// The servers that were copied, and the others with the reason.
#[derive(Default)]
struct Outcome {
    added: Vec<String>,
    skipped: Vec<(String, String)>,
}

impl Import {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        let location = self.location.or_user_file(environment)?;
        let files = self.files(environment)?;
        let mut outcome = Outcome::default();
        for file in &files {
            let imported = read(file, environment)?;
            for note in &imported.notes {
                printer.note(note).await;
            }
            self.add_all(imported, &location, &mut outcome, printer, environment)?;
        }
        for name in &self.servers {
            let is_known = |other: &String| other == name;
            let skipped = outcome.skipped.iter().any(|(other, _)| is_known(other));
            if !skipped && !outcome.added.iter().any(is_known) {
                let files: Vec<String> =
                    files.iter().map(|file| file.display().to_string()).collect();
                let message = format!("no server named `{name}` in {}", files.join(" and "));
                return Err(CommandError::Usage(message));
            }
        }
        self.print(&files, &location, &outcome, printer).await
    }

    /// Returns the files to read: the existing ones of a program, or the named one.
    fn files(&self, environment: &Environment) -> Result<Vec<PathBuf>, CommandError> {
        let program = PROGRAM_FILES.iter().find(|(name, _)| *name == self.from);
        let Some((name, files)) = program else {
            let file = match (self.from.strip_prefix("~/"), &environment.home) {
                (Some(rest), Some(home)) => home.join(rest),
                _ => environment.current_dir.join(&self.from),
            };
            if !file.exists() && !self.from.contains(['/', '.']) {
                let names: Vec<&str> = PROGRAM_FILES.iter().map(|(name, _)| *name).collect();
                return Err(CommandError::Usage(format!(
                    "'{}' is neither a file nor a known program: {}",
                    self.from,
                    names.join(", ")
                )));
            }
            return Ok(vec![file]);
        };
        let home = environment.home.as_deref().unwrap_or(Path::new("/"));
        let looked: Vec<PathBuf> = files.iter().map(|file| home.join(file)).collect();
        let found: Vec<PathBuf> = looked.iter().filter(|file| file.exists()).cloned().collect();
        match found.is_empty() {
            false => Ok(found),
            true => {
                let looked: Vec<String> =
                    looked.iter().map(|file| file.display().to_string()).collect();
                let message = format!("no file of {name}; looked for {}", looked.join(", "));
                Err(CommandError::File(message))
            }
        }
    }

    fn add_all(
        &self,
        imported: ImportedFile,
        location: &ConfigLocation,
        outcome: &mut Outcome,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<(), CommandError> {
        let context =
            configured_servers::config_context(environment, printer.stderr(), Arc::new(|_| None));
        for ImportedEntry { name, entry } in imported.entries {
            if !self.servers.is_empty() && !self.servers.contains(&name) {
                continue;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(why) => {
                    outcome.skipped.push((name, why));
                    continue;
                }
            };
            let add = Change::Add { name: name.clone(), entry };
            match edit(location, &add, &context) {
                Ok(_) => outcome.added.push(name),
                Err(EditError::Exists { .. }) => {
                    outcome.skipped.push((name, "it exists already".to_owned()));
                }
                Err(EditError::Invalid(problems)) => {
                    let messages: Vec<&str> = problems.iter().map(|it| &*it.message).collect();
                    outcome.skipped.push((name, messages.join("; ")));
                }
                Err(EditError::NoKey { key, .. }) => {
                    outcome.skipped.push((name, format!("the format has no key `{key}`")));
                }
                Err(error) => return Err(edit_error(error)),
            }
        }
        Ok(())
    }

    async fn print(
        &self,
        files: &[PathBuf],
        location: &ConfigLocation,
        outcome: &Outcome,
        printer: &Printer,
    ) -> Result<Exit, CommandError> {
        let Outcome { added, skipped } = outcome;
        let file = location.file.display().to_string();
        if printer.is_json() {
            let from: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            let skipped: Vec<Value> =
                skipped.iter().map(|(name, why)| json!({"name": name, "reason": why})).collect();
            let found = json!({"file": file, "from": from, "added": added, "skipped": skipped});
            printer.print_json(&found).await?;
        } else if !added.is_empty() {
            printer.print(&format!("added {} to {file}\n", added.join(", "))).await?;
        }
        for (name, why) in skipped {
            printer.note(&format!("skipped `{name}`: {why}")).await;
        }
        if added.is_empty() && skipped.is_empty() {
            printer.note("no servers to import").await;
        }
        if location.scope == Scope::Project && !added.is_empty() {
            printer.note("values of variables and headers are in the project's file now").await;
        }
        Ok(Exit::Success)
    }
}

fn read(file: &Path, environment: &Environment) -> Result<ImportedFile, CommandError> {
    match import_file(file, &environment.current_dir) {
        Ok(Some(imported)) => Ok(imported),
        Ok(None) => Err(CommandError::File(format!("no such file: {}", file.display()))),
        Err(FileProblem::Invalid(problems)) => Err(CommandError::Script(vec![problems])),
        Err(fault) => Err(CommandError::File(fault.to_string())),
    }
}
