//! `spar`: the sparring partner of the Model Context Protocol on the command
//! line.
//!
//! Here arguments and environment are read, and nowhere else; what a verb does
//! stands in `verbs`. A runtime is only made once there is something to wait for.

mod args;
mod connect;
mod exit;
mod failure;
mod nearest;
mod output;
mod schema;
mod signals;
mod trace;
mod verbs;
mod watch;

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use clap::Parser as _;

use args::Spar;
use exit::Exit;
use output::{Printer, Surroundings};

fn main() -> ExitCode {
    let spar = match Spar::try_parse() {
        Ok(spar) => spar,
        Err(error) => {
            // A reader that is gone does not change what was typed.
            let _ = error.print();
            let exit = if error.use_stderr() { Exit::Usage } else { Exit::Good };
            return exit.into();
        }
    };
    let printer = Printer::new(&spar.verb.shared().look, surroundings());
    connect::run(&spar.verb, &printer).into()
}

fn surroundings() -> Surroundings {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let painted = !set("NO_COLOR") && !dumb;
    let stdout = io::stdout();
    let size = terminal_size::terminal_size_of(&stdout);
    Surroundings {
        stdout: painted && stdout.is_terminal(),
        stderr: painted && io::stderr().is_terminal(),
        width: size.map(|(width, _)| usize::from(width.0)),
    }
}
