//! `spar shell`: the configured servers at one prompt, with `/mcp` commands.
//!
//! What is typed at a terminal is edited and completed; what comes from a pipe is
//! a script, line by line. Commands know nothing of either.

mod answering;
mod asking;
mod command;
mod commands;
mod completion;
mod desk;
mod editor;
mod history;
mod lines;
mod log;
mod telling;
mod work;

use clap::{Args, ColorChoice};
use sparring_transport::PrivateFile;

use crate::args::Look;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::host::{Servers, Sessions, Wiring, terminal};
use crate::output::Printer;
use crate::prompt;
use crate::signals::Signals;
use desk::Desk;
use work::Work;

const EXAMPLES: &str = "\
Examples:
  spar shell
  spar shell --server weather --allow mcp__weather
  spar shell --config servers.json --save work.json
  spar shell --resume work.json --save work.json
  printf '/mcp tools\\n' | spar shell

/help lists the commands. From a pipe they are taken line by line, once the
servers are connected; lines that begin with # are left out. A command that fails
makes the exit code 1, and the others are done all the same. What a server asks
while its tool runs is answered by a line /answer that follows, or declined.";

/// Use the configured servers and their tools at a prompt
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Shell {
    #[command(flatten)]
    servers: Servers,

    #[command(flatten)]
    sessions: Sessions,

    /// Print no notes; errors are still told
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,

    /// When to use colours; NO_COLOR is respected
    #[arg(long, value_name = "WHEN", default_value = "auto", help_heading = "Output")]
    color: ColorChoice,
}

impl Shell {
    /// How to tell of it.
    pub(crate) fn look(&self) -> Look {
        Look { json: false, quiet: self.quiet, color: self.color }
    }

    /// Does what is typed, until that ends.
    pub(crate) async fn run(
        &self,
        printer: &Printer,
        mut signals: Signals,
        environment: &Environment,
    ) -> Result<Exit, Failure> {
        let wiring = Wiring::default();
        let client = asking::client(wiring.client);
        let wiring = Wiring { asker: terminal(environment, printer), client };
        let opening = async {
            self.check_that_it_can_be_saved().await?;
            let host = self.servers.host(wiring, environment, printer).await?;
            let wanted = host.wanted(&self.sessions, printer).await?;
            Ok::<_, Failure>((host, wanted))
        };
        let (host, wanted) = signals.during(opening).await??;
        let desk = Desk::new(&host, printer);
        let mut work = Work::new(&desk, environment, wanted);
        let done = work.run(&mut signals).await;
        drop(work);
        host.set_rules(desk.rules());
        prompt::restore();
        let saved = match &self.sessions.save {
            Some(path) => host.save(path).await,
            None => Ok(()),
        };
        // What ended the shell is told before what could not be kept of it.
        match saved {
            Ok(()) => Ok(host.end(&mut signals, printer, done).await),
            Err(failure) => {
                host.end(&mut signals, printer, done).await;
                Err(failure)
            }
        }
    }

    /// Whoever wants a session to be kept wants to know at once that it cannot be.
    async fn check_that_it_can_be_saved(&self) -> Result<(), Failure> {
        let Some(path) = &self.sessions.save else { return Ok(()) };
        let lock = PrivateFile::new(path).lock().await;
        lock.map(drop).map_err(|error| {
            Failure::File(format!("the session cannot be saved in {}: {error}", path.display()))
        })
    }
}
