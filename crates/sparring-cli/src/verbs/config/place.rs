//! Which file is changed, and that it was.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::json;
use sparring_host::config::{
    Change, Config, EditError, Edited, Format, Place, Places, Scope, edit,
};

use crate::configured;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;

/// The file: one of these.
#[derive(Args)]
#[group(multiple = false)]
pub(super) struct Where {
    /// Change your own file
    #[arg(long, help_heading = "File")]
    user: bool,

    /// Change the project's .spar/mcp.yaml
    #[arg(long, help_heading = "File")]
    project: bool,

    /// Change this file; .json has mcpServers, and .vscode/mcp.json servers
    #[arg(long, value_name = "FILE", help_heading = "File")]
    file: Option<PathBuf>,
}

impl Where {
    /// The file that is named; nothing where none is.
    pub(super) fn named(&self, environment: &Environment) -> Result<Option<Place>, Failure> {
        let places = configured::places(environment);
        if let Some(file) = &self.file {
            return at(file, &places, environment).map(Some);
        }
        if self.project {
            return Ok(places.of_project().cloned());
        }
        match self.user {
            true => own(&places).map(Some),
            false => Ok(None),
        }
    }

    /// The same, or else the user's own.
    pub(super) fn or_own(&self, environment: &Environment) -> Result<Place, Failure> {
        match self.named(environment)? {
            Some(place) => Ok(place),
            None => own(&configured::places(environment)),
        }
    }

    /// The same, or else the one that the server stands in.
    pub(super) fn or_of(
        &self,
        name: &str,
        environment: &Environment,
        printer: &Printer,
    ) -> Result<Place, Failure> {
        if let Some(place) = self.named(environment)? {
            return Ok(place);
        }
        let config = configured::look(environment, printer);
        let Some(server) = config.servers.get(name) else {
            return Err(unknown(name, &config));
        };
        let file = &server.origin.file;
        at(file, &configured::places(environment), environment)
    }
}

/// Makes a change and tells of it.
pub(super) async fn change(
    place: &Place,
    change: &Change,
    told: &str,
    printer: &Printer,
    environment: &Environment,
) -> Result<Exit, Failure> {
    let surroundings = configured::surroundings(environment, printer.stderr(), Arc::new(|_| None));
    let edited = edit(place, change, &surroundings).map_err(failure)?;
    let file = place.file.display().to_string();
    if printer.json() {
        let changed = edited == Edited::Changed;
        printer.print_json(&json!({"file": file, "changed": changed})).await?;
    } else if edited == Edited::Changed {
        printer.print(&format!("{told} {file}\n")).await?;
    } else {
        printer.note(&format!("{file} says so already")).await;
    }
    Ok(Exit::Good)
}

/// The place of a file that somebody named.
pub(super) fn at(
    file: &Path,
    places: &Places,
    environment: &Environment,
) -> Result<Place, Failure> {
    let file = environment.here.join(file);
    if let Some(place) = places.at(&file) {
        return Ok(place);
    }
    let format = match file.extension().and_then(|it| it.to_str()) {
        Some("yaml" | "yml") => Format::Yaml,
        Some("json") => Format::McpJson,
        _ => {
            let message = format!("{} is neither .yaml nor .json", file.display());
            return Err(Failure::Usage(message));
        }
    };
    let folder = file.parent().map(Path::to_owned);
    Ok(Place { file, format, scope: Scope::Project, folder })
}

fn own(places: &Places) -> Result<Place, Failure> {
    let none =
        || Failure::Usage("you have no file: neither HOME nor XDG_CONFIG_HOME is set".into());
    places.of_user().cloned().ok_or_else(none)
}

fn unknown(name: &str, config: &Config) -> Failure {
    match config.by_consent(name) {
        Err(refusal) => Failure::Usage(refusal.to_string()),
        Ok(_) => Failure::Usage(format!("no server is called `{name}`")),
    }
}

fn failure(error: EditError) -> Failure {
    match error {
        EditError::Wrong(problems) => Failure::Script(vec![problems]),
        EditError::File { .. } | EditError::TooHard { .. } | EditError::Trust(_) => {
            Failure::File(error.to_string())
        }
        error => Failure::Usage(error.to_string()),
    }
}
