//! `spar config enable`, `spar config disable` and `spar config remove`.

use clap::Args;
use sparring_host::config::Change;

use super::config_file::{FileFlags, apply_change};
use crate::args::OutputFlags;
use crate::command_error::CommandError;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::output::Printer;

const ENABLE_EXAMPLES: &str = "\
Examples:
  spar config disable files
  spar config enable files --project

Without --user, --project or --file, the file that configures the server is changed.
With --json: {\"file\":…,\"changed\":…}.";

const REMOVE_EXAMPLES: &str = "\
Examples:
  spar config remove files
  spar config remove files --user

Without --user, --project or --file, the file that configures the server is changed.
With --json: {\"file\":…,\"changed\":…}.";

/// Enable a server
#[derive(Args)]
#[command(after_long_help = ENABLE_EXAMPLES)]
pub(super) struct Enable {
    /// The server's name
    name: String,

    #[command(flatten)]
    place: FileFlags,

    #[command(flatten)]
    pub(super) output_flags: OutputFlags,
}

/// Disable a server
#[derive(Args)]
#[command(after_long_help = ENABLE_EXAMPLES)]
pub(super) struct Disable {
    /// The server's name
    name: String,

    #[command(flatten)]
    place: FileFlags,

    #[command(flatten)]
    pub(super) output_flags: OutputFlags,
}

impl Enable {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        set_enabled(&self.name, &self.place, true, printer, environment).await
    }
}

impl Disable {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        set_enabled(&self.name, &self.place, false, printer, environment).await
    }
}

/// Remove a server from a file
#[derive(Args)]
#[command(after_long_help = REMOVE_EXAMPLES)]
pub(super) struct Remove {
    /// The server's name
    name: String,

    #[command(flatten)]
    place: FileFlags,

    #[command(flatten)]
    pub(super) output_flags: OutputFlags,
}

impl Remove {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, CommandError> {
        let place = self.place.or_file_of(&self.name, environment, printer)?;
        let remove = Change::Remove { name: self.name.clone() };
        let message = format!("removed {} from", self.name);
        apply_change(&place, &remove, &message, printer, environment).await
    }
}

async fn set_enabled(
    name: &str,
    place: &FileFlags,
    enabled: bool,
    printer: &Printer,
    environment: &Environment,
) -> Result<Exit, CommandError> {
    let place = place.or_file_of(name, environment, printer)?;
    let enable = Change::Enable { name: name.to_owned(), enabled };
    let message = format!("{} {name} in", if enabled { "enabled" } else { "disabled" });
    apply_change(&place, &enable, &message, printer, environment).await
}
