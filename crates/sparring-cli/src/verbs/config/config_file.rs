//! Selects the config file to change, and changes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use sparring_host::config::{
    Change, Config, ConfigLocation, ConfigLocations, EditError, Edited, Format, Scope, edit,
};

use crate::command_error::CommandError;
use crate::configured_servers;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;

/// At most one of these selects the file.
#[derive(Args)]
#[group(multiple = false)]
pub(super) struct FileFlags {
    /// Change the user's config file
    #[arg(long, help_heading = "File")]
    user: bool,

    /// Change the project's .spar/mcp.yaml
    #[arg(long, help_heading = "File")]
    project: bool,

    /// Change this file: .json with mcpServers, .vscode/mcp.json with servers
    #[arg(long, value_name = "FILE", help_heading = "File")]
    file: Option<PathBuf>,
}

impl FileFlags {
    /// Returns the file that the flags name, or nothing.
    pub(super) fn named_place(
        &self,
        environment: &Environment,
    ) -> Result<Option<ConfigLocation>, CommandError> {
        let locations = configured_servers::config_locations(environment);
        if let Some(file) = &self.file {
            return place_at(file, &locations, environment).map(Some);
        }
        if self.project {
            return Ok(locations.project_file().cloned());
        }
        match self.user {
            true => user_file(&locations).map(Some),
            false => Ok(None),
        }
    }

    /// Returns the named file, or the user's config file.
    pub(super) fn or_user_file(
        &self,
        environment: &Environment,
    ) -> Result<ConfigLocation, CommandError> {
        match self.named_place(environment)? {
            Some(location) => Ok(location),
            None => user_file(&configured_servers::config_locations(environment)),
        }
    }

    /// Returns the named file, or the file that configures the server.
    pub(super) fn or_file_of(
        &self,
        name: &str,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<ConfigLocation, CommandError> {
        if let Some(location) = self.named_place(environment)? {
            return Ok(location);
        }
        let config = configured_servers::read_without_asking(environment, printer);
        let Some(server) = config.servers.get(name) else {
            return Err(unknown_server(name, &config));
        };
        let file = &server.origin.file;
        place_at(file, &configured_servers::config_locations(environment), environment)
    }
}

/// Applies a change and prints it.
pub(super) async fn apply_change(
    location: &ConfigLocation,
    change: &Change,
    message: &str,
    printer: &Printer,
    environment: &Environment,
) -> Result<Exit, CommandError> {
    let context =
        configured_servers::config_context(environment, printer.stderr(), Arc::new(|_| None));
    let edited = edit(location, change, &context).map_err(edit_error)?;
    let file = location.file.display().to_string();
    if printer.is_json() {
        let changed = edited == Edited::Changed;
        printer.print_json(&json!({"file": file, "changed": changed})).await?;
    } else if edited == Edited::Changed {
        printer.print(&format!("{message} {file}\n")).await?;
    } else {
        printer.note(&format!("{file} is unchanged")).await;
    }
    Ok(Exit::Success)
}

/// Returns the location of a named file.
pub(super) fn place_at(
    file: &Path,
    locations: &ConfigLocations,
    environment: &Environment,
) -> Result<ConfigLocation, CommandError> {
    let file = environment.current_dir.join(file);
    if let Some(location) = locations.locate(&file) {
        return Ok(location);
    }
    let format = match file.extension().and_then(|it| it.to_str()) {
        Some("yaml" | "yml") => Format::Yaml,
        Some("json") => Format::McpJson,
        _ => {
            let message = format!("{}: expected a .yaml or .json file", file.display());
            return Err(CommandError::Usage(message));
        }
    };
    let folder = file.parent().map(Path::to_owned);
    Ok(ConfigLocation { file, format, scope: Scope::Project, folder })
}

fn user_file(locations: &ConfigLocations) -> Result<ConfigLocation, CommandError> {
    let none = || {
        CommandError::Usage("no user config file: neither HOME nor XDG_CONFIG_HOME is set".into())
    };
    locations.user_file().cloned().ok_or_else(none)
}

pub(super) fn unknown_server(name: &str, config: &Config) -> CommandError {
    match config.server_by_name(name) {
        Err(refusal) => CommandError::Usage(refusal.to_string()),
        Ok(_) => CommandError::Usage(format!("no server named `{name}`")),
    }
}

pub(super) fn edit_error(error: EditError) -> CommandError {
    match error {
        EditError::Invalid(problems) => CommandError::Script(vec![problems]),
        EditError::File { .. } | EditError::Unsupported { .. } | EditError::Trust(_) => {
            CommandError::File(error.to_string())
        }
        error => CommandError::Usage(error.to_string()),
    }
}
