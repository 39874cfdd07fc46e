//! `spar config enable` and `disable`: whether a server may be connected to.

use clap::Args;
use sparring_host::config::Change;

use super::Manner;
use super::place::{Where, change};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  spar config disable files
  spar config enable files --project

Without --user, --project or --file the file is changed that counts.
With --json: {\"file\":…,\"changed\":…}.";

/// Let a server be connected to again
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Enable {
    /// The server's name
    name: String,

    #[command(flatten)]
    place: Where,

    #[command(flatten)]
    pub(super) manner: Manner,
}

/// Keep a server from being connected to
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Disable {
    /// The server's name
    name: String,

    #[command(flatten)]
    place: Where,

    #[command(flatten)]
    pub(super) manner: Manner,
}

impl Enable {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, Failure> {
        set(&self.name, &self.place, true, printer, environment).await
    }
}

impl Disable {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, Failure> {
        set(&self.name, &self.place, false, printer, environment).await
    }
}

async fn set(
    name: &str,
    place: &Where,
    enabled: bool,
    printer: &Printer,
    environment: &Environment,
) -> Result<Exit, Failure> {
    let place = place.or_of(name, environment, printer)?;
    let enable = Change::Enable { name: name.to_owned(), enabled };
    let told = format!("{} {name} in", if enabled { "enabled" } else { "disabled" });
    change(&place, &enable, &told, printer, environment).await
}
