//! `spar config trust`: lets the files of a project do what they say.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use sparring_host::config::{Fault, Offer, Offered, Place, Scope, Trust};

use super::Manner;
use super::place::at;
use crate::configured;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::{Printer, line};
use crate::prompt;

const EXAMPLES: &str = "\
Examples:
  spar config trust
  spar config trust .mcp.json --yes
  spar config trust .mcp.json --undo

What is trusted is the file as it is now: when it changes, it is asked for again.
With --json: {\"trusted\":[…]} or {\"untrusted\":[…]}.";

/// Trust a project's files, after a look at what they would do
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TrustFiles {
    /// The files; without any, all of the project's that are not trusted yet
    files: Vec<PathBuf>,

    /// Ask nothing
    #[arg(long, short, conflicts_with = "undo")]
    yes: bool,

    /// Trust them no more; without files, none of the project's
    #[arg(long)]
    undo: bool,

    #[command(flatten)]
    pub(super) manner: Manner,
}

impl TrustFiles {
    pub(super) async fn run(
        &self,
        printer: &Printer,
        environment: &Environment,
    ) -> Result<Exit, Failure> {
        let none = "there is no place to keep it: neither HOME nor XDG_STATE_HOME is set";
        let store = environment.trust.as_deref();
        let store = store.ok_or_else(|| Failure::Usage(none.to_owned()))?;
        let kept = |error: sparring_host::config::TrustError| Failure::File(error.to_string());
        let places = self.places(environment)?;
        let mut done = Vec::new();
        for place in &places {
            if self.undo {
                if Trust::remove(store, &place.file).map_err(kept)? {
                    done.push(place.file.display().to_string());
                }
                continue;
            }
            let Some(offer) = self.offer(place)? else { continue };
            if offer.is_trusted(store).map_err(kept)? {
                if !self.files.is_empty() {
                    printer.note(&format!("{} is trusted already", place.file.display())).await;
                }
                continue;
            }
            printer.notice(&shown(&offer)).await;
            if self.yes || confirmed(printer, environment).await? {
                offer.trust(store).map_err(kept)?;
                done.push(place.file.display().to_string());
            }
        }
        self.tell(&done, printer).await
    }

    fn places(&self, environment: &Environment) -> Result<Vec<Place>, Failure> {
        let places = configured::places(environment);
        if self.files.is_empty() {
            let of_project = places.0.into_iter().filter(|place| place.scope == Scope::Project);
            return Ok(of_project.collect());
        }
        let own = |place: &Place| place.scope == Scope::User;
        let named = self.files.iter().map(|file| at(file, &places, environment));
        let named = named.collect::<Result<Vec<_>, _>>()?;
        match named.iter().any(own) {
            true => Err(Failure::Usage("your own file is trusted in any case".to_owned())),
            false => Ok(named),
        }
    }

    /// What a file would do; one that was named must be there.
    fn offer(&self, place: &Place) -> Result<Option<Offer>, Failure> {
        match Offer::read(place) {
            Ok(None) if !self.files.is_empty() => {
                Err(Failure::File(format!("there is no {}", place.file.display())))
            }
            Ok(offer) => Ok(offer),
            Err(Fault::Wrong(problems)) => Err(Failure::Script(vec![problems])),
            Err(fault) => Err(Failure::File(fault.to_string())),
        }
    }

    async fn tell(&self, done: &[String], printer: &Printer) -> Result<Exit, Failure> {
        let (key, word) = match self.undo {
            true => ("untrusted", "not trusted any more:"),
            false => ("trusted", "trusted:"),
        };
        if printer.json() {
            printer.print_json(&json!({key: done})).await?;
        } else {
            let lines: Vec<String> = done.iter().map(|file| format!("{word} {file}\n")).collect();
            printer.print(&lines.concat()).await?;
        }
        if done.is_empty() {
            printer.note("nothing is changed").await;
        }
        Ok(Exit::Good)
    }
}

/// What a file would do, for a person to decide.
fn shown(offer: &Offer) -> String {
    let mut text = format!("{} would use\n", offer.file().display());
    for Offered { name, transport, spelled, takes, sets } in &offer.servers {
        text += &format!("  {} ({transport}): {}\n", line::clean(name), line::clean(spelled));
        for (word, names) in [("takes", takes), ("sets", sets)] {
            if !names.is_empty() {
                text += &format!("    {word} {}\n", line::clean(&names.join(", ")));
            }
        }
    }
    if offer.servers.is_empty() {
        text += "  no server\n";
    }
    if !offer.allow.is_empty() {
        text += &format!("and allow {}\n", line::clean(&offer.allow.join(", ")));
    }
    text
}

async fn confirmed(printer: &Printer, environment: &Environment) -> Result<bool, Failure> {
    if !environment.answers {
        return Err(Failure::Usage("nobody is there to be asked; --yes trusts it".to_owned()));
    }
    let stderr = printer.stderr().clone();
    // On a thread, so that a signal is heeded although nobody answers.
    let asked =
        tokio::task::spawn_blocking(move || prompt::ask(&stderr, "Trust it? [y/N] ", false));
    let answer = asked.await.map_err(|error| Failure::System(std::io::Error::other(error)))?;
    let answer = answer.unwrap_or_default();
    Ok(["y", "yes"].contains(&&*answer.trim().to_lowercase()))
}
