//! `spar`: the sparring partner of the Model Context Protocol on the command
//! line.
//!
//! Here arguments and environment are read, and nowhere else; what a verb does
//! stands in `verbs`. A runtime is only made once there is something to wait for.

mod alone;
mod args;
mod configured;
mod connect;
mod environment;
mod exit;
mod failure;
mod frames;
mod gate;
mod host;
mod journal;
mod output;
mod prompt;
mod relay;
mod reloading;
mod report;
mod schema;
mod signals;
mod trace;
mod verbs;
mod watch;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use args::Spar;
use environment::Environment;
use exit::Exit;
use failure::Failure;
use output::{Printer, Surroundings};
use report::Ci;
use sparring_suite::World;
use sparring_transport::Secrets;
use verbs::{LastFailed, Verb, Visit};

fn main() -> ExitCode {
    let typed: Vec<OsString> = std::env::args_os().collect();
    let exit = match Spar::read(&typed) {
        Ok(spar) => {
            let printer = Printer::new(&spar.verb.look(), surroundings());
            let ran = match spar.verb {
                Verb::Visit(Visit::Init(init)) if !init.has_target() => {
                    alone::run(&printer, |_| init.alone(&printer))
                }
                Verb::Visit(visit) => connect::run(visit, &printer, &environment()),
                Verb::Test(test) => {
                    let environment = Environment::read(|name| std::env::var(name).ok(), false);
                    let last_failed = LastFailed(environment.failed.as_deref());
                    let world = world(&environment);
                    alone::run(&printer, |signals| test.run(&printer, signals, &world, last_failed))
                }
                Verb::Mock(mock) => alone::run(&printer, |signals| mock.run(&printer, signals)),
                Verb::Agent(agent) => {
                    let environment = environment();
                    alone::run(&printer, |signals| agent.run(&printer, signals, &environment))
                }
                Verb::Serve(serve) => {
                    let environment = environment();
                    alone::run(&printer, |signals| serve.run(&printer, signals, &environment))
                }
                Verb::Report(report) => {
                    let ci = Ci::of(&variables());
                    alone::run(&printer, |signals| report.run(&printer, signals, ci))
                }
                Verb::Shell(shell) => {
                    let environment = environment();
                    alone::run(&printer, |signals| shell.run(&printer, signals, &environment))
                }
                Verb::Config(config) => {
                    let environment = environment();
                    alone::run(&printer, |signals| config.run(&printer, signals, &environment))
                }
                Verb::Schema(schema) => alone::run(&printer, |_| schema.run(&printer)),
                Verb::Completions(completions) => {
                    alone::run(&printer, |_| completions.run(&printer))
                }
            };
            ran.unwrap_or_else(|error| give_up(&Failure::System(error)))
        }
        Err(told) => {
            let json = typed.iter().take_while(|word| *word != "--").any(|word| word == "--json");
            tell(&told, json)
        }
    };
    prompt::restore();
    exit.into()
}

/// Tells what came of the arguments instead of a verb: help, the version, or
/// what is wrong with them.
fn tell(told: &clap::Error, json: bool) -> Exit {
    let printed = told.print().and_then(|()| io::stdout().flush());
    if !told.use_stderr() {
        return match printed {
            Ok(()) => Exit::Good,
            Err(error) => give_up(&Failure::Output(error)),
        };
    }
    let failure = Failure::Usage(args::message(told));
    if json {
        // The exit code says the same to whoever does not read.
        let _ = writeln!(io::stdout(), "{}", output::failure_object(&failure, None));
    }
    failure.exit()
}

/// Tells what keeps the program from doing anything at all.
fn give_up(failure: &Failure) -> Exit {
    if !failure.is_silent() {
        // There is nobody left to tell that stderr is closed.
        let _ = writeln!(io::stderr(), "error: {failure}");
    }
    failure.exit()
}

/// What servers find outside of the files that name them.
fn environment() -> Environment {
    let attended = io::stderr().is_terminal();
    Environment {
        here: std::env::current_dir().unwrap_or_else(|_| ".".into()),
        variables: variables().into_iter().collect(),
        answers: attended && io::stdin().is_terminal(),
        ..Environment::read(|name| std::env::var(name).ok(), attended)
    }
}

/// What suites find outside of their files.
fn world(environment: &Environment) -> World {
    World {
        program: std::env::current_exe().unwrap_or_else(|_| "spar".into()),
        variables: variables(),
        proxies: environment.proxies.clone(),
        secrets: Secrets::default(),
    }
}

/// The variables of the environment that are texts.
fn variables() -> HashMap<String, String> {
    let text = |text: OsString| text.into_string().ok();
    std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
}

fn surroundings() -> Surroundings {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let painted = !set("NO_COLOR") && !dumb;
    let stdout = io::stdout();
    let size = terminal_size::terminal_size_of(&stdout);
    let terminal = stdout.is_terminal();
    Surroundings {
        terminal,
        stdout: painted && terminal,
        stderr: painted && io::stderr().is_terminal(),
        attended: !dumb && io::stderr().is_terminal(),
        width: size.map(|(width, _)| usize::from(width.0)),
    }
}
