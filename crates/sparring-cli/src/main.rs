//! `spar`: the sparring partner of the Model Context Protocol on the command
//! line.
//!
//! Only this file reads the arguments and the environment. `args` parses them, and
//! `verbs` has one file or folder for each verb.

mod args;
mod backpressure_link;
mod command_error;
mod configured_servers;
mod connection;
mod environment;
mod exit;
mod frame_queue;
mod host;
mod output;
mod report;
mod request_lines;
mod runtime;
mod schema_check;
mod server_questions;
mod signals;
mod stderr_relay;
mod terminal_prompt;
mod trace;
mod traffic_observer;
mod verbs;

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use args::{Spar, Verb};
use command_error::CommandError;
use environment::Environment;
use exit::Exit;
use output::{Printer, TerminalInfo};
use report::Ci;
use signals::Signals;
use sparring_suite::RunContext;
use sparring_transport::Secrets;
use verbs::LastFailed;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let exit = match Spar::parse(&arguments) {
        Ok(spar) => {
            let secrets = Secrets::default();
            // A command of a target inherits them, and may print them.
            variables().iter().for_each(|(name, value)| secrets.add_setting(name, value));
            let printer = Printer::new(&spar.verb.output_flags(), terminal_info(), &secrets);
            let exit = runtime::run(&printer, |signals| run(spar.verb, &printer, signals));
            exit.unwrap_or_else(|error| print_fatal_error(&CommandError::System(error)))
        }
        Err(error) => {
            let mut flags = arguments.iter().take_while(|word| *word != "--");
            print_parse_error(&error, flags.any(|word| word == "--json"))
        }
    };
    terminal_prompt::restore_terminal_mode();
    exit.into()
}

async fn run(verb: Verb, printer: &Printer, signals: Signals) -> Result<Exit, CommandError> {
    match verb {
        Verb::Target(command) => command.run(printer, &environment(), signals).await,
        Verb::Test(test) => {
            #[cfg(target_os = "linux")]
            sparring_transport::adopt_orphans();
            let environment = Environment::from_variables(|name| std::env::var(name).ok(), false);
            let last_failed = LastFailed(environment.failed_tests_file.as_deref());
            test.run(printer, signals, &run_context(&environment, printer), last_failed).await
        }
        Verb::Check(check) => {
            #[cfg(target_os = "linux")]
            sparring_transport::adopt_orphans();
            check.run(printer, &environment(), signals).await
        }
        Verb::Mock(mock) => mock.run(printer, signals).await,
        Verb::Agent(agent) => agent.run(printer, signals, &environment()).await,
        Verb::Serve(serve) => serve.run(printer, signals, &environment()).await,
        Verb::Report(report) => {
            report.run(printer, signals, Ci::from_variables(&variables())).await
        }
        Verb::Shell(shell) => shell.run(printer, signals, &environment()).await,
        Verb::Config(config) => config.run(printer, signals, &environment()).await,
        Verb::Schema(schema) => schema.run(printer).await,
        Verb::Completions(completions) => completions.run(printer).await,
    }
}

/// Prints help, the version, or the error in the arguments.
fn print_parse_error(error: &clap::Error, json: bool) -> Exit {
    let printed = error.print().and_then(|()| io::stdout().flush());
    if !error.use_stderr() {
        return match printed {
            Ok(()) => Exit::Success,
            Err(error) => print_fatal_error(&CommandError::Output(error)),
        };
    }
    let error = CommandError::Usage(args::error_message(error));
    if json {
        // If stdout is closed, the exit code still reports the failure.
        let object = output::error_object(&error, None).to_string();
        let _ = writeln!(io::stdout(), "{}", output::clean_json(&object));
    }
    error.exit()
}

/// Prints an error that keeps the program from running at all.
fn print_fatal_error(error: &CommandError) -> Exit {
    if !error.is_broken_pipe() {
        // A closed stderr cannot be reported anywhere.
        let _ = writeln!(io::stderr(), "error: {}", output::line::clean(&error.to_string()));
    }
    error.exit()
}

/// Reads the environment for servers.
fn environment() -> Environment {
    let has_terminal = io::stderr().is_terminal();
    Environment {
        current_dir: std::env::current_dir().unwrap_or_else(|_| ".".into()),
        variables: variables().into_iter().collect(),
        can_ask: has_terminal && io::stdin().is_terminal(),
        ..Environment::from_variables(|name| std::env::var(name).ok(), has_terminal)
    }
}

/// Returns the context of a run of suites.
fn run_context(environment: &Environment, printer: &Printer) -> RunContext {
    RunContext {
        program: std::env::current_exe().unwrap_or_else(|_| "spar".into()),
        variables: variables(),
        proxies: environment.proxies.clone(),
        secrets: printer.secrets().clone(),
    }
}

/// The environment variables that are UTF-8.
fn variables() -> HashMap<String, String> {
    let text = |text: OsString| text.into_string().ok();
    std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
}

fn terminal_info() -> TerminalInfo {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let colors = !set("NO_COLOR") && !dumb;
    let (stdout, stderr) = (io::stdout(), io::stderr());
    let columns = |size: Option<(terminal_size::Width, terminal_size::Height)>| {
        size.map(|(width, _)| usize::from(width.0))
    };
    let (stdout_is_terminal, stderr_is_terminal) = (stdout.is_terminal(), stderr.is_terminal());
    TerminalInfo {
        stdout_is_terminal,
        stderr_is_terminal,
        stdout_colors: colors && stdout_is_terminal,
        stderr_colors: colors && stderr_is_terminal,
        can_erase_lines: !dumb && stderr_is_terminal,
        width: columns(terminal_size::terminal_size_of(&stdout)),
        stderr_width: columns(terminal_size::terminal_size_of(&stderr)),
    }
}
