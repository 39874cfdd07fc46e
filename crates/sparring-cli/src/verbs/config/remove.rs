//! `spar config remove`: a server less.

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
  spar config remove files
  spar config remove files --user

Without --user, --project or --file it is removed from the file that counts.
With --json: {\"file\":…,\"changed\":…}.";

/// Remove a server from a file
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct Remove {
    /// The server's name
    name: String,

    #[command(flatten)]
    place: Where,

    #[command(flatten)]
    pub(super) manner: Manner,
}

impl Remove {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, Failure> {
        let place = self.place.or_of(&self.name, environment, printer)?;
        let remove = Change::Remove { name: self.name.clone() };
        let told = format!("removed {} from", self.name);
        change(&place, &remove, &told, printer, environment).await
    }
}
